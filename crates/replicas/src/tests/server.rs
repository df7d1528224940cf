//! Replicas on one Redis.

use std::{sync::atomic::Ordering, time::Duration};

use chrono::TimeDelta;
use common::clock::Clock;

use super::{replica, secrets, url};
use crate::{Entry, Found, Gate, Most, Urgency, Wanted};

const WANTED: Wanted<'static> =
    Wanted { scope: "account:1", request: "clicks", urgency: Urgency::Soon, patience: Duration::ZERO };

#[tokio::test]
async fn one_replica_reads_for_all() {
    let Some(url) = url() else { return };
    let secrets = secrets();
    let (one, other) = (replica(&url, &secrets).await, replica(&url, &secrets).await);
    let Found::Mine(claim) = one.readings().find(&WANTED).await else { panic!("nobody had it") };
    let readings = other.readings();
    let waiting = tokio::spawn(async move { readings.find(&WANTED).await });
    tokio::task::yield_now().await;
    claim.put(b"a reading".to_vec(), Clock::system().now() + TimeDelta::hours(1));
    let Found::Reading(reading) = waiting.await.unwrap() else { panic!("it does not wait for the other") };
    assert_eq!(reading, b"a reading");
    let Found::Reading(_) = one.readings().find(&WANTED).await else { panic!("it was put") };
    one.readings().forget("account").await;
    let Found::Mine(_) = other.readings().find(&WANTED).await else { panic!("it was forgotten") };
}

#[tokio::test]
async fn a_claim_that_is_dropped_or_failed_is_taken_by_another() {
    let Some(url) = url() else { return };
    let secrets = secrets();
    let (one, other) = (replica(&url, &secrets).await, replica(&url, &secrets).await);
    let Found::Mine(claim) = one.readings().find(&WANTED).await else { panic!("nobody had it") };
    drop(claim);
    let Found::Mine(claim) = other.readings().find(&WANTED).await else { panic!("it was given up") };
    claim.fail();
    // Whoever comes before the mark is there waits for it.
    let Found::Failed = one.readings().find(&WANTED).await else { panic!("it failed") };
}

#[tokio::test]
async fn a_dead_owner_loses_its_claim() {
    let Some(url) = url() else { return };
    let secrets = secrets();
    let (one, other) = (replica(&url, &secrets).await, replica(&url, &secrets).await);
    let Found::Mine(claim) = one.readings().find(&WANTED).await else { panic!("nobody had it") };
    // It ends without a word: no sign of life comes from it any more, and its claim stays.
    std::mem::forget(claim);
    one.end().await;
    drop(one);
    let readings = other.readings();
    let Found::Mine(_) = readings.find(&WANTED).await else { panic!("its owner is dead") };
    assert_eq!(readings.uses().taken_over.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn replicas_count_a_caller_together() {
    let Some(url) = url() else { return };
    let secrets = secrets();
    let replicas = [replica(&url, &secrets).await, replica(&url, &secrets).await];
    let (mut allowed, mut refused) = (0, 0);
    for number in 0..20 {
        let counted = replicas[number % 2].limits().count("user/ann", Duration::from_mins(1), 7).await.unwrap();
        if counted.wait.is_none() { allowed += 1 } else { refused += 1 }
    }
    assert_eq!((allowed, refused), (7, 13));
}

#[tokio::test]
async fn a_request_passes_all_gates_or_none() {
    let Some(url) = url() else { return };
    let shared = replica(&url, &secrets()).await;
    let gate = |of: &str, burst, in_flight| Gate {
        of: of.to_owned(),
        buckets: vec![("all", Most { burst, per_second: 0.001 })],
        begins_with: 1.0,
        in_flight: vec![("flight", in_flight)],
        person: None,
    };
    let gates = shared.gates();
    let enter = async |account: f64, site: u32| {
        let mut waiting = gates.line_up(vec![gate("account", account, 100), gate("site", 100.0, site)]);
        waiting.enter(0).await.unwrap()
    };
    let Entry::Passed(first, _) = enter(2.0, 1).await else { panic!("it fits") };
    let Entry::Full(_) = enter(2.0, 1).await else { panic!("the site is full") };
    drop(first);
    // What the refused request took of the account comes back in the background.
    let mut passed = None;
    for _ in 0..1_000 {
        match enter(2.0, 1).await {
            Entry::Passed(second, _) => {
                passed = Some(second);
                break;
            }
            Entry::Full(_) | Entry::Wait(..) => tokio::task::yield_now().await,
        }
    }
    let passed = passed.unwrap();
    let Entry::Wait(wait, _) = enter(2.0, 2).await else { panic!("the account has had its two") };
    assert!(wait > Duration::from_mins(1), "{wait:?}");
    assert!(!passed.note(true).await, "a speed that begins whole never changes");
}

#[tokio::test]
async fn news_reach_replicas_that_live_and_those_that_start_later() {
    let Some(url) = url() else { return };
    let secrets = secrets();
    let (one, other) = (replica(&url, &secrets).await, replica(&url, &secrets).await);
    let listen = |shared: &crate::Shared| {
        let (told, heard) = tokio::sync::mpsc::unbounded_channel();
        let notices = shared.notices("weather");
        notices.subscribe(move |event| told.send(event.to_vec()).is_ok());
        (notices, heard)
    };
    let (notices, mut heard) = listen(&other);
    one.notices("traffic").publish(b"a jam");
    one.notices("weather").publish(b"rain");
    assert_eq!(heard.recv().await.unwrap(), b"rain");
    notices.publish(b"sun");
    assert_eq!(heard.recv().await.unwrap(), b"sun", "it hears its own");
    let later = replica(&url, &secrets).await;
    let (_news, mut heard) = listen(&later);
    assert_eq!(heard.recv().await.unwrap(), b"rain");
    assert_eq!(heard.recv().await.unwrap(), b"sun");
    let (_news, mut heard) = listen(&replica(&url, &super::secrets()).await);
    one.notices("weather").publish(b"snow");
    let nothing = tokio::time::timeout(Duration::from_secs(3), heard.recv()).await;
    assert!(nothing.is_err(), "another deployment hears nothing");
}

#[tokio::test]
async fn without_redis_nothing_waits_and_all_is_local() {
    // Nothing listens at this port: it is the discard service's.
    let shared = replica("redis://127.0.0.1:9", &secrets()).await;
    let Found::Alone = shared.readings().find(&WANTED).await else { panic!("there is no Redis") };
    assert!(shared.limits().count("a", Duration::from_secs(1), 1).await.is_none());
    assert!(shared.gates().line_up(Vec::new()).enter(0).await.is_some(), "nothing to pass");
    for _ in 0..20 {
        assert!(shared.limits().count("a", Duration::from_secs(1), 1).await.is_none());
    }
    let [counters, _] = shared.uses();
    assert!(!counters.is_up() && counters.skipped.load(Ordering::Relaxed) > 5);
    assert_eq!(shared.replicas(), 1);
}
