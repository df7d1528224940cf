//! Attacks on a running service while honest people use it. The service runs in a separate process, so that its memory can
//! be measured. The load comes from this process, each attack from its own loopback address.
//!
//! The short form is part of every test run and checks statuses and memory. `make abuse` runs the long form, which waits for
//! deadlines and prints how long the honest people waited.

mod attacks;
mod connections;
mod target;
mod unread;

use std::time::Duration;

use self::{
    attacks::Attack,
    target::{Outcome, Target},
};

/// Maximum memory growth of an attacked service in the long form, in megabytes: sixteen lists of 4 MiB, each as rows and as JSON.
const MAX_GROWTH: u64 = 128;
/// Maximum memory growth in the short form, in which the allocator is still warming up.
const MAX_GROWTH_AT_START: u64 = 200;

/// The longest time that honest people wait under attacks that they must hardly notice, in the long form.
const MAX_WAIT: Duration = Duration::from_millis(250);

/// Size and length of a run.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// The duration of each attack.
    length: Duration,
    /// The duration of attacks that a deadline ends.
    until_deadline: Duration,
    /// The connections of attacks that open many.
    connections: usize,
}

const SHORT: Scale = Scale { length: Duration::from_secs(1), until_deadline: Duration::from_secs(1), connections: 60 };
const LONG: Scale = Scale { length: Duration::from_secs(4), until_deadline: Duration::from_secs(33), connections: 300 };

/// Runs attacks on a service with its own issuer and on one with an external issuer, concurrently.
async fn run(scale: Scale) -> Vec<Outcome> {
    let (own, external) = tokio::join!(Target::with_own_issuer(), Target::with_external_issuer());
    let (own, external) = tokio::join!(
        own.endure(
            scale,
            &[
                Attack::SlowReaders,
                Attack::CodedBodies,
                Attack::HeavyLists,
                Attack::ShareReaders,
                Attack::BadTokens,
                Attack::Assistants,
                Attack::UnreadStreams,
                Attack::PackedDocuments,
                Attack::BodiesOfNoBytes,
                Attack::SlowBodiesBehindAProxy,
                Attack::IdleConnections,
                Attack::UnreadPages,
                Attack::UnreadRows,
            ]
        ),
        external.endure(scale, &[Attack::HalfHeads, Attack::JunkTokens]),
    );
    own.into_iter().chain(external).collect()
}

fn assert_endured(outcomes: &[Outcome], max_growth: impl Fn(Attack) -> u64) {
    for outcome in outcomes {
        assert!(outcome.honest > 0, "{outcome:?}: no honest request was made");
        assert_eq!(outcome.not_served, 0, "{outcome:?}: an honest person was refused");
        assert!(outcome.peak < outcome.before + max_growth(outcome.attack), "{outcome:?}: memory grew");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attacks_refuse_nobody_else_and_take_little_memory() {
    assert_endured(&run(SHORT).await, |_| MAX_GROWTH_AT_START);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute of load; make abuse"]
async fn abuse_in_its_long_form() {
    let outcomes = run(LONG).await;
    println!("{}", Outcome::table(&outcomes));
    assert_endured(&outcomes, Attack::max_growth);
    for outcome in &outcomes {
        assert!(outcome.p99 < MAX_WAIT || !outcome.attack.is_hardly_noticed(), "{outcome:?}: honest people waited");
        // Caches have a budget of their own.
        let [cached_before, cached_after] = outcome.cached;
        let limit = outcome.before + cached_after.saturating_sub(cached_before) + MAX_GROWTH / 2;
        assert!(outcome.after < limit, "{outcome:?}: memory does not come back");
    }
}
