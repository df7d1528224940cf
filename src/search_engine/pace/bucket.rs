//! A leaky bucket whose speed follows what the search engine says: it grows a little with every answer, and halves when a request is
//! refused for the quota (additive increase, multiplicative decrease).
//!
//! A request that starts is poured in, what is in drains at the rate, and a request may start while it has room. In any minute at most
//! `burst + 60 × per_second` requests start, however often the speed changes in between: neither number exceeds its most, and what was
//! poured has drained or is still in.

use std::time::Duration;

use tokio::time::Instant;

/// A bucket starts at this share of its most.
const START: f64 = 0.5;

/// It grows by this share of its most with each answer: from the start to the most in 32 answers.
const STEP: f64 = 1.0 / 64.0;

/// It is not halved below this share of its most.
const LEAST: f64 = 1.0 / 16.0;

/// Only the refusal of a request that started so long after the speed was halved halves it again: requests that were under way
/// together, and those that were made again at once, are refused for the same reason.
const RECOVERY: Duration = Duration::from_secs(1);

/// It grows again with the answers to requests that started so long after it was halved: the search engine counts by the minute.
const CALM: Duration = Duration::from_mins(1);

/// A bucket that was not used for so long is as good as new.
const IDLE: Duration = Duration::from_mins(15);

/// Room for a request but for the noise of calculation is room.
const NOISE: f64 = 1e-6;

/// A speed at which requests start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Requests at once, at least 1.
    pub burst: f64,
    /// Requests a second beyond those.
    pub per_second: f64,
}

impl Speed {
    /// This share of the speed.
    fn times(self, share: f64) -> Self {
        Self { burst: (self.burst * share).max(1.0), per_second: self.per_second * share }
    }
}

/// The requests of a site, or of an account, that started a moment ago.
#[derive(Debug)]
pub struct Bucket {
    most: Speed,
    speed: Speed,
    /// Requests that were in at `at`.
    level: f64,
    at: Instant,
    halved_at: Option<Instant>,
}

impl Bucket {
    /// Empty, and at half of its `most`.
    pub fn new(most: Speed, now: Instant) -> Self {
        Self { most, speed: most.times(START), level: 0.0, at: now, halved_at: None }
    }

    /// The speed at present.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// When the next request has room, from `now` on.
    pub fn opens_at(&self, now: Instant) -> Instant {
        let excess = self.level_at(now) + 1.0 - self.speed.burst;
        if excess <= NOISE {
            return now;
        }
        now + Duration::from_secs_f64(excess / self.speed.per_second) + Duration::from_micros(1)
    }

    /// A request starts.
    pub fn pour(&mut self, now: Instant) {
        self.drain(now);
        self.level += 1.0;
    }

    /// A request that started at `started` was answered.
    pub fn accepted(&mut self, started: Instant, now: Instant) {
        if self.halved_at.is_some_and(|halved_at| started < halved_at + CALM) {
            return;
        }
        self.drain(now);
        self.speed = Speed {
            burst: (self.speed.burst + self.most.burst * STEP).min(self.most.burst),
            per_second: (self.speed.per_second + self.most.per_second * STEP).min(self.most.per_second),
        };
    }

    /// A request that started at `started` was refused for the quota. Says whether that halved the speed.
    pub fn refused(&mut self, started: Instant, now: Instant) -> bool {
        if self.halved_at.is_some_and(|halved_at| started < halved_at + RECOVERY) {
            return false;
        }
        self.drain(now);
        let (half, least) = (self.speed.times(0.5), self.most.times(LEAST));
        self.speed = Speed { burst: half.burst.max(least.burst), per_second: half.per_second.max(least.per_second) };
        self.halved_at = Some(now);
        true
    }

    /// True where it may be forgotten.
    pub fn is_idle(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.at) >= IDLE && self.level_at(now) == 0.0
    }

    fn level_at(&self, now: Instant) -> f64 {
        let drained = self.speed.per_second * now.saturating_duration_since(self.at).as_secs_f64();
        (self.level - drained).max(0.0)
    }

    fn drain(&mut self, now: Instant) {
        self.level = self.level_at(now);
        self.at = self.at.max(now);
    }
}
