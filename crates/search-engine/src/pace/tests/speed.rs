//! Tests of the speed: growth, halving and limits.

use super::{
    super::bucket::{Bucket, Speed},
    *,
};

const MOST: Speed = Speed { burst: 60.0, per_second: 18.0 };

fn close(found: Speed, burst: f64, per_second: f64) {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    assert!(near(found.burst, burst) && near(found.per_second, per_second), "{found:?}");
}

#[test]
fn answers_let_the_speed_grow_from_half_to_its_most_and_no_further() {
    let now = Instant::now();
    let mut bucket = Bucket::new(MOST, now);
    close(bucket.speed(), 30.0, 9.0);
    for _ in 0..16 {
        bucket.accepted(now, now);
    }
    close(bucket.speed(), 45.0, 13.5);
    for _ in 0..100 {
        bucket.accepted(now, now);
    }
    close(bucket.speed(), 60.0, 18.0);
}

#[test]
fn a_burst_of_refusals_halves_the_speed_once() {
    let start = Instant::now();
    let mut bucket = Bucket::new(MOST, start);
    for after in 200..216 {
        assert_eq!(bucket.refused(start + ms(after % 16), start + ms(after)), after == 200);
    }
    // They are retried at once, and refused again.
    for after in 300..316 {
        assert!(!bucket.refused(start + ms(after), start + ms(after + 200)));
    }
    close(bucket.speed(), 15.0, 4.5);
    let later = start + ms(1_200);
    assert!(bucket.refused(later, later + ms(5_000)), "it started a second after the speed was halved");
    close(bucket.speed(), 7.5, 2.25);
}

/// The start of a request counts, and not the time that the search engine took to refuse it.
#[test]
fn a_refusal_that_comes_late_halves_nothing_if_its_request_started_early() {
    let start = Instant::now();
    let mut bucket = Bucket::new(MOST, start);
    assert!(bucket.refused(start, start));
    for (started, halves) in [(0, false), (999, false), (1_000, true)] {
        assert_eq!(bucket.refused(start + ms(started), start + ms(5_000)), halves, "{started}");
    }
    close(bucket.speed(), 7.5, 2.25);
}

#[test]
fn the_speed_is_never_halved_to_nothing() {
    let mut now = Instant::now();
    let mut bucket = Bucket::new(MOST, now);
    for _ in 0..50 {
        now += ms(1_000);
        bucket.refused(now, now);
    }
    close(bucket.speed(), 3.75, 1.125);
    let smallest = Speed { burst: 1.0, per_second: 1.0 };
    let mut bucket = Bucket::new(smallest, now);
    bucket.refused(now, now);
    bucket.pour(now);
    assert!(bucket.opens_at(now) > now);
    assert_eq!(bucket.opens_at(now + ms(60_000)), now + ms(60_000), "one request always has room in the end");
}

#[test]
fn the_speed_grows_again_a_minute_after_it_was_halved() {
    let start = Instant::now();
    let mut bucket = Bucket::new(MOST, start);
    bucket.refused(start, start);
    bucket.accepted(start + ms(59_999), start + ms(70_000));
    close(bucket.speed(), 15.0, 4.5);
    bucket.accepted(start + ms(60_000), start + ms(70_000));
    close(bucket.speed(), 15.9375, 4.78125);
}

#[test]
fn a_request_needs_room_of_its_site_and_its_account() {
    let mut sim = Sim::unbounded();
    let (other_site, other_account) = (way(1, "b", Lane::Own), way(2, "b", Lane::Own));
    assert_eq!(sim.burst(&own(), 20), 20);
    assert_eq!(
        sim.burst(&other_site, 20),
        FIRST_BURST - 20,
        "the account is out of room, though its other site is not"
    );
    assert_eq!(sim.burst(&other_account, 30), FIRST_BURST - 10, "what did not start took no room of the site");
    assert_eq!(sim.burst(&way(3, "c", Lane::Own), 30), FIRST_BURST, "strangers have nothing to do with it");
}

