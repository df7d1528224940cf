//! Rate limits per caller by the generic cell rate algorithm (GCRA), kept in the process.

use std::{
    collections::HashMap,
    fmt,
    num::NonZeroU32,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::clock::Clock;

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// The allowed rate of a caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Time to regain one request, in nanoseconds.
    interval: i64,
    /// Maximum burst of requests.
    burst: NonZeroU32,
}

impl Rate {
    /// A rate with a burst. Zeros count as one.
    #[must_use]
    pub fn new(per_minute: u32, burst: u32) -> Self {
        Self::per(MINUTE, per_minute, burst)
    }

    /// A rate per hour that allows all requests of an hour at once. Zero counts as one.
    #[must_use]
    pub fn per_hour(requests: u32) -> Self {
        Self::per(HOUR, requests, requests)
    }

    /// A rate per hour with a burst. Zeros count as one.
    #[must_use]
    pub fn hourly(requests: u32, burst: u32) -> Self {
        Self::per(HOUR, requests, burst)
    }

    fn per(time: i64, requests: u32, burst: u32) -> Self {
        let burst = NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN);
        Self { interval: time / i64::from(requests.max(1)), burst }
    }

    /// Time to regain one request.
    #[must_use]
    pub fn interval(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.interval).unwrap_or_default())
    }

    /// Maximum burst of requests.
    #[must_use]
    pub fn burst(self) -> u32 {
        self.burst.get()
    }

    /// Time to regain the whole burst.
    #[must_use]
    pub fn whole_burst(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.window()).unwrap_or_default())
    }

    fn window(self) -> i64 {
        self.interval * i64::from(self.burst.get())
    }
}

/// The limit as a sentence.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "At most {} requests at once, and {} a minute.", self.burst, 60 * SECOND / self.interval)
    }
}

/// The rate limit after a request, as in the `X-RateLimit-*` headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitState {
    /// The burst.
    pub limit: u32,
    /// Whole requests left after this one.
    pub remaining: u32,
    /// Unix seconds at which the full burst is available again, rounded up.
    pub reset: i64,
    /// Seconds until the next request is allowed, rounded up. `None` if this one was allowed.
    pub retry_after: Option<u64>,
}

impl LimitState {
    /// The limit after a request at `now` that was counted elsewhere. The full burst is available again at `full_at`, and a request that was
    /// refused may come after `wait`. All are in microseconds.
    #[must_use]
    pub fn of(rate: Rate, now: i64, full_at: i64, wait: Option<i64>) -> Self {
        let nanos = |micros: i64| micros.saturating_mul(1_000);
        standing(rate, nanos(now), nanos(full_at), wait.map(nanos))
    }
}

/// The counters of all callers of this process.
pub struct RateLimits {
    clock: Clock,
    counters: Mutex<Counters>,
}

#[derive(Default)]
struct Counters {
    /// The time at which a caller's full burst is available again, in nanoseconds since 1970. Callers who are not stored
    /// have the full burst.
    full_at: HashMap<String, i64>,
    /// The time at which the last refused request of a caller may come again.
    promised: HashMap<String, i64>,
    /// Requests since the last sweep.
    since_sweep: usize,
    /// Requests that were not allowed.
    refusals: u64,
}

/// Requests between two sweeps, which drop callers with a full burst because they need no counter.
const SWEEP_EVERY: usize = 4096;
/// Maximum number of callers. Above it, a sweep drops the callers who used the least of their burst. A flood of new addresses uses
/// one request each, so callers who exhausted their limit stay.
const MAX_CALLERS: usize = 200_000;

