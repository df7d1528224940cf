//! Replicas that want one reading, under thousands of schedules with crashes, pauses, loss and wipes.
//!
//! The scheduler is the only source of time and of order: it picks who acts next, how long each step takes, and what goes wrong. The
//! same seed gives the same run.

use std::{collections::BTreeMap, time::Duration};

use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use tokio::time::Instant;

use super::model::Server;
use crate::claim::{Claim, Event, Seen, Step, Urgency, Wanting};

const PLACE: &str = "reading";
const CLAIMED_MS: i64 = 30_000;
const ALIVE_MS: i64 = 2_000;
const REPLICAS: usize = 3;

/// The time for which the search engine thinks.
const UPSTREAM_MS: i64 = 1_000;

/// A replica that wants the reading.
struct Replica {
    name: String,
    me: Claim,
    wanting: Wanting,
    step: Step<u32>,
    /// What it brought, and when.
    got: Option<u32>,
    acts_at: i64,
    beats_at: i64,
    is_dead: bool,
    asks: u32,
}

/// What went wrong in a run.
#[derive(Debug, Default)]
struct Trouble {
    crashes: u32,
    pauses: u32,
    wipes: u32,
    losses: u32,
}

struct World {
    server: Server,
    replicas: Vec<Replica>,
    random: SmallRng,
    now: i64,
    begun: Instant,
    /// The version of the data: each request upstream brings a new one.
    version: u32,
    asked_at: Vec<i64>,
    trouble: Trouble,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        let replicas = (0..REPLICAS).map(|number| {
            let name = format!("replica{number:09}");
            let urgency = if random.random_bool(0.2) { Urgency::Later } else { Urgency::Soon };
            let me = Claim::new(&name, urgency, 1);
            Replica {
                wanting: Wanting::new(me.clone(), Duration::ZERO),
                name,
                me,
                step: Step::Claim,
                got: None,
                acts_at: random.random_range(0..50_000),
                beats_at: 0,
                is_dead: false,
                asks: 0,
            }
        });
        let replicas = replicas.collect();
        let (server, trouble) = (Server::default(), Trouble::default());
        Self { server, replicas, random, now: 0, begun: Instant::now(), version: 0, asked_at: Vec::new(), trouble }
    }

    /// Runs until everybody who lives has the reading. Fails if that takes a minute.
    fn run(&mut self, faults: f64) {
        while let Some(next) = self.next() {
            self.now = self.now.max(self.replicas[next].acts_at.min(self.replicas[next].beats_at));
            assert!(self.now < 60_000_000, "not done after a minute: {:?}", self.trouble);
            self.go_wrong(next, faults);
            let replica = &mut self.replicas[next];
            if replica.is_dead {
                continue;
            }
            if replica.beats_at <= self.now {
                self.server.set(&format!("alive:{}", replica.name), "1", ALIVE_MS, self.now);
                replica.beats_at = self.now + 500_000;
            }
            if replica.acts_at <= self.now && replica.got.is_none() {
                self.act(next);
            }
        }
    }

    /// The replica that acts or gives a sign of life next.
    fn next(&self) -> Option<usize> {
        let wants = |replica: &Replica| !replica.is_dead && replica.got.is_none();
        if !self.replicas.iter().any(wants) {
            return None;
        }
        let living = self.replicas.iter().enumerate().filter(|(_, replica)| !replica.is_dead);
        living
            .min_by_key(
                |(_, replica)| {
                    if replica.got.is_some() { replica.beats_at } else { replica.acts_at.min(replica.beats_at) }
                },
            )
            .map(|(at, _)| at)
    }

    fn go_wrong(&mut self, at: usize, faults: f64) {
        if !self.random.random_bool(faults) {
            return;
        }
        match self.random.random_range(0..4) {
            0 if self.replicas.iter().filter(|replica| replica.is_dead).count() + 1 < REPLICAS => {
                self.trouble.crashes += 1;
                self.replicas[at].is_dead = true;
            }
            1 => {
                self.trouble.pauses += 1;
                let pause = self.random.random_range(1..6) * 1_000_000;
                let replica = &mut self.replicas[at];
                (replica.acts_at, replica.beats_at) = (replica.acts_at + pause, replica.beats_at + pause);
            }
            2 => {
                self.trouble.wipes += 1;
                self.server.wipe();
            }
            _ => {
                // A call that is lost looks as if Redis were away.
                self.trouble.losses += 1;
                let now = self.instant();
                let replica = &mut self.replicas[at];
                if replica.got.is_none() && replica.step != Step::Own {
                    replica.step = replica.wanting.after(Event::Away, now);
                }
            }
        }
    }

    fn act(&mut self, at: usize) {
        let (now, instant) = (self.now, self.instant());
        let takes = self.random.random_range(100..40_000);
        let replica = &mut self.replicas[at];
        let me = replica.me.text.clone();
        let event = match std::mem::replace(&mut replica.step, Step::Look) {
            Step::Claim => {
                let held = self.server.claim(PLACE, &me, CLAIMED_MS, me.starts_with("C0"), now);
                Event::Claimed(seen(Some(&held)))
            }
            Step::Look => Event::Looked(seen(self.server.get(PLACE, now))),
            Step::AskForOwner(claim) => {
                let lives = self.server.get(&format!("alive:{}", claim.owner()), now).is_some();
                Event::Owner { lives }
            }
            Step::TakeOver(claim) => Event::TookOver(self.server.swap(PLACE, &claim.text, false, &me, CLAIMED_MS, now)),
            Step::Replace(bytes) => {
                let held = String::from_utf8(bytes).unwrap();
                Event::TookOver(self.server.swap(PLACE, &held, false, &me, CLAIMED_MS, now))
            }
            own @ (Step::Own | Step::Alone) if replica.asks == 0 => {
                replica.asks = 1;
                replica.acts_at = now + UPSTREAM_MS * 1_000;
                replica.step = own;
                self.asked_at.push(now);
                return;
            }
            own @ (Step::Own | Step::Alone) => {
                self.version += 1;
                replica.got = Some(self.version);
                if own == Step::Own {
                    self.server.swap(PLACE, &me, true, &format!("V{}", self.version), 3_600_000, now);
                }
                return;
            }
            Step::Take(version) => {
                replica.got = Some(version);
                return;
            }
            Step::Fail => unreachable!("nobody fails here"),
        };
        replica.acts_at = now + takes + if matches!(replica.step, Step::Look) { 30_000 } else { 0 };
        replica.step = replica.wanting.after(event, instant);
    }

    fn instant(&self) -> Instant {
        self.begun + Duration::from_micros(u64::try_from(self.now).unwrap())
    }
}

