//! A site that the search engine refused to an account, and the time until it is asked again.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// Pause after the first refusal of a site. It doubles with each further refusal.
const FIRST_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// The longest pause.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(1);

/// A site that was refused when it was last asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedSite {
    /// The time of the first refusal since the site was last read.
    pub since: DateTime<Utc>,
    /// The time until which the site is not asked about.
    pub until: DateTime<Utc>,
    pause: TimeDelta,
}

impl RefusedSite {
    /// Returns the refusal after another one. Concurrent requests that were refused together count once.
    pub(super) fn after(last: Option<Self>, now: DateTime<Utc>) -> Self {
        match last {
            None => Self { since: now, until: now + FIRST_PAUSE, pause: FIRST_PAUSE },
            Some(last) if last.wait(now).is_some() => last,
            Some(last) => {
                let pause = (last.pause * 2).min(LONGEST_PAUSE);
                Self { pause, until: now + pause, ..last }
            }
        }
    }

    /// The time of the last refusal.
    pub(super) fn at(&self) -> DateTime<Utc> {
        self.until - self.pause
    }

    /// Returns the remaining pause, or `None` if the site may be asked about. A pause that begins later is from before the clock was set back.
    #[must_use]
    pub fn wait(&self, now: DateTime<Utc>) -> Option<Duration> {
        (self.until - now).to_std().ok().filter(|left| !left.is_zero() && self.at() <= now)
    }

    /// Returns whether the pause ended long ago.
    pub(super) fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.until + LONGEST_PAUSE <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_doubles_the_pause_up_to_an_hour() {
        let mut now = DateTime::from_timestamp(1_790_000_000, 0).unwrap();
        let (first, mut refusal) = (now, None);
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = Duration::from_mins(minutes);
            for _ in 0..3 {
                let after = RefusedSite::after(refusal, now);
                assert_eq!(after.wait(now), Some(pause));
                refusal = Some(after);
            }
            now += pause;
            assert_eq!(refusal.unwrap().wait(now), None);
        }
        let early = now - TimeDelta::hours(2);
        assert_eq!(refusal.unwrap().wait(early), None, "the clock was set back");
        assert_eq!(RefusedSite::after(refusal, early).wait(early), Some(Duration::from_hours(1)));
        let refusal = refusal.unwrap();
        assert_eq!(refusal.since, first);
        assert!(!refusal.is_over(now) && refusal.is_over(now + LONGEST_PAUSE));
    }
}
