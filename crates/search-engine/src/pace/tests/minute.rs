//! Tests, under random load, that the limit of every minute holds and that no request is lost.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};

use proptest::prelude::*;

use super::*;

/// The limit of any minute: a burst of 60, and 18 a second.
const MOST_IN_A_MINUTE: usize = 60 + 60 * 18;

/// The search engine's reaction to the requests of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Said {
    Answer,
    Refusal,
    Trouble,
}

/// A question: its arrival after the previous one, its number of requests, their outcome and duration. The caller gives up
/// after `patience`.
#[derive(Debug, Clone)]
struct Asked {
    gap: Duration,
    way: Way,
    requests: usize,
    latency: Duration,
    said: Said,
    patience: Duration,
}

fn asked() -> impl Strategy<Value = Asked> {
    let lane = prop_oneof![4 => Just(Lane::Own), 1 => Just(Lane::Shared)];
    let ways = (0..2_u128, prop::sample::select(vec!["a", "b"]), lane);
    let said = prop_oneof![30 => Just(Said::Answer), 1 => Just(Said::Refusal), 1 => Just(Said::Trouble)];
    let patience = prop_oneof![9 => Just(1_000_000_u64), 1 => 0..5_000_u64];
    (0..1_500_u64, ways, 1..40_usize, 1..3_000_u64, said, patience).prop_map(
        |(gap, (account, site, lane), requests, latency, said, patience)| Asked {
            gap: ms(gap),
            way: way(account, site, lane),
            requests,
            latency: ms(latency),
            said,
            patience: ms(patience),
        },
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives(usize),
    Ends(usize, Instant),
    Leaves(usize, Ticket),
}

/// The record of a run: the start times of requests, by site and account.
#[derive(Default)]
struct Log {
    starts: BTreeMap<String, Vec<Instant>>,
    in_flight: BTreeMap<String, usize>,
    given_up: usize,
}

/// Questions and pending events.
struct World<'q> {
    questions: &'q [Asked],
    sim: Sim,
    events: BinaryHeap<Reverse<(Instant, Event)>>,
    /// The question of each request.
    owners: Vec<usize>,
    log: Log,
}

impl<'q> World<'q> {
    fn new(questions: &'q [Asked]) -> Self {
        let sim = Sim::new();
        let arrivals = questions.iter().enumerate().scan(sim.now, |at, (index, asked)| {
            *at += asked.gap;
            Some(Reverse((*at, Event::Arrives(index))))
        });
        Self { questions, events: arrivals.collect(), sim, owners: Vec::new(), log: Log::default() }
    }

    fn run(mut self) -> Log {
        loop {
            let now = self.sim.now;
            let opening = self.sim.turns.next_opening(now);
            assert!(opening.is_none_or(|opening| opening > now), "requests with room have started");
            let next = self.events.peek().map(|Reverse((at, _))| *at);
            let Some(now) = opening.into_iter().chain(next).min() else { return self.log };
            self.sim.now = now;
            while self.events.peek().is_some_and(|Reverse((at, _))| *at <= now) {
                self.events.pop().into_iter().for_each(|Reverse((_, event))| self.happen(event, now));
            }
            self.start(now);
        }
    }

    fn happen(&mut self, event: Event, now: Instant) {
        match event {
            Event::Arrives(index) => {
                let asked = &self.questions[index];
                self.owners.extend(std::iter::repeat_n(index, asked.requests));
                for ticket in self.sim.ask(&asked.way, Question::unique(), asked.requests) {
                    self.events.push(Reverse((now + asked.patience, Event::Leaves(index, ticket))));
                }
            }
            Event::Ends(index, started) => {
                let Asked { way, said, .. } = &self.questions[index];
                match said {
                    Said::Answer => self.sim.gates().accepted(way, started, now),
                    Said::Refusal => _ = self.sim.gates().refused(way, started, now),
                    Said::Trouble => {}
                }
                self.sim.gates().leave(way, now);
                *self.log.in_flight.get_mut(&way.site.0).unwrap() -= 1;
            }
            Event::Leaves(index, ticket) => {
                self.log.given_up += usize::from(self.sim.turns.give_up(&self.questions[index].way, ticket));
            }
        }
    }

    fn start(&mut self, now: Instant) {
        for number in self.sim.start() {
            let index = self.owners[number];
            let Asked { way, latency, .. } = &self.questions[index];
            self.events.push(Reverse((now + *latency, Event::Ends(index, now))));
            for name in [way.site.0.clone(), way.account.to_string()] {
                self.log.starts.entry(name).or_default().push(now);
            }
            let in_flight = self.log.in_flight.entry(way.site.0.clone()).or_default();
            *in_flight += 1;
            assert!(*in_flight <= 16, "{in_flight} in flight");
        }
    }
}

fn most_in_a_minute(starts: &[Instant]) -> usize {
    let minute = ms(60_000);
    let within = |from: usize| starts[from..].partition_point(|start| *start <= starts[from] + minute);
    (0..starts.len()).map(within).max().unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_minute_sees_more_than_the_quota_and_no_request_is_lost(questions in prop::collection::vec(asked(), 1..250)) {
        let log = World::new(&questions).run();
        for (name, starts) in &log.starts {
            prop_assert!(most_in_a_minute(starts) <= MOST_IN_A_MINUTE, "{} of {name}", most_in_a_minute(starts));
        }
        let started: usize = log.starts.iter().filter(|(name, _)| name.starts_with("sc-domain")).map(|(_, s)| s.len()).sum();
        let made: usize = questions.iter().map(|asked| asked.requests).sum();
        prop_assert_eq!(started + log.given_up, made);
        prop_assert_eq!(log.in_flight.values().sum::<usize>(), 0);
    }
}

#[test]
fn a_content_search_engine_is_asked_nearly_as_often_as_it_allows() {
    let always = Asked {
        gap: Duration::ZERO,
        way: own(),
        requests: 3_600,
        latency: ms(200),
        said: Said::Answer,
        patience: ms(1_000_000),
    };
    let log = World::new(&[always]).run();
    for starts in log.starts.values() {
        let most = most_in_a_minute(starts);
        assert!((1_080..=MOST_IN_A_MINUTE).contains(&most), "{most}");
    }
}
