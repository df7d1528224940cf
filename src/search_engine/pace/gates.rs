//! The way to the search engine leads through two gates, because it counts by site and by account. A request passes both at once or
//! neither, so that none holds room in the one while it waits for the other.

use std::{collections::HashMap, time::Duration};

use tokio::time::Instant;
use uuid::Uuid;

use super::{
    super::wire::SiteUrl,
    Lane, Pace,
    bucket::{Bucket, Speed},
};

/// Readers of share links together have one in so many of the requests in flight. A part as small as this still answers a
/// dashboard in four rounds.
const SHARED_IN_FLIGHT: u32 = 4;

/// They have one in so many of the requests a second and of the burst. It is more than their part of those in flight, because it
/// binds only where answers come fast.
const SHARED_SPEED: u32 = 2;

/// Time between two sweeps, which forget gates that nobody uses.
const SWEEP: Duration = Duration::from_mins(1);

/// The way that a request takes: all that take the same one pass the same gates.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Way {
    /// The account that asks.
    pub account: Uuid,
    /// The site it asks about.
    pub site: SiteUrl,
    /// Whom it asks for.
    pub lane: Lane,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Site(SiteUrl),
    Account(Uuid),
}

/// A bucket, and the requests under way that were poured into it.
#[derive(Debug)]
struct Counter {
    bucket: Bucket,
    in_flight: u32,
    max_in_flight: u32,
}

impl Counter {
    fn new(pace: Pace, now: Instant) -> Self {
        let at_least_one = |n: u32| f64::from(n.max(1));
        let most = Speed { burst: at_least_one(pace.bucket), per_second: at_least_one(pace.refill_per_second) };
        Self { bucket: Bucket::new(most, now), in_flight: 0, max_in_flight: pace.max_in_flight.max(1) }
    }

    /// When the next request may pass; none where one that is under way must end first.
    fn opens_at(&self, now: Instant) -> Option<Instant> {
        (self.in_flight < self.max_in_flight).then(|| self.bucket.opens_at(now))
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.in_flight == 0 && self.bucket.is_idle(now)
    }
}

/// The gate of a site or an account. Requests for readers of share links count twice: among all, and among themselves.
#[derive(Debug)]
struct Gate {
    all: Counter,
    shared: Counter,
}

impl Gate {
    fn new(pace: Pace, now: Instant) -> Self {
        let part = Pace {
            max_in_flight: pace.max_in_flight / SHARED_IN_FLIGHT,
            bucket: pace.bucket / SHARED_SPEED,
            refill_per_second: pace.refill_per_second / SHARED_SPEED,
        };
        Self { all: Counter::new(pace, now), shared: Counter::new(part, now) }
    }
}

/// The gates of all sites and accounts that were asked lately.
#[derive(Debug)]
pub struct Gates {
    pace: Pace,
    known: HashMap<Key, Gate>,
    swept_at: Option<Instant>,
}

impl Gates {
    /// Nobody was asked yet.
    pub fn new(pace: Pace) -> Self {
        Self { pace, known: HashMap::new(), swept_at: None }
    }

    /// When the next request may pass, from `now` on; none where one that is under way must end first.
    pub fn opens_at(&mut self, way: &Way, now: Instant) -> Option<Instant> {
        let mut opens_at = Some(now);
        self.each(way, now, |counter| opens_at = opens_at.zip(counter.opens_at(now)).map(|(a, b)| a.max(b)));
        opens_at
    }

    /// A request passes.
    pub fn enter(&mut self, way: &Way, now: Instant) {
        self.each(way, now, |counter| {
            counter.bucket.pour(now);
            counter.in_flight += 1;
        });
        if self.swept_at.is_none_or(|swept_at| now >= swept_at + SWEEP) {
            self.swept_at = Some(now);
            self.known.retain(|_, gate| !(gate.all.is_idle(now) && gate.shared.is_idle(now)));
        }
    }

    /// A request that passed is over.
    pub fn leave(&mut self, way: &Way, now: Instant) {
        self.each(way, now, |counter| counter.in_flight = counter.in_flight.saturating_sub(1));
    }

    /// A request that started at `started` was answered.
    pub fn accepted(&mut self, way: &Way, started: Instant, now: Instant) {
        self.each(way, now, |counter| counter.bucket.accepted(started, now));
    }

    /// A request that started at `started` was refused for the quota; of the site or of the account, the search engine seldom says. Says
    /// whether that halved a speed.
    pub fn refused(&mut self, way: &Way, started: Instant, now: Instant) -> bool {
        let mut halved = false;
        self.each(way, now, |counter| halved |= counter.bucket.refused(started, now));
        halved
    }

    /// The slowest of the speeds that hold on the way.
    pub fn speed(&mut self, way: &Way, now: Instant) -> Speed {
        let mut slowest = Speed { burst: f64::INFINITY, per_second: f64::INFINITY };
        self.each(way, now, |counter| {
            let speed = counter.bucket.speed();
            slowest =
                Speed { burst: slowest.burst.min(speed.burst), per_second: slowest.per_second.min(speed.per_second) };
        });
        slowest
    }

    /// Gates that are known.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Visits what counts the requests of a way. The requests under way are bounded by site only.
    fn each(&mut self, way: &Way, now: Instant, mut visit: impl FnMut(&mut Counter)) {
        let of_account = Pace { max_in_flight: u32::MAX, ..self.pace };
        for (key, pace) in [(Key::Site(way.site.clone()), self.pace), (Key::Account(way.account), of_account)] {
            let gate = self.known.entry(key).or_insert_with(|| Gate::new(pace, now));
            visit(&mut gate.all);
            if way.lane == Lane::Shared {
                visit(&mut gate.shared);
            }
        }
    }
}