fn seen(held: Option<&str>) -> Seen<u32> {
    match held {
        None => Seen::Nothing,
        Some(claim) if claim.starts_with('C') => Seen::Claimed(Claim { text: claim.to_owned() }),
        Some(value) => Seen::Reading(value[1..].parse().unwrap()),
    }
}

#[test]
fn without_trouble_one_replica_asks_and_all_have_the_same() {
    for seed in 0..2_000 {
        let mut world = World::new(seed);
        world.run(0.0);
        let urgent_late = world.replicas.iter().filter(|replica| replica.me.text.starts_with("C1")).count();
        assert!(world.asked_at.len() <= 1 + urgent_late, "{seed}: {:?}", world.asked_at);
        if urgent_late == 0 {
            assert_eq!(world.asked_at.len(), 1, "{seed}");
            assert!(world.replicas.iter().all(|replica| replica.got == Some(1)), "{seed}");
        }
    }
}

#[test]
fn whatever_goes_wrong_everybody_who_lives_gets_a_reading_and_trouble_bounds_the_requests() {
    let mut seen = BTreeMap::new();
    for seed in 0..4_000 {
        let mut world = World::new(seed);
        world.run(0.03);
        let Trouble { crashes, pauses, wipes, losses } = world.trouble;
        for replica in world.replicas.iter().filter(|replica| !replica.is_dead) {
            assert!(replica.got.is_some(), "{seed}");
        }
        let slow = world.replicas.iter().filter(|replica| replica.me.text.starts_with("C1")).count();
        let most = 1 + (crashes + pauses + wipes + losses) as usize + slow;
        assert!(world.asked_at.len() <= most.min(REPLICAS), "{seed}: {:?} {:?}", world.asked_at, world.trouble);
        for (what, count) in [("crashes", crashes), ("pauses", pauses), ("wipes", wipes), ("losses", losses)] {
            *seen.entry(what).or_insert(0) += count;
        }
    }
    assert!(seen.values().all(|count| *count > 500), "{seen:?}");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut world = World::new(seed);
        world.run(0.05);
        (world.now, world.asked_at, world.version)
    };
    for seed in 0..50 {
        assert_eq!(run(seed), run(seed));
    }
}
