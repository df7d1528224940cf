//! The only source of the current time. All other code receives a [`Clock`].
//!
//! The wall clock may be set back or forward. What is stored or stated ends at its time on the wall clock. What must not live longer than
//! promised in memory ends at a [`Moment`].

use std::{
    ops::Add,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use chrono::{DateTime, NaiveDate, SubsecRound as _, TimeDelta, Utc};
use chrono_tz::America::Los_Angeles;

/// A time on the wall clock, and on one that is never set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    wall: DateTime<Utc>,
    /// Since the start of the process.
    running: Duration,
}

/// Returns the current time: the system's in production, a manually set one in tests.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Moment + Send + Sync>);

/// Moves the clock made by [`Clock::manual`].
#[derive(Clone)]
pub struct Hand(Arc<Mutex<Moment>>);

impl Clock {
    /// The system's clock, truncated to milliseconds. Every database stores milliseconds, so a response equals what is
    /// stored.
    #[must_use]
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one home of the current time")]
        let wall = || Utc::now().trunc_subsecs(3);
        let start = Instant::now();
        Self(Arc::new(move || Moment { wall: wall(), running: start.elapsed() }))
    }

    /// A clock that stays at `start` until its [`Hand`] moves it.
    #[must_use]
    pub fn manual(start: DateTime<Utc>) -> (Self, Hand) {
        let hand = Hand(Arc::new(Mutex::new(Moment::starting_at(start))));
        let read = hand.clone();
        (Self(Arc::new(move || read.time())), hand)
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.moment().wall
    }

    /// The current time on both clocks.
    #[must_use]
    pub fn moment(&self) -> Moment {
        (self.0)()
    }

    /// The current day at the search engine. Its dates are in `America/Los_Angeles`, with daylight saving.
    #[must_use]
    pub fn pacific_today(&self) -> NaiveDate {
        self.now().with_timezone(&Los_Angeles).date_naive()
    }
}

impl Moment {
    /// The start of a process at this time.
    #[must_use]
    pub fn starting_at(wall: DateTime<Utc>) -> Self {
        Self { wall, running: Duration::ZERO }
    }

    /// Returns the end of what was made at `made_at`, on the wall clock, and lasts `lifetime`. A time to come was read before the clock was set
    /// back, and counts as now.
    #[must_use]
    pub fn end_of(self, made_at: DateTime<Utc>, lifetime: TimeDelta) -> Self {
        self + (made_at.min(self.wall) + lifetime - self.wall)
    }

    /// Returns whether it has come on either clock.
    #[must_use]
    pub fn is_over(self, now: Self) -> bool {
        self.wall <= now.wall || self.running <= now.running
    }
}

impl Add<TimeDelta> for Moment {
    type Output = Self;

    fn add(self, time: TimeDelta) -> Self {
        Self { wall: self.wall + time, running: self.running + time.to_std().unwrap_or_default() }
    }
}

/// Returns whether `time` is at most `age` ago. A time to come is not: the clock was set back.
#[must_use]
pub fn is_within(now: DateTime<Utc>, time: DateTime<Utc>, age: TimeDelta) -> bool {
    (TimeDelta::zero()..age).contains(&(now - time))
}

impl Hand {
    /// Lets time pass. A negative `delta` sets the clock back.
    pub fn advance(&self, delta: TimeDelta) {
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *now = *now + delta;
    }

    /// Sets the wall clock forward or back by `delta`, while no time passes.
    pub fn set(&self, delta: TimeDelta) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wall += delta;
    }

    /// The time on the wall clock.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.time().wall
    }

    fn time(&self) -> Moment {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_search_engine_where_they_have_23_or_25_hours_and_in_leap_years() {
        for (now, today) in [
            ("2027-03-14T07:59:59Z", "2027-03-13"),
            ("2027-03-14T08:00:00Z", "2027-03-14"),
            ("2027-03-14T10:00:00Z", "2027-03-14"),
            ("2027-03-15T06:59:59Z", "2027-03-14"),
            ("2027-03-15T07:00:00Z", "2027-03-15"),
            ("2027-11-07T06:59:59Z", "2027-11-06"),
            ("2027-11-07T07:00:00Z", "2027-11-07"),
            ("2027-11-07T09:30:00Z", "2027-11-07"),
            ("2027-11-08T07:59:59Z", "2027-11-07"),
            ("2027-11-08T08:00:00Z", "2027-11-08"),
            ("2028-01-01T07:59:59Z", "2027-12-31"),
            ("2028-02-29T07:59:59Z", "2028-02-28"),
            ("2028-02-29T08:00:00Z", "2028-02-29"),
            ("2028-03-01T08:00:00Z", "2028-03-01"),
        ] {
            let (clock, _) = Clock::manual(now.parse().unwrap());
            assert_eq!(clock.pacific_today().to_string(), today, "{now}");
        }
    }

    #[test]
    fn what_ends_on_either_clock_is_over() {
        let (clock, hand) = Clock::manual(DateTime::UNIX_EPOCH);
        let hour = TimeDelta::hours(1);
        let end = || clock.moment() + hour;
        for (jump, passes, is_over) in
            [(0, 59, false), (0, 60, true), (-90, 59, false), (-90, 60, true), (60, 0, true), (30, 30, true)]
        {
            let end = end();
            hand.set(TimeDelta::minutes(jump));
            hand.advance(TimeDelta::minutes(passes));
            assert_eq!(end.is_over(clock.moment()), is_over, "{jump} {passes}");
        }
    }
}
