//! The only source of the current time. All other code receives a [`Clock`].

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, NaiveDate, SubsecRound as _, TimeDelta, Utc};
use chrono_tz::America::Los_Angeles;

/// Returns the current time: the system's in production, a manually set one in tests.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>);

/// Moves the clock made by [`Clock::manual`].
#[derive(Clone)]
pub struct Hand(Arc<Mutex<DateTime<Utc>>>);

impl Clock {
    /// The system's clock, truncated to milliseconds. Every database stores milliseconds, so a response equals what is
    /// stored.
    #[must_use]
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the one home of the current time")]
        let now = || Utc::now().trunc_subsecs(3);
        Self(Arc::new(now))
    }

    /// A clock that stays at `start` until its [`Hand`] moves it.
    #[must_use]
    pub fn manual(start: DateTime<Utc>) -> (Self, Hand) {
        let hand = Hand(Arc::new(Mutex::new(start)));
        let read = hand.clone();
        (Self(Arc::new(move || read.time())), hand)
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        (self.0)()
    }

    /// The current day at the search engine. Its dates are in `America/Los_Angeles`, with daylight saving.
    #[must_use]
    pub fn pacific_today(&self) -> NaiveDate {
        self.now().with_timezone(&Los_Angeles).date_naive()
    }
}

impl Hand {
    /// Moves the clock by `delta`.
    pub fn advance(&self, delta: TimeDelta) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += delta;
    }

    fn time(&self) -> DateTime<Utc> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}
