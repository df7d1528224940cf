//! Tests of the share of a person in the pace of an account.

use std::collections::{HashMap, VecDeque};

use proptest::prelude::*;

use super::{super::gates::RECENT, *};

/// The way of a person to the site `a` of the first account.
fn of(person: u128) -> Way {
    Way { person: Some(Uuid::from_u128(person)), ..own() }
}

/// A queue that has used up its burst for somebody else.
fn busy() -> Sim {
    let mut sim = Sim::unbounded();
    assert_eq!(sim.burst(&own(), FIRST_BURST), FIRST_BURST);
    sim
}

/// The number of starts among the next `count` that are of `numbers`.
fn started_of(sim: &mut Sim, numbers: &std::ops::Range<usize>, count: usize) -> usize {
    let mut started = Vec::new();
    while started.len() < count {
        started.extend(sim.start_next());
    }
    started.iter().filter(|number| numbers.contains(number)).count()
}

#[test]
fn a_person_takes_at_most_half_while_others_wait_and_all_when_they_do_not() {
    let alone = of(1);
    let others = [
        ("another person", of(2), true),
        ("a reader of a share link, who is slower", Way { lane: Lane::Shared, ..own() }, false),
        ("the background", Way { lane: Lane::Headlines, ..own() }, false),
        ("another person of another account", Way { account: Uuid::from_u128(2), ..of(2) }, false),
        ("the same person at another site", Way { site: way(1, "b", Lane::Own).site, ..of(1) }, false),
    ];
    for (who, other, shares) in others {
        let mut sim = busy();
        let many = sim.asked..sim.asked + 60;
        // Each is a question of its own, which was there before.
        for _ in 0..60 {
            sim.ask(&alone, Question::unique(), 1);
        }
        sim.pass(ms(6_000));
        for _ in 0..20 {
            sim.ask(&other, Question::unique(), 1);
        }
        // With half of the last sixteen, eight start after eight. The other asked twenty.
        let taken = [32, 12, 16].map(|count| started_of(&mut sim, &many, count));
        assert_eq!(taken, if shares { [16, 8, 16] } else { [32, 12, 16] }, "{who}");
    }
}

#[test]
fn a_person_alone_has_the_whole_pace() {
    let mut sim = Sim::unbounded();
    assert_eq!(sim.burst(&of(1), 100), FIRST_BURST);
}

#[test]
fn the_turn_of_a_person_is_not_behind_all_that_another_asked() {
    let mut sim = busy();
    for _ in 0..600 {
        sim.ask(&of(1), Question::unique(), 1);
    }
    sim.pass(ms(6_000));
    let now = sim.now;
    let turns = [of(2), own(), of(1)].map(|way| sim.turns.turn(&way, Question::unique(), now).0 - now);
    assert!(turns[0] < ms(3_000) && turns[1] < ms(3_000), "{turns:?}");
    assert!(turns[2] > ms(25_000), "{turns:?}");
}

/// A number of questions: their person, lane, site, and when they come after those before.
type Asked = (Option<u128>, Lane, &'static str, u64, usize);

fn asked() -> impl Strategy<Value = Asked> {
    let person = prop_oneof![5 => Just(Some(1)), 2 => Just(Some(2)), 1 => Just(Some(3)), 1 => Just(None)];
    let lane = prop_oneof![5 => Just(Lane::Own), 1 => Just(Lane::Headlines)];
    (person, lane, prop::sample::select(vec!["a", "b"]), 0..2_000_u64, 1..20_usize)
}

proptest! {
    #[test]
    fn whoever_has_half_starts_only_while_no_other_could(questions in prop::collection::vec(asked(), 1..60)) {
        let mut sim = Sim::unbounded();
        let (mut waiting, mut recent) = (HashMap::new(), VecDeque::new());
        let mut to_come = questions.into_iter();
        loop {
            if let Some((person, lane, site, after, count)) = to_come.next() {
                sim.pass(ms(after));
                let way = Way { person: person.map(Uuid::from_u128), ..way(1, site, lane) };
                waiting.extend((sim.asked..sim.asked + count).map(|number| (number, way.clone())));
                for _ in 0..count {
                    sim.ask(&way, Question::unique(), 1);
                }
            } else if let Some(opening) = sim.turns.next_opening(sim.now) {
                sim.now = opening;
            } else {
                break;
            }
            for number in sim.start() {
                let way = waiting.remove(&number).unwrap();
                let own = recent.iter().filter(|person| way.person.is_some() && **person == way.person).count();
                // At another site there may be no room. The account has room for all, because it has room for this one.
                let mut others = waiting.values().filter(|other| {
                    other.person != way.person && other.lane <= way.lane && other.site == way.site
                });
                prop_assert!(own <= RECENT / 2 || others.next().is_none(), "{own} of the last {RECENT}");
                recent.push_back(way.person);
                recent.drain(..recent.len().saturating_sub(RECENT));
            }
            let (now, opening) = (sim.now, sim.turns.next_opening(sim.now));
            prop_assert!(opening.is_none_or(|opening| opening > now), "nobody waits before an open gate");
        }
        prop_assert!(waiting.is_empty(), "all start in the end");
    }
}
