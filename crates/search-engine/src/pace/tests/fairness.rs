//! Tests of the order among questions.

use super::*;

/// A queue that has used up its burst, with a large question waiting.
fn busy() -> Sim {
    let mut sim = Sim::unbounded();
    assert_eq!(sim.burst(&own(), FIRST_BURST), FIRST_BURST);
    sim
}

#[test]
fn a_small_question_overtakes_a_large_one_that_still_waits() {
    let mut sim = busy();
    let large = sim.asked..sim.asked + 15;
    sim.ask(&own(), Question::unique(), 15);
    let mut order = sim.start_next();
    sim.pass(ms(1));
    let small = sim.asked..sim.asked + 3;
    sim.ask(&own(), Question::unique(), 3);
    while order.len() < 18 {
        order.extend(sim.start_next());
    }
    assert_eq!(order[1..4], small.collect::<Vec<_>>());
    assert_eq!([&order[..1], &order[4..]].concat(), large.collect::<Vec<_>>(), "in the order they were made in");
}

#[test]
fn a_question_on_another_site_of_the_account_overtakes_as_well() {
    let mut sim = busy();
    sim.ask(&own(), Question::unique(), 15);
    let small = sim.asked;
    sim.ask(&way(1, "b", Lane::Own), Question::unique(), 1);
    assert_eq!(sim.start_next(), [small]);
}

#[test]
fn a_large_question_is_not_passed_over_for_ever() {
    let mut sim = busy();
    let (arrived, large) = (sim.now, sim.asked..sim.asked + 100);
    sim.ask(&own(), Question::unique(), 100);
    // Five seconds of yielding, five more for questions that arrived meanwhile, and a hundred requests at nine a second.
    let end = arrived + ms(22_000);
    let mut left = 100;
    while left > 0 {
        // There are always more small questions than fit.
        sim.ask(&own(), Question::unique(), 2);
        left -= sim.start_next().iter().filter(|number| large.contains(number)).count();
        assert!(sim.now < end, "{left} of it still wait");
    }
}

#[test]
fn questions_of_a_size_start_in_the_order_they_came_in() {
    let mut sim = busy();
    let first = sim.asked;
    for _ in 0..5 {
        sim.ask(&own(), Question::unique(), 2);
        sim.pass(ms(1));
    }
    let mut order = Vec::new();
    while order.len() < 10 {
        order.extend(sim.start_next());
    }
    assert_eq!(order, (first..first + 10).collect::<Vec<_>>());
}

#[test]
fn the_requests_in_flight_are_shared_in_the_same_way() {
    let mut sim = Sim::new();
    assert_eq!(sim.burst(&own(), 20), 16);
    let small = sim.asked;
    sim.ask(&own(), Question::unique(), 1);
    assert_eq!(sim.turns.next_opening(sim.now), None, "one that is under way must end first");
    let now = sim.now;
    sim.answer(&own(), now, 1);
    assert_eq!(sim.start(), [small]);
}

#[test]
fn questions_overtake_headlines_and_headlines_overtake_what_is_read_again() {
    let mut sim = busy();
    let first = sim.asked;
    for lane in [Lane::Refresh, Lane::Headlines, Lane::Own] {
        sim.ask(&way(1, "a", lane), Question::unique(), 1);
    }
    let order: Vec<usize> = (0..3).flat_map(|_| sim.start_next()).collect();
    assert_eq!(order, [first + 2, first + 1, first]);
}

#[test]
fn a_headline_is_not_passed_over_for_ever() {
    let mut sim = busy();
    let (arrived, headline) = (sim.now, sim.asked);
    sim.ask(&way(1, "b", Lane::Headlines), Question::unique(), 1);
    // Thirty seconds of yielding, and thirty more for questions that arrived meanwhile, twice as many as fit.
    loop {
        sim.ask(&own(), Question::unique(), 2);
        if sim.start_next().contains(&headline) {
            break;
        }
        assert!(sim.now < arrived + ms(65_000), "it still waits");
    }
}

#[test]
fn all_requests_together_stay_within_the_quota() {
    let quota = Quota { per_minute: 60, per_day: 200 };
    let mut sim = Sim { turns: Turns::new(Pace { quota, ..Pace::default() }), ..Sim::new() };
    let begin = sim.now;
    for account in 0..400 {
        sim.ask(&way(account, &account.to_string(), Lane::Own), Question::unique(), 1);
    }
    let mut starts = vec![begin; sim.start().len()];
    while starts.len() < 400 {
        let started = sim.start_next().len();
        starts.extend(std::iter::repeat_n(sim.now, started));
    }
    let most = |period: Duration| {
        starts.iter().map(|at| starts.iter().filter(|other| **other >= *at && **other < *at + period).count()).max()
    };
    assert!(most(Duration::from_mins(1)) <= Some(60) && most(Duration::from_hours(24)) <= Some(200));
    assert!(sim.now > begin + Duration::from_hours(24), "the rest waits for the next day");
}

#[test]
fn a_turn_is_foretold_from_those_who_wait_before() {
    let mut sim = busy();
    let (begin, of_site) = (sim.now, way(1, "b", Lane::Own));
    assert_eq!(sim.turns.turn(&own(), Question::unique(), begin), (begin, begin));
    // The burst of 60 is used up by the thirty before and thirty of these; then 18 pass in a second.
    sim.ask(&own(), Question::unique(), 30 + 18 * 10);
    sim.now += ms(5_000);
    let begin = sim.now;
    let (turn, _) = sim.turns.turn(&own(), Question::unique(), begin);
    assert!(turn > begin + ms(7_000) && turn <= begin + ms(10_000), "{:?}", turn - begin);
    assert_eq!(sim.turns.turn(&of_site, Question::unique(), begin).0, turn, "another site of the account");
    assert_eq!(sim.turns.turn(&way(2, "c", Lane::Own), Question::unique(), begin).0, begin, "another account");
    sim.ask(&way(1, "d", Lane::Headlines), Question::unique(), 100);
    assert_eq!(sim.turns.turn(&own(), Question::unique(), begin).0, turn, "the background yields");
}

#[test]
fn nobody_who_is_let_in_waits_beyond_the_deadline() {
    const TIMEOUT: Duration = Duration::from_secs(25);
    let mut sim = Sim::unbounded();
    // At full speed.
    for _ in 0..40 {
        sim.burst(&own(), 1);
        let now = sim.now;
        sim.answer(&own(), now, 1);
        sim.pass(ms(200));
    }
    let (mut waiting, mut started, mut refused) = (std::collections::BTreeMap::new(), 0, 0);
    for _ in 0..500 {
        // Twice as many as fit, forty at a time.
        for _ in 0..40 {
            let question = Question::unique();
            let now = sim.now;
            if sim.turns.turn(&own(), question, now).0 > now + TIMEOUT {
                refused += 1;
                continue;
            }
            waiting.insert(sim.asked, now + TIMEOUT);
            sim.ask(&own(), question, 1);
        }
        sim.pass(ms(1_000));
        loop {
            let begun = sim.start();
            if begun.is_empty() {
                break;
            }
            started += begun.len();
            for number in begun {
                let deadline = waiting.remove(&number).unwrap();
                assert!(sim.now <= deadline + ms(1_000), "it started a step after its deadline at the latest");
            }
        }
    }
    assert!(waiting.values().all(|deadline| *deadline + ms(1_000) >= sim.now), "nobody waits in vain");
    assert!(started > 8_000 && refused > 8_000, "{started} {refused}");
}
