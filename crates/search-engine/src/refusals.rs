//! Sites that the search engine refused to an account, and the time until each is asked again.
//!
//! Kept in the process, because reading must not write to the database. An entry that is lost at a restart or unknown to
//! another replica costs one request.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::wire::SiteUrl;

/// Pause after the first refusal of a site. It doubles with each further refusal.
const FIRST_PAUSE: TimeDelta = TimeDelta::minutes(1);

/// The longest pause.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(1);

/// At this number of entries, old ones are dropped.
const MANY: usize = 10_000;

/// A site that was refused when it was last asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The time of the first refusal since the site was last read.
    pub since: DateTime<Utc>,
    /// The time until which the site is not asked about.
    pub until: DateTime<Utc>,
    pause: TimeDelta,
}

impl Refusal {
    /// Returns the remaining pause, or `None` if the site may be asked about.
    #[must_use]
    pub fn wait(&self, now: DateTime<Utc>) -> Option<Duration> {
        (self.until - now).to_std().ok().filter(|left| !left.is_zero())
    }
}

/// The current refusals, by account and site.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<(Uuid, String), Refusal>>);

impl Refusals {
    /// Returns the refusal of a site, if it was refused when it was last asked about.
    #[must_use]
    pub fn of(&self, account: Uuid, site: &SiteUrl) -> Option<Refusal> {
        self.lock().get(&(account, site.0.clone())).copied()
    }

    /// Records a refusal, whose pause begins. Concurrent requests that were refused together count once.
    pub fn note(&self, account: Uuid, site: &SiteUrl, now: DateTime<Utc>) -> Refusal {
        let mut held = self.lock();
        if held.len() >= MANY {
            held.retain(|_, refusal| refusal.until + LONGEST_PAUSE > now);
        }
        let fresh = Refusal { since: now, until: now + FIRST_PAUSE, pause: FIRST_PAUSE };
        let next = |last: &mut Refusal| {
            if last.until <= now {
                let pause = (last.pause * 2).min(LONGEST_PAUSE);
                *last = Refusal { pause, until: now + pause, ..*last };
            }
        };
        *held.entry((account, site.0.clone())).and_modify(next).or_insert(fresh)
    }

    /// Drops the refusals of a site, because it was read or the search engine lists it.
    pub fn forget(&self, account: Uuid, site: &SiteUrl) {
        self.lock().remove(&(account, site.0.clone()));
    }

    /// Drops the refusals of all sites of an account.
    pub fn forget_account(&self, account: Uuid) {
        self.lock().retain(|(refused, _), _| *refused != account);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Uuid, String), Refusal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_doubles_the_pause_up_to_an_hour_and_an_answer_ends_it() {
        let (refusals, account, site) = (Refusals::default(), Uuid::from_u128(1), SiteUrl("https://a.test/".into()));
        let mut now = DateTime::from_timestamp(1_790_000_000, 0).unwrap();
        let first = now;
        let wait = |now| refusals.of(account, &site).and_then(|refusal| refusal.wait(now));
        assert_eq!(wait(now), None);
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = Duration::from_mins(minutes);
            for _ in 0..3 {
                assert_eq!(refusals.note(account, &site, now).wait(now), Some(pause));
            }
            assert_eq!(wait(now), Some(pause));
            now += pause;
            assert_eq!(wait(now), None);
        }
        assert_eq!(refusals.of(account, &site).map(|refusal| refusal.since), Some(first));
        let minute = Some(Duration::from_mins(1));
        assert_eq!(refusals.note(Uuid::from_u128(2), &site, now).wait(now), minute, "another account");
        refusals.forget(account, &site);
        assert_eq!(refusals.of(account, &site), None);
        let again = refusals.note(account, &site, now);
        assert_eq!((again.wait(now), again.since), (minute, now));
    }

    #[test]
    fn refusals_that_are_long_over_are_forgotten_when_there_are_many() {
        let (refusals, now) = (Refusals::default(), DateTime::from_timestamp(1_790_000_000, 0).unwrap());
        let site = |n: usize| SiteUrl(format!("https://{n}.test/"));
        for n in 0..MANY {
            refusals.note(Uuid::nil(), &site(n), now);
        }
        refusals.note(Uuid::nil(), &site(MANY), now + FIRST_PAUSE + LONGEST_PAUSE);
        assert_eq!(refusals.lock().len(), 1);
    }
}
