//! Tests of replicas that share their gates through Redis.
//!
//! `SIGHTLINE_TEST_REDIS_URL` names a server. Without it these tests pass without a look.

use std::sync::atomic::AtomicUsize;

use ::replicas::{Addresses, Shared};
use common::{clock::Clock, random::Random, secrets::Secrets};
use tokio::time::timeout_at;

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

/// The longest wait of a question for its turn.
const TIMEOUT: Duration = Duration::from_secs(25);

/// The time for an answer.
const ANSWER: Duration = ms(100);

/// A caller that asks its next question as soon as the one before is answered.
struct Caller {
    replica: usize,
    account: u128,
    site: usize,
    asker: fn() -> Asker,
    answer: Duration,
}

/// Asks this many questions. Returns the waits of each caller, and whether each question got a turn.
async fn ask(replicas: &[(Shared, Pacer)], callers: Vec<Caller>, questions: usize) -> Vec<Vec<(Duration, bool)>> {
    let asked = Arc::new(AtomicUsize::new(0));
    let callers = callers.into_iter().map(|Caller { replica, account, site, asker, answer }| {
        let (pacer, asked) = (replicas[replica].1.clone(), asked.clone());
        let (account, site) = (Uuid::from_u128(account), SiteUrl(format!("sc-domain:{site}.test")));
        tokio::spawn(async move {
            let mut waits = Vec::new();
            while asked.fetch_add(1, Ordering::Relaxed) < questions {
                let since = Instant::now();
                let turn = pacer.start(account, &site, asker(), since + TIMEOUT);
                let turn = timeout_at(since + TIMEOUT, turn).await;
                waits.push((since.elapsed(), matches!(turn, Ok(Ok(_)))));
                sleep_until(Instant::now() + answer).await;
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
        waits.push(caller.await.unwrap());
    }
    waits
}

/// Prints the waits, and returns the number of questions without a turn.
fn report(what: &str, mut waits: Vec<(Duration, bool)>) -> usize {
    waits.sort_unstable();
    let late = waits.iter().filter(|(_, has_turn)| !has_turn).count();
    let [p50, p99, max] =
        [waits.len() / 2, waits.len() * 99 / 100, waits.len() - 1].map(|at| waits[at].0.as_secs_f64());
    println!("{what}: {} questions, {late} without a turn, p50 {p50:.2} p99 {p99:.2} max {max:.2} s", waits.len());
    late
}

fn calls(replicas: &[(Shared, Pacer)]) -> u64 {
    replicas.iter().map(|(shared, _)| shared.uses()[0].answered.load(Ordering::Relaxed)).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures for five minutes"]
async fn callers_at_saturation_are_all_served_before_their_deadline() {
    let Some(replicas) = replicas(Pace::default()).await else { return };
    // Two accounts with three sites each.
    let callers = (0..36).map(|number| Caller {
        replica: number / 6 % REPLICAS,
        account: number as u128 % 2,
        site: number % 6,
        asker: || Asker::new(Lane::Own),
        answer: ANSWER,
    });
    let waits = ask(&replicas, callers.collect(), 10_000).await.concat();
    println!("{:.1} calls of Redis each", calls(&replicas) as f64 / waits.len() as f64);
    assert_eq!(report("all", waits), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures for a minute"]
async fn one_of_two_people_with_most_callers_has_half_of_the_pace() {
    let Some(replicas) = replicas(Pace::default()).await else { return };
    // Ann asks on all replicas, Ben on one.
    let ann = (0..30).map(|number| Caller {
        replica: number % REPLICAS,
        account: 1,
        site: number % 4,
        asker: || Asker::person(Uuid::from_u128(1)),
        answer: ANSWER,
    });
    let ben = (0..10).map(|number| Caller {
        replica: 0,
        account: 1,
        site: number % 4,
        asker: || Asker::person(Uuid::from_u128(2)),
        answer: ANSWER,
    });
    let mut waits = ask(&replicas, ann.chain(ben).collect(), 1_500).await;
    let ben = waits.split_off(30).concat();
    let (ann, share) = (waits.concat(), ben.len());
    assert_eq!(report("ann", ann) + report("ben", ben), 0);
    assert!(share > 600, "{share} of 1500");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures for a minute"]
async fn callers_of_a_slow_site_and_of_others_of_its_account_are_all_served() {
    let Some(replicas) = replicas(Pace::default()).await else { return };
    // The sixteen places of the slow site let eight a second pass, and the others want more than the account has left.
    let callers = (0..48).map(|number| Caller {
        replica: number % REPLICAS,
        account: 1,
        site: if number < 30 { 0 } else { number % 4 + 1 },
        asker: || Asker::new(Lane::Own),
        answer: if number < 30 { 20 * ANSWER } else { ANSWER },
    });
    let mut waits = ask(&replicas, callers.collect(), 1_500).await;
    let others = waits.split_off(30).concat();
    println!("{:.1} calls of Redis each", calls(&replicas) as f64 / 1_500.0);
    assert_eq!(report("slow site", waits.concat()) + report("others", others), 0);
}

#[tokio::test]
async fn who_waits_for_a_site_or_for_the_part_of_readers_holds_up_nobody_else() {
    let pace = Pace { max_in_flight: 4, bucket: 1_000, refill_per_second: 1_000, ..Pace::default() };
    let Some(replicas) = replicas(pace).await else { return };
    let start = |replica: usize, site: &'static str, lane| {
        let (pacer, site) = (replicas[replica].1.clone(), SiteUrl(format!("sc-domain:{site}.test")));
        let deadline = Instant::now() + Duration::from_hours(1);
        tokio::spawn(async move { pacer.start(Uuid::nil(), &site, Asker::new(lane), deadline).await.unwrap() })
    };
    let in_flight = (0..4).map(|_| start(0, "busy", Lane::Own)).chain([start(0, "free", Lane::Shared)]);
    let in_flight = futures_util::future::try_join_all(in_flight).await.unwrap();
    let waiting = [start(1, "busy", Lane::Own), start(1, "free", Lane::Shared)];
    let before = calls(&replicas);
    while calls(&replicas) < before + 20 {
        tokio::task::yield_now().await;
    }
    drop(start(2, "free", Lane::Own).await.unwrap());
    assert!(waiting.iter().all(|waiting| !waiting.is_finished()), "there is no room for them");
    drop(in_flight);
    for waiting in waiting {
        drop(waiting.await.unwrap());
    }
}
