//! How many requests each caller has left: GCRA (generic cell rate algorithm), kept in the process.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    ops::Add,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use governor::{
    NotUntil, Quota, RateLimiter,
    clock::{Clock as _, Reference},
    middleware::StateInformationMiddleware,
    nanos::Nanos,
    state::keyed::DashMapStateStore,
};

use crate::clock::Clock;

/// How fast a caller may ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rate {
    /// Sustained requests per minute.
    pub per_minute: NonZeroU32,
    /// Requests that may come at once.
    pub burst: NonZeroU32,
}

impl Rate {
    /// A rate; zeros count as one.
    #[must_use]
    pub fn new(per_minute: u32, burst: u32) -> Self {
        let at_least_one = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self { per_minute: at_least_one(per_minute), burst: at_least_one(burst) }
    }

    fn quota(self) -> Quota {
        Quota::per_minute(self.per_minute).allow_burst(self.burst)
    }

    /// Time in which one request comes back.
    fn interval(self) -> Duration {
        self.quota().replenish_interval()
    }
}

/// What a request found, as the `X-RateLimit-*` headers tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The burst.
    pub limit: u32,
    /// Whole requests left now, after this one.
    pub remaining: u32,
    /// Unix seconds when the burst is full again, rounded up.
    pub reset: i64,
    /// Seconds until the next request is let in, rounded up; none if this one was.
    pub retry_after: Option<u64>,
}

/// Counters of all callers, one set of them per [`Rate`].
pub struct RateLimits {
    clock: Clock,
    by_rate: Mutex<HashMap<Rate, Arc<Limiter>>>,
    counted: AtomicUsize,
}

type Limiter = RateLimiter<String, DashMapStateStore<String>, Time, StateInformationMiddleware>;

/// Requests between two sweeps, which forget callers whose burst is full again: they are as good as new.
const SWEEP_EVERY: usize = 4096;
/// Callers kept per rate at most; a flood of fresh addresses starts the counters anew rather than filling the memory.
const KEEP_AT_MOST: usize = 200_000;

impl RateLimits {
    /// Counters at zero.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, by_rate: Mutex::default(), counted: AtomicUsize::new(0) }
    }

    /// Counts one request of `key`.
    #[must_use]
    pub fn count(&self, key: &str, rate: Rate) -> Standing {
        let limiter = self.limiter(rate);
        let now = self.clock.now();
        let limit = rate.burst.get();
        let (remaining, wait) = match limiter.check_key(&key.to_owned()) {
            Ok(state) => (state.remaining_burst_capacity(), None),
            Err(until) => (0, Some(wait(&until, Time(self.clock.clone()).now()))),
        };
        // The burst is full once every request spent has come back. When none is left the fraction of the next one that has
        // already come back is known exactly; otherwise less than one interval is rounded away.
        let missing = rate.interval() * (limit - remaining);
        let full_in = wait.map_or(missing, |wait| wait + rate.interval() * (limit - 1));
        let millis = i64::try_from(full_in.as_millis()).unwrap_or(i64::MAX);
        let reset = now.timestamp_millis().saturating_add(millis).saturating_add(999).div_euclid(1000);
        Standing { limit, remaining, reset, retry_after: wait.map(seconds_up) }
    }

    fn limiter(&self, rate: Rate) -> Arc<Limiter> {
        let mut by_rate = self.by_rate.lock().unwrap_or_else(PoisonError::into_inner);
        if self.counted.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            by_rate.values().for_each(|limiter| limiter.retain_recent());
            by_rate.retain(|_, limiter| limiter.len() <= KEEP_AT_MOST);
        }
        by_rate.entry(rate).or_insert_with(|| Arc::new(self.fresh(rate))).clone()
    }

    fn fresh(&self, rate: Rate) -> Limiter {
        Limiter::new(rate.quota(), DashMapStateStore::default(), Time(self.clock.clone()))
    }
}

fn wait(until: &NotUntil<Instant>, now: Instant) -> Duration {
    until.wait_time_from(now)
}

fn seconds_up(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

/// The service's clock as governor wants it.
#[derive(Clone)]
struct Time(Clock);

/// Nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Instant(u64);

impl governor::clock::Clock for Time {
    type Instant = Instant;

    fn now(&self) -> Instant {
        Instant(self.0.now().timestamp_nanos_opt().and_then(|nanos| u64::try_from(nanos).ok()).unwrap_or_default())
    }
}

impl Add<Nanos> for Instant {
    type Output = Self;

    fn add(self, time: Nanos) -> Self {
        Self(self.0.saturating_add(time.as_u64()))
    }
}

impl Reference for Instant {
    fn duration_since(&self, earlier: Self) -> Nanos {
        Nanos::new(self.0.saturating_sub(earlier.0))
    }

    fn saturating_sub(&self, time: Nanos) -> Self {
        Self(self.0.saturating_sub(time.as_u64()))
    }
}

impl std::fmt::Debug for RateLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RateLimits")
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;

    fn limits() -> (RateLimits, crate::clock::Hand) {
        let (clock, hand) = Clock::manual(DateTime::from_timestamp(1_000_000, 0).unwrap());
        (RateLimits::new(clock), hand)
    }

    #[test]
    fn the_burst_is_spent_and_comes_back_with_time() {
        let (limits, hand) = limits();
        let rate = Rate::new(120, 3);
        let first = limits.count("a", rate);
        assert_eq!(first, Standing { limit: 3, remaining: 2, reset: 1_000_001, retry_after: None });
        assert_eq!(limits.count("a", rate).remaining, 1);
        assert_eq!(limits.count("a", rate), Standing { limit: 3, remaining: 0, reset: 1_000_002, retry_after: None });
        let refused = limits.count("a", rate);
        assert_eq!(refused, Standing { limit: 3, remaining: 0, reset: 1_000_002, retry_after: Some(1) });
        hand.advance(TimeDelta::milliseconds(500));
        assert_eq!(limits.count("a", rate).retry_after, None);
        assert_eq!(limits.count("a", rate).retry_after, Some(1));
        hand.advance(TimeDelta::minutes(1));
        assert_eq!(limits.count("a", rate).remaining, 2);
    }

    #[test]
    fn the_wait_is_rounded_up_to_whole_seconds() {
        let (limits, hand) = limits();
        let rate = Rate::new(10, 1);
        assert_eq!(limits.count("a", rate).reset, 1_000_006);
        hand.advance(TimeDelta::milliseconds(500));
        let refused = limits.count("a", rate);
        assert_eq!((refused.retry_after, refused.reset), (Some(6), 1_000_006));
    }

    #[test]
    fn callers_do_not_share_what_they_have_left() {
        let (limits, _hand) = limits();
        let rate = Rate::new(60, 1);
        assert_eq!(limits.count("a", rate).retry_after, None);
        assert_eq!(limits.count("b", rate).retry_after, None);
        assert!(limits.count("a", rate).retry_after.is_some());
    }

    #[test]
    fn callers_whose_burst_is_full_again_are_forgotten() {
        let (limits, hand) = limits();
        let rate = Rate::new(60, 1);
        for caller in 0..SWEEP_EVERY - 1 {
            let _ = limits.count(&caller.to_string(), rate);
        }
        hand.advance(TimeDelta::minutes(5));
        let _ = limits.count("one more", rate);
        assert!(limits.limiter(rate).len() <= 2);
    }
}
