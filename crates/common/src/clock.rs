//! The only source of the current time. All other code receives a [`Clock`].
//!
//! The wall clock may be set back or forward. What is stored or stated ends at its time on the wall clock. What is kept in memory begins and
//! ends at a [`Moment`], and its age is [`Moment::since`].

use std::{
    ops::Add,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use chrono::{DateTime, NaiveDate, SubsecRound as _, TimeDelta, Utc};
use chrono_tz::America::Los_Angeles;

/// A time on the wall clock, and on one that is never set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    wall: DateTime<Utc>,
    /// Since the start of the process. Negative before it.
    running: TimeDelta,
}

/// Returns the current time: the system's in production, a manually set one in tests.
#[derive(Clone)]
pub struct Clock {
    read: Arc<dyn Fn() -> Moment + Send + Sync>,
    runs: bool,
}

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
        let running = move || TimeDelta::from_std(start.elapsed()).unwrap_or(TimeDelta::MAX);
        Self { read: Arc::new(move || Moment { wall: wall(), running: running() }), runs: true }
    }

    /// A clock that stays at `start` until its [`Hand`] moves it.
    #[must_use]
    pub fn manual(start: DateTime<Utc>) -> (Self, Hand) {
        let hand = Hand(Arc::new(Mutex::new(Moment::starting_at(start))));
        let read = hand.clone();
        (Self { read: Arc::new(move || read.time()), runs: false }, hand)
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        self.moment().wall
    }

    /// The current time on both clocks.
    #[must_use]
    pub fn moment(&self) -> Moment {
        (self.read)()
    }

    /// Returns whether it runs by itself, so that it may be compared with other clocks.
    #[must_use]
    pub fn runs(&self) -> bool {
        self.runs
    }

    /// The current day at the search engine. Its dates are in `America/Los_Angeles`, with daylight saving.
    #[must_use]
    pub fn pacific_today(&self) -> NaiveDate {
        self.now().with_timezone(&Los_Angeles).date_naive()
    }
}

/// Returns how far the clock of a server, which `ask` reads, is ahead of `clock`. It is wrong by at most half the time of the question.
///
/// # Errors
/// The server does not say its time.
pub async fn offset<E>(clock: &Clock, ask: impl Future<Output = Result<DateTime<Utc>, E>>) -> Result<TimeDelta, E> {
    let before = clock.now();
    let theirs = ask.await?;
    Ok(theirs - (before + (clock.now() - before) / 2))
}

impl Moment {
    /// The start of a process at this time.
    #[must_use]
    pub fn starting_at(wall: DateTime<Utc>) -> Self {
        Self { wall, running: TimeDelta::zero() }
    }

    /// The time on the wall clock.
    #[must_use]
    pub fn wall(self) -> DateTime<Utc> {
        self.wall
    }

    /// Returns the moment of a time on the wall clock, seen from this one. A time to come was read before the clock was set back, and counts
    /// as this moment.
    #[must_use]
    pub fn back_at(self, wall: DateTime<Utc>) -> Self {
        self + (wall.min(self.wall) - self.wall)
    }

    /// Returns the end of what was made at `made_at`, as [`Self::back_at`] reads it, and lasts `lifetime`.
    #[must_use]
    pub fn end_of(self, made_at: DateTime<Utc>, lifetime: TimeDelta) -> Self {
        self.back_at(made_at) + lifetime
    }

    /// Returns the time since an earlier moment: the larger of what both clocks say.
    #[must_use]
    pub fn since(self, earlier: Self) -> TimeDelta {
        (self.wall - earlier.wall).max(self.running - earlier.running)
    }

    /// Returns the time until it has come on either clock. `None` if it has come.
    #[must_use]
    pub fn left(self, now: Self) -> Option<Duration> {
        (-now.since(self)).to_std().ok().filter(|left| !left.is_zero())
    }

    /// Returns whether it has come on either clock.
    #[must_use]
    pub fn is_over(self, now: Self) -> bool {
        self.left(now).is_none()
    }
}

impl Add<TimeDelta> for Moment {
    type Output = Self;

    fn add(self, time: TimeDelta) -> Self {
        Self { wall: self.wall + time, running: self.running + time }
    }
}

impl Hand {
    /// Lets time pass.
    ///
    /// # Panics
    /// `delta` is negative. [`Self::set`] sets the wall clock back.
    pub fn advance(&self, delta: TimeDelta) {
        assert!(delta >= TimeDelta::zero(), "no time passes backwards: {delta}");
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
    fn an_age_is_the_larger_of_what_both_clocks_say() {
        // Minutes: those that pass before a jump, the jump, those that pass after it, the age, and what is left of an hour.
        for (before, jump, after, age, left) in [
            (0, 0, 0, 0, 60),
            (0, 0, 59, 59, 1),
            (0, 0, 60, 60, 0),
            (0, -90, 59, 59, 1),
            (0, -90, 60, 60, 0),
            (30, -90, 0, 30, 30),
            (30, -90, 29, 59, 1),
            (30, -20, 20, 50, 10),
            (30, 20, 0, 50, 10),
            (30, 20, 10, 60, 0),
            (0, 60, 0, 60, 0),
            (0, 24 * 60, 0, 24 * 60, 0),
        ] {
            let (clock, hand) = Clock::manual(DateTime::UNIX_EPOCH);
            let made = clock.moment();
            hand.advance(TimeDelta::minutes(before));
            hand.set(TimeDelta::minutes(jump));
            hand.advance(TimeDelta::minutes(after));
            let (now, end) = (clock.moment(), made + TimeDelta::hours(1));
            let case = format!("{before} {jump} {after}");
            assert_eq!(now.since(made), TimeDelta::minutes(age), "{case}");
            assert_eq!(end.left(now), (left > 0).then(|| Duration::from_mins(left)), "{case}");
            assert_eq!(end.is_over(now), left == 0, "{case}");
        }
    }

    #[test]
    fn a_time_that_was_read_before_the_clock_was_set_back_counts_as_now() {
        let (clock, hand) = Clock::manual(DateTime::UNIX_EPOCH);
        let (hour, made_at) = (TimeDelta::hours(1), clock.now());
        hand.advance(TimeDelta::minutes(20));
        let end = clock.moment().end_of(made_at, hour);
        assert_eq!(end.left(clock.moment()), Some(Duration::from_mins(40)));
        hand.set(TimeDelta::minutes(-50));
        assert_eq!(end.left(clock.moment()), Some(Duration::from_mins(40)));
        assert_eq!(clock.moment().end_of(made_at, hour).left(clock.moment()), Some(Duration::from_hours(1)));
    }

    #[test]
    #[should_panic(expected = "no time passes backwards")]
    fn a_hand_lets_no_time_pass_backwards() {
        Clock::manual(DateTime::UNIX_EPOCH).1.advance(TimeDelta::seconds(-1));
    }
}