#[test]
fn a_refusal_slows_down_the_site_and_the_account() {
    let mut sim = Sim::new();
    let now = sim.now;
    assert!(sim.gates().refused(&own(), now, now));
    for halved in [own(), way(1, "b", Lane::Own), way(2, "a", Lane::Own)] {
        assert!((sim.burst_of(&halved) - 15.0).abs() < 1e-9);
    }
    assert!((sim.burst_of(&way(2, "b", Lane::Own)) - 30.0).abs() < 1e-9);
}

#[test]
fn readers_of_share_links_have_a_part_and_the_rest_is_the_owners() {
    let mut sim = Sim::new();
    let shared = way(1, "a", Lane::Shared);
    assert_eq!(sim.burst(&shared, 20), 4, "a quarter of the requests in flight");
    assert_eq!(sim.burst(&own(), 20), 12, "all that is left of them");

    let mut sim = Sim::unbounded();
    assert_eq!(sim.burst(&shared, 40), FIRST_BURST / 2, "half of the burst");
    assert_eq!(sim.burst(&way(1, "b", Lane::Shared), 40), 0, "the account's part is spent, too");
    assert_eq!(sim.burst(&own(), 40), FIRST_BURST / 2);
}

/// The question takes fourteen requests. One of them reads the freshness of the data, which is cached afterwards.
#[test]
fn a_second_question_a_second_later_waits_for_nothing() {
    let mut sim = Sim::new();
    for requests in [14, 13, 13, 13, 13] {
        let started = sim.now;
        assert_eq!(sim.burst(&own(), requests), requests);
        sim.pass(ms(200));
        sim.answer(&own(), started, requests);
        sim.pass(ms(1_000));
    }
}

#[test]
fn a_used_up_burst_comes_back_at_the_rate_for_known_and_for_new_sites() {
    let start = Instant::now();
    let known = own();
    let mut gates = Gates::new(Pace::default());
    assert_eq!(passing(&mut gates, &known, start, 100), FIRST_BURST);
    gates.use_up(start);
    for (way, what) in [(known, "known"), (way(2, "b", Lane::Own), "new"), (way(3, "c", Lane::Shared), "shared")] {
        assert_eq!(passing(&mut gates, &way, start, 1), 0, "{what}");
        // Half of 18 a second, and half of that for the readers of share links.
        let (later, fits) = (start + ms(1_000), if way.lane == Lane::Shared { 4 } else { 9 });
        assert_eq!(passing(&mut gates, &way, later, 100), fits, "{what}");
        let much_later = later + ms(60_000);
        assert_eq!(passing(&mut gates, &way, much_later, 1), 1, "{what}");
    }
    let newest = way(4, "d", Lane::Own);
    assert_eq!(passing(&mut gates, &newest, start + ms(60_000), 100), FIRST_BURST, "a minute later");
}

/// The number of requests, up to `most`, that pass at a time. They end at once.
fn passing(gates: &mut Gates, way: &Way, now: Instant, most: usize) -> usize {
    let mut passed = 0;
    while passed < most && gates.opens_at(way, now).is_some_and(|at| at <= now) {
        gates.enter(way, now);
        gates.leave(way, now);
        passed += 1;
    }
    passed
}

/// The account's gate opens after the requests of it that wait. The site is no reason to choose another account.
#[test]
fn an_account_opens_after_its_own_waiting_requests() {
    let mut sim = Sim::unbounded();
    let wait = |sim: &mut Sim, account| {
        let now = sim.now;
        sim.turns.account_opens_at(Uuid::from_u128(account), Lane::Own, now) - now
    };
    assert_eq!(wait(&mut sim, 1), Duration::ZERO);
    sim.burst(&own(), FIRST_BURST);
    let first = wait(&mut sim, 1);
    assert!(first > Duration::ZERO);
    sim.burst(&way(1, "a", Lane::Refresh), 100);
    assert_eq!(wait(&mut sim, 1), first, "nobody waits for slower lanes");
    sim.burst(&own(), 100);
    assert!(wait(&mut sim, 1) > first);
    assert_eq!(wait(&mut sim, 2), Duration::ZERO, "of the same site");
}
