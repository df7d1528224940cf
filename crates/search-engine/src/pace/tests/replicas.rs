//! Tests of replicas that share their gates through Redis.
//!
//! `SIGHTLINE_TEST_REDIS_URL` names a server. Without it these tests pass without a look.

use std::sync::atomic::AtomicUsize;

use common::{clock::Clock, random::Random, secrets::Secrets};
use shared::{Addresses, Shared};

use super::*;

/// The number of replicas.
const REPLICAS: usize = 3;

/// Replicas of a deployment that no other test has, or `None` without a server.
async fn replicas(pace: Pace) -> Option<Vec<(Shared, Pacer)>> {
    #[expect(clippy::disallowed_methods, reason = "tests have no settings")]
    let url = std::env::var("SIGHTLINE_TEST_REDIS_URL").ok().filter(|url| !url.is_empty())?;
    let random = Random::system();
    let secrets = Secrets::new(random.bytes::<32>(), random);
    let addresses = Addresses { counters: url.clone(), cache: url };
    let mut replicas = Vec::new();
    for _ in 0..REPLICAS {
        let shared = Shared::open(&addresses, secrets.clone(), Clock::system(), &Random::system()).await.unwrap();
        let pacer = Pacer::new(pace, Some(shared.gates()));
        replicas.push((shared, pacer));
    }
    Some(replicas)
}

/// Callers that ask one question after the other, as fast as they are answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures for five minutes"]
async fn callers_at_saturation_are_all_served_before_their_deadline() {
    const CALLERS: usize = 36;
    const QUESTIONS: usize = 10_000;
    const PATIENCE: Duration = Duration::from_secs(25);
    let Some(replicas) = replicas(Pace::default()).await else { return };
    let (asked, begun) = (Arc::new(AtomicUsize::new(0)), Instant::now());
    let callers = (0..CALLERS).map(|caller| {
        let (pacer, asked) = (replicas[caller / 6 % REPLICAS].1.clone(), asked.clone());
        let (account, site) = (Uuid::from_u128((caller % 2) as u128), SiteUrl(format!("sc-domain:{}.test", caller % 6)));
        tokio::spawn(async move {
            let mut waits = Vec::new();
            while asked.fetch_add(1, Ordering::Relaxed) < QUESTIONS {
                let since = Instant::now();
                let asker = Asker::new(Lane::Own);
                let turn = tokio::time::timeout_at(since + PATIENCE, pacer.start(account, &site, asker, since + PATIENCE));
                let turn = turn.await;
                waits.push((since.elapsed(), matches!(turn, Ok(Ok(_)))));
                sleep_until(Instant::now() + ms(100)).await;
                if let Ok(Ok(permit)) = turn {
                    permit.accepted();
                }
            }
            waits
        })
    });
    let callers: Vec<_> = callers.collect();
    let mut waits = Vec::new();
    for caller in callers {
        waits.extend(caller.await.unwrap());
    }
    waits.sort_unstable();
    let late = waits.iter().filter(|(_, served)| !served).count();
    let calls: u64 = replicas.iter().map(|(shared, _)| shared.uses()[0].answered.load(Ordering::Relaxed)).sum();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize].0.as_secs_f64();
    println!(
        "{} questions in {:.0} s, {late} without a turn, wait p50 {:.2} p99 {:.2} max {:.2} s, {:.1} calls each",
        waits.len(),
        begun.elapsed().as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0),
        calls as f64 / waits.len() as f64,
    );
    assert_eq!(late, 0, "questions without a turn");
}
