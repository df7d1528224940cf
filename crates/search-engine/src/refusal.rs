//! A site that the search engine refused to an account, and the time until it is asked again.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use common::clock::Moment;

/// Pause after the first refusal of a site. It doubles with each further refusal.
const FIRST_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// The longest pause.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(1);

/// A site that was refused when it was last asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefusedSite {
    /// The time of the first refusal since the site was last read.
    pub since: DateTime<Utc>,
    /// The remaining pause. `None` if the site may be asked about.
    pub wait: Option<Duration>,
}

/// The refusals of a site since it was last read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Refusals {
    /// The time of the first.
    pub since: DateTime<Utc>,
    /// The time of the last.
    pub last: Moment,
    /// The time after the last for which the site is not asked about.
    pub pause: TimeDelta,
}

impl Refusals {
    /// Adds a refusal. Concurrent requests that were refused together count once.
    pub fn after(last: Option<Self>, now: Moment) -> Self {
        match last {
            None => Self { since: now.wall(), last: now, pause: FIRST_PAUSE },
            Some(last) if last.wait(now).is_some() => last,
            Some(last) => Self { last: now, pause: (last.pause * 2).min(LONGEST_PAUSE), ..last },
        }
    }

    /// Returns the remaining pause, or `None` if the site may be asked about.
    pub fn wait(&self, now: Moment) -> Option<Duration> {
        (self.last + self.pause).left(now)
    }

    /// Returns them as they are stated. They may have begun before the clock was set back.
    pub fn stated(&self, now: Moment) -> RefusedSite {
        RefusedSite { since: self.since.min(now.wall()), wait: self.wait(now) }
    }

    /// Returns whether the pause ended long ago.
    pub fn is_over(&self, now: Moment) -> bool {
        (self.last + self.pause + LONGEST_PAUSE).is_over(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_doubles_the_pause_up_to_an_hour() {
        let first = DateTime::from_timestamp(1_790_000_000, 0).unwrap();
        let (mut now, mut refusal): (_, Option<Refusals>) = (Moment::starting_at(first), None);
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            for _ in 0..3 {
                let after = Refusals::after(refusal, now);
                assert_eq!(after.wait(now), Some(Duration::from_mins(minutes)));
                refusal = Some(after);
            }
            now = now + TimeDelta::minutes(i64::try_from(minutes).unwrap());
            assert_eq!(refusal.unwrap().wait(now), None);
        }
        let refusal = refusal.unwrap();
        assert_eq!(refusal.since, first);
        assert!(!refusal.is_over(now) && refusal.is_over(now + LONGEST_PAUSE));
    }
}
