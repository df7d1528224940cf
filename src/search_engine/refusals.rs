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

/// At this number of entries, those that ended long ago are dropped.
const MANY: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Refusal {
    pause: TimeDelta,
    until: DateTime<Utc>,
}

/// The current refusals, by account and site.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<HashMap<(Uuid, String), Refusal>>);

impl Refusals {
    /// Returns the remaining pause of a site, or `None` if it may be asked.
    #[must_use]
    pub fn standing(&self, account: Uuid, site: &SiteUrl, now: DateTime<Utc>) -> Option<Duration> {
        let held = self.lock();
        let refusal = held.get(&(account, site.0.clone()))?;
        (refusal.until - now).to_std().ok().filter(|left| !left.is_zero())
    }

    /// Records a refusal and returns the pause of the site. Concurrent requests that were refused together count once.
    pub fn note(&self, account: Uuid, site: &SiteUrl, now: DateTime<Utc>) -> Duration {
        let mut held = self.lock();
        if held.len() >= MANY {
            held.retain(|_, refusal| refusal.until + LONGEST_PAUSE > now);
        }
        let fresh = Refusal { pause: FIRST_PAUSE, until: now + FIRST_PAUSE };
        let next = |last: &mut Refusal| {
            if last.until <= now {
                let pause = (last.pause * 2).min(LONGEST_PAUSE);
                *last = Refusal { pause, until: now + pause };
            }
        };
        let refusal = held.entry((account, site.0.clone())).and_modify(next).or_insert(fresh);
        (refusal.until - now).to_std().unwrap_or_default()
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
        assert_eq!(refusals.standing(account, &site, now), None);
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = Duration::from_mins(minutes);
            for _ in 0..3 {
                assert_eq!(refusals.note(account, &site, now), pause);
            }
            assert_eq!(refusals.standing(account, &site, now), Some(pause));
            now += pause;
            assert_eq!(refusals.standing(account, &site, now), None);
        }
        assert_eq!(refusals.note(Uuid::from_u128(2), &site, now), Duration::from_mins(1), "another account");
        refusals.forget(account, &site);
        assert_eq!(refusals.note(account, &site, now), Duration::from_mins(1));
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