impl RateLimits {
    /// Creates the counters, all at zero.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { clock, counters: Mutex::default() }
    }

    /// Counts one request of `key`.
    #[must_use]
    pub fn count(&self, key: &str, rate: Rate) -> LimitState {
        let now = self.now();
        let mut counters = self.lock();
        counters.sweep(now, MAX_CALLERS);
        // After a change of rate, a caller waits at most for the new rate's burst.
        let full_at = counters.full_at.get(key).map_or(now, |full_at| (*full_at).clamp(now, now + rate.window()));
        let counted = full_at + rate.interval;
        let wait = counted - now - rate.window();
        if wait > 0 {
            counters.refusals += 1;
            // The cut time is stored, so that a clock that was set back keeps nobody out for longer than the window.
            counters.full_at.insert(key.to_owned(), full_at);
            return standing(rate, now, full_at, Some(wait));
        }
        counters.full_at.insert(key.to_owned(), counted);
        standing(rate, now, counted, None)
    }

    /// Returns the seconds after which a refused request of `key` may come again, at least `soonest`. Callers that are refused at the same
    /// time come again one after the other, as the rate gives requests back, and so not all in vain. After a whole burst of promises, at
    /// most a minute, they begin again with the soonest.
    #[must_use]
    pub fn spread(&self, key: &str, rate: Rate, soonest: u64) -> u64 {
        // At a slow rate, one caller who asks again and again would wait longer and longer.
        if rate.interval >= SECOND {
            return soonest;
        }
        let now = self.now();
        let earliest = now + i64::try_from(soonest.saturating_sub(1)).unwrap_or_default().saturating_mul(SECOND);
        let mut counters = self.lock();
        let last = counters.promised.get(key).copied().unwrap_or_default();
        let next = (last + rate.interval).max(earliest);
        let at = if next - earliest > rate.window().min(60 * SECOND) { earliest } else { next };
        counters.promised.insert(key.to_owned(), at);
        u64::try_from(seconds_up(at - now)).unwrap_or_default().max(soonest)
    }

    /// Takes back one request of `key` that was counted with this rate.
    pub fn uncount(&self, key: &str, rate: Rate) {
        if let Some(full_at) = self.lock().full_at.get_mut(key) {
            *full_at -= rate.interval;
        }
    }

    /// Returns the remaining requests of `key`, and counts nothing.
    #[must_use]
    pub fn look(&self, key: &str, rate: Rate) -> LimitState {
        let now = self.now();
        let full_at = self.lock().full_at.get(key).map_or(now, |full_at| (*full_at).clamp(now, now + rate.window()));
        standing(rate, now, full_at, None)
    }

    /// The number of callers without their full burst. Callers who regained it since the last sweep are counted, too.
    #[must_use]
    pub fn callers(&self) -> usize {
        self.lock().full_at.len()
    }

    /// The number of requests that were not allowed.
    #[must_use]
    pub fn refusals(&self) -> u64 {
        self.lock().refusals
    }

    fn now(&self) -> i64 {
        self.clock.now().timestamp_nanos_opt().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counters {
    fn sweep(&mut self, now: i64, max_callers: usize) {
        self.since_sweep += 1;
        if self.since_sweep < SWEEP_EVERY {
            return;
        }
        self.since_sweep = 0;
        self.full_at.retain(|_, full_at| *full_at > now);
        self.promised.retain(|_, at| *at > now);
        if let Some(excess) = self.full_at.len().checked_sub(max_callers + 1) {
            let mut times: Vec<i64> = self.full_at.values().copied().collect();
            let (_, last_to_go, _) = times.select_nth_unstable(excess);
            self.full_at.retain(|_, full_at| *full_at > *last_to_go);
        }
    }
}

fn standing(rate: Rate, now: i64, full_at: i64, wait: Option<i64>) -> LimitState {
    let left = (rate.window() - (full_at - now)) / rate.interval;
    LimitState {
        limit: rate.burst.get(),
        remaining: u32::try_from(left).unwrap_or_default(),
        reset: seconds_up(full_at),
        retry_after: wait.map(|wait| u64::try_from(seconds_up(wait)).unwrap_or_default()),
    }
}

fn seconds_up(nanoseconds: i64) -> i64 {
    nanoseconds.saturating_add(SECOND - 1).div_euclid(SECOND)
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
        assert_eq!(first, LimitState { limit: 3, remaining: 2, reset: 1_000_001, retry_after: None });
        assert_eq!(limits.count("a", rate).remaining, 1);
        assert_eq!(limits.count("a", rate), LimitState { limit: 3, remaining: 0, reset: 1_000_002, retry_after: None });
        assert_eq!(limits.look("b", rate), LimitState { limit: 3, remaining: 3, reset: 1_000_000, retry_after: None });
        assert_eq!(limits.look("a", rate), limits.look("a", rate), "a look is not counted");
        let refused = limits.count("a", rate);
        assert_eq!(refused, LimitState { limit: 3, remaining: 0, reset: 1_000_002, retry_after: Some(1) });
        hand.advance(TimeDelta::milliseconds(500));
        assert_eq!(limits.count("a", rate).retry_after, None);
        assert_eq!(limits.count("a", rate).retry_after, Some(1));
        hand.advance(TimeDelta::minutes(1));
        assert_eq!(limits.count("a", rate).remaining, 2);
    }

    #[test]
    fn callers_that_are_refused_at_once_come_again_one_after_the_other() {
        let (limits, hand) = limits();
        let rate = Rate::new(120, 60);
        let waits: Vec<u64> = (0..8).map(|_| limits.spread("a", rate, 1)).collect();
        assert_eq!(waits, [1, 1, 1, 2, 2, 3, 3, 4]);
        assert_eq!(limits.spread("b", rate, 1), 1, "others do not wait for them");
        hand.advance(TimeDelta::seconds(10));
        assert_eq!(limits.spread("a", rate, 1), 1);
        let most = (0..1_000).map(|_| limits.spread("a", rate, 1)).max();
        assert_eq!(most, Some(30), "no longer than the burst takes");
        let slow = Rate::per_hour(20);
        assert_eq!([limits.spread("c", slow, 180), limits.spread("c", slow, 180)], [180, 180]);
    }

    #[test]
    fn a_clock_that_jumps_keeps_nobody_out_for_longer_than_the_window() {
        for (jump, rate) in [-2, -600, -7_200, -86_400]
            .into_iter()
            .flat_map(|jump| [Rate::new(120, 60), Rate::per_hour(20)].map(|rate| (TimeDelta::seconds(jump), rate)))
        {
            let (limits, hand) = limits();
            while limits.count("a", rate).retry_after.is_none() {}
            hand.set(jump);
            let refused = limits.count("a", rate).retry_after;
            let wait = refused.unwrap_or_default();
            assert!(wait <= rate.interval().as_secs() + 3, "{jump}: {wait}");
            hand.advance(TimeDelta::seconds(i64::try_from(wait).unwrap()));
            assert_eq!(limits.count("a", rate).retry_after, None, "{jump}: the wait was as long as promised");
        }
        let (limits, hand) = limits();
        let rate = Rate::new(60, 2);
        while limits.count("a", rate).retry_after.is_none() {}
        hand.advance(TimeDelta::days(1));
        assert_eq!(limits.count("a", rate).remaining, 1, "nobody gains more than the burst");
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
    fn a_request_that_is_taken_back_does_not_count() {
        let (limits, hand) = limits();
        let rate = Rate::per_hour(2);
        for _ in 0..5 {
            assert_eq!(limits.count("a", rate).remaining, 1);
            limits.uncount("a", rate);
        }
        assert_eq!(limits.count("a", rate).remaining, 1);
        hand.advance(TimeDelta::hours(1));
        limits.uncount("a", rate);
        limits.uncount("unknown", rate);
        assert_eq!(limits.look("a", rate).remaining, 2, "nobody has more than the burst");
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
    fn callers_with_a_full_burst_are_forgotten() {
        let (limits, hand) = limits();
        let rate = Rate::new(60, 1);
        for caller in 0..SWEEP_EVERY - 1 {
            let _ = limits.count(&caller.to_string(), rate);
        }
        hand.advance(TimeDelta::minutes(5));
        let _ = limits.count("one more", rate);
        assert_eq!(limits.lock().full_at.len(), 1);
    }

    #[test]
    fn a_rate_by_the_hour_gives_one_back_in_its_part_of_an_hour() {
        let (limits, hand) = limits();
        let rate = Rate::per_hour(20);
        for left in (0..20).rev() {
            assert_eq!(limits.count("a", rate).remaining, left);
        }
        assert_eq!(limits.count("a", rate).retry_after, Some(180));
        hand.advance(TimeDelta::minutes(3));
        assert_eq!(limits.count("a", rate).retry_after, None);
        assert_eq!(limits.count("a", rate).retry_after, Some(180));
    }

    #[test]
    fn a_changed_rate_applies_to_known_callers() {
        let (limits, _hand) = limits();
        for _ in 0..10 {
            let _ = limits.count("a", Rate::new(1, 10));
        }
        assert_eq!(limits.count("a", Rate::new(60, 2)).retry_after, Some(1));
    }

    /// A flood of addresses with one request each does not reset the counter of another caller.
    #[test]
    fn beyond_the_maximum_callers_with_fewest_requests_are_forgotten() {
        let mut counters = Counters::default();
        let spent = ("spent".to_owned(), 60 * SECOND);
        counters.full_at = (1..=50).map(|n: i64| (n.to_string(), n)).chain([spent]).collect();
        counters.since_sweep = SWEEP_EVERY - 1;
        counters.sweep(0, 10);
        assert_eq!(counters.full_at.len(), 10);
        assert!(counters.full_at.contains_key("spent") && !counters.full_at.contains_key("41"));
    }
}
