//! A leaky bucket whose speed adapts to the search engine's responses. It grows a little with every success and halves on a
//! quota refusal (additive increase, multiplicative decrease).
//!
//! Each started request adds one to the level, the level drains at the rate, and a request may start if it fits. In any
//! minute at most `burst + 60 × per_second` requests start, however often the speed changes: neither number exceeds its
//! maximum, and every request has either drained or is still in the bucket.

use std::time::Duration;

use tokio::time::Instant;

/// The initial share of the maximum speed.
pub const START: f64 = 0.5;

/// Growth per success, as a share of the maximum: 32 successes from the start to the maximum.
const STEP: f64 = 1.0 / 64.0;

/// The lowest share of the maximum.
const LEAST: f64 = 1.0 / 16.0;

/// After a halving, only the refusal of a request that started at least this much later halves the speed again. Requests
/// that were in flight together, or retried at once, are refused for the same reason.
const RECOVERY: Duration = Duration::from_secs(1);

/// After a halving, only successes of requests that started at least this much later let the speed grow, because the search
/// engine counts by the minute.
const CALM: Duration = Duration::from_mins(1);

/// A bucket unused for this long is equivalent to a new one.
const IDLE: Duration = Duration::from_mins(15);

/// Tolerance for floating-point error when checking whether a request fits.
const NOISE: f64 = 1e-6;

/// A rate at which requests may start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speed {
    /// Requests at once, at least 1.
    pub burst: f64,
    /// Requests a second beyond those.
    pub per_second: f64,
}

impl Speed {
    /// The speed multiplied by `share`.
    fn times(self, share: f64) -> Self {
        Self { burst: (self.burst * share).max(1.0), per_second: self.per_second * share }
    }
}

/// The recent requests of a site or of an account.
#[derive(Debug)]
pub struct Bucket {
    most: Speed,
    speed: Speed,
    /// The level at time `at`, in requests.
    level: f64,
    at: Instant,
    halved_at: Option<Instant>,
}

impl Bucket {
    /// An empty bucket at half of the speed `most`.
    pub fn new(most: Speed, now: Instant) -> Self {
        Self { most, speed: most.times(START), level: 0.0, at: now, halved_at: None }
    }

    /// An empty bucket that admits at most `most` requests in any `period`, a sixth of them at once. Its speed never changes.
    pub fn of_quota(most: u32, period: Duration, now: Instant) -> Self {
        let burst = (f64::from(most) / 6.0).max(1.0);
        let rest = (f64::from(most) - burst).max(1.0);
        let speed = Speed { burst, per_second: rest / period.as_secs_f64() };
        Self { most: speed, speed, level: 0.0, at: now, halved_at: None }
    }

    /// Records that the burst was used up at `at`.
    pub fn use_up(&mut self, at: Instant) {
        self.drain(at);
        self.level = self.level.max(self.speed.burst);
    }

    /// The current speed.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// Returns the earliest time, from `now` on, at which a request fits.
    pub fn opens_at(&self, now: Instant) -> Instant {
        let excess = self.level_at(now) + 1.0 - self.speed.burst;
        if excess <= NOISE {
            return now;
        }
        now + Duration::from_secs_f64(excess / self.speed.per_second) + Duration::from_micros(1)
    }

    /// Returns the earliest time, from `now` on, at which a request fits after `before` others, if answers let the speed grow at once.
    pub fn opens_after(&self, before: u32, now: Instant) -> Instant {
        let is_slowed = self.halved_at.is_some_and(|halved_at| now < halved_at + CALM);
        let speed = if is_slowed { self.speed } else { self.most };
        let excess = self.level_at(now) + 1.0 + f64::from(before) - speed.burst;
        now + Duration::from_secs_f64((excess / speed.per_second).max(0.0))
    }

    /// Returns the share of its burst that is used up.
    pub fn used(&self, now: Instant) -> f64 {
        self.level_at(now) / self.speed.burst
    }

    /// Records the start of a request.
    pub fn pour(&mut self, now: Instant) {
        self.drain(now);
        self.level += 1.0;
    }

    /// Records the success of a request that started at `started`.
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

    /// Records the quota refusal of a request that started at `started`. Returns whether that halved the speed.
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

    /// Returns whether the bucket may be dropped.
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
