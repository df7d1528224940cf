//! Tests of leaving the queue, waking up, and dropping unused gates.

use futures_util::poll;

use super::*;

#[test]
fn leaving_the_queue_lets_the_next_request_pass() {
    let mut sim = Sim::new();
    assert_eq!(sim.burst(&own(), 16), 16);
    let gone = sim.ask(&own(), Question::unique(), 1)[0];
    let next = sim.asked;
    sim.ask(&own(), Question::unique(), 2);
    assert!(sim.turns.give_up(&own(), gone));
    assert!(!sim.turns.give_up(&own(), gone), "it is not there any more");
    let now = sim.now;
    sim.answer(&own(), now, 1);
    assert_eq!(sim.start(), [next]);
}

#[test]
fn gates_that_nobody_used_for_a_quarter_of_an_hour_are_forgotten() {
    let mut sim = Sim::new();
    let visit = |sim: &mut Sim, number: u128| {
        let way = way(number, &format!("s{number}"), Lane::Own);
        let started = sim.now;
        assert_eq!(sim.burst(&way, 1), 1);
        sim.answer(&way, started, 1);
    };
    for number in 0..5_000 {
        visit(&mut sim, number);
        sim.pass(ms(1_000));
        // Fifteen minutes plus the minute between two sweeps, with a new site and account each second.
        assert!(sim.gates().len() <= 2 * 16 * 60 + 2, "{}", sim.gates().len());
    }
    sim.pass(ms(15 * 60_000));
    visit(&mut sim, 0);
    assert_eq!(sim.gates().len(), 2);
}

#[test]
fn gates_in_use_are_not_forgotten() {
    let mut sim = Sim::new();
    assert_eq!(sim.burst(&own(), 16), 16);
    for _ in 0..40 {
        sim.pass(ms(60_000));
        assert_eq!(sim.burst(&way(2, "b", Lane::Own), 1), 1);
        let (other, now) = (way(2, "b", Lane::Own), sim.now);
        sim.answer(&other, now, 1);
    }
    assert_eq!(sim.burst(&own(), 1), 0, "sixteen are still in flight");
}

fn pacer(pace: Pace) -> impl Fn(Asker) -> std::pin::Pin<Box<dyn Future<Output = Permit> + Send>> {
    let pacer = Pacer::new(pace, None);
    move |asker| {
        let pacer = pacer.clone();
        let deadline = Instant::now() + Duration::from_hours(1);
        let site = SiteUrl("sc-domain:a.test".to_owned());
        Box::pin(async move { pacer.start(Uuid::nil(), &site, asker, deadline).await.unwrap() })
    }
}

#[tokio::test]
async fn dropped_and_abandoned_permits_make_room() {
    let start = pacer(Pace { max_in_flight: 1, bucket: 1_000, refill_per_second: 1_000, ..Pace::default() });
    let asker = Asker::new(Lane::Own);
    let first = start(asker).await;
    let (mut given_up, mut dropped_late) = (start(asker), start(asker));
    let (mut last, mut never) = (start(asker), start(asker));
    for waiting in [&mut given_up, &mut dropped_late, &mut last, &mut never] {
        assert!(poll!(waiting).is_pending());
    }
    drop(given_up);
    drop(first);
    // It has started, but nobody received the notification.
    drop(dropped_late);
    drop(last.await);
    drop(never);
    drop(start(asker).await);
}

#[tokio::test]
async fn a_request_that_waits_for_time_is_woken() {
    let start = pacer(Pace { max_in_flight: 1_000, bucket: 1, refill_per_second: 1_000, ..Pace::default() });
    let requests = (0..50).map(|_| start(Asker::new(Lane::Own)));
    assert_eq!(futures_util::future::join_all(requests).await.len(), 50);
}

#[tokio::test]
async fn people_wait_while_one_of_their_requests_has_no_turn() {
    let pacer = Pacer::new(Pace { max_in_flight: 1, ..Pace::default() }, None);
    let (site, deadline) = (SiteUrl("sc-domain:a.test".to_owned()), Instant::now() + Duration::from_hours(1));
    let start = |lane| pacer.start(Uuid::nil(), &site, Asker::new(lane), deadline);
    let first = start(Lane::Own).await.unwrap();
    assert!(!pacer.people_wait());
    let mut refresh = Box::pin(start(Lane::Refresh));
    assert!(poll!(&mut refresh).is_pending() && !pacer.people_wait());
    let mut shared = Box::pin(start(Lane::Shared));
    assert!(poll!(&mut shared).is_pending() && pacer.people_wait());
    drop(first);
    assert!(shared.await.is_ok() && !pacer.people_wait());
}
