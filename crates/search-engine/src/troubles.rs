//! The last trouble of each account with the search engine, until a request succeeds.
//!
//! Kept in the process, because reading must not write to the database. Another replica learns of it by its own requests.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::error::SearchEngineError;

/// Trouble that nobody has met for this long is over.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::hours(1);

/// At this number of entries, ended ones are dropped.
const MANY: usize = 10_000;

/// The reason why the search engine gives no data, although the grant is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// The quota of the site or of the account is used up.
    Quota,
    /// No answer in time.
    Unreachable,
    /// The search engine refuses this deployment.
    Misconfigured,
}

/// Trouble that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// The reason.
    pub kind: TroubleKind,
    /// The time of the first failure.
    pub since: DateTime<Utc>,
    /// True if a question about a site met it. Reading the list of sites does not end a quota of questions.
    of_question: bool,
    /// The time at which it is over, if nothing fails again.
    until: DateTime<Utc>,
}

/// The current troubles, by account.
#[derive(Debug, Default)]
pub struct Troubles(Mutex<HashMap<Uuid, Trouble>>);

impl Troubles {
    /// Records the outcome of a request. `of_question` is true for a question about a site.
    pub fn note<T>(
        &self,
        account: Uuid,
        of_question: bool,
        outcome: &Result<T, SearchEngineError>,
        now: DateTime<Utc>,
    ) {
        let (kind, lasts) = match outcome {
            Ok(_) => return self.succeeded(account, of_question),
            Err(SearchEngineError::Unavailable { quota: true, retry_after, .. }) => {
                (TroubleKind::Quota, TimeDelta::from_std(*retry_after).unwrap_or(FORGOTTEN_AFTER))
            }
            Err(SearchEngineError::Unavailable { .. }) => (TroubleKind::Unreachable, FORGOTTEN_AFTER),
            Err(SearchEngineError::Misconfigured(_)) => (TroubleKind::Misconfigured, FORGOTTEN_AFTER),
            Err(_) => return,
        };
        let mut held = self.lock();
        if held.len() >= MANY {
            held.retain(|_, trouble| trouble.until > now);
        }
        let since =
            held.get(&account).filter(|last| last.kind == kind && last.until > now).map_or(now, |last| last.since);
        held.insert(account, Trouble { kind, since, of_question, until: now + lasts });
    }

    /// Returns the trouble of an account, if it has not ended.
    #[must_use]
    pub fn of(&self, account: Uuid, now: DateTime<Utc>) -> Option<Trouble> {
        self.lock().get(&account).copied().filter(|trouble| trouble.until > now)
    }

    /// Drops the trouble of an account.
    pub fn forget(&self, account: Uuid) {
        self.lock().remove(&account);
    }

    fn succeeded(&self, account: Uuid, of_question: bool) {
        let mut held = self.lock();
        let stays = |trouble: &Trouble| trouble.kind == TroubleKind::Quota && trouble.of_question && !of_question;
        if held.get(&account).is_some_and(|trouble| !stays(trouble)) {
            held.remove(&account);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Trouble>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn quota() -> Result<(), SearchEngineError> {
        Err(SearchEngineError::Unavailable { retry_after: Duration::from_mins(15), quota: true, detail: String::new() })
    }

    #[test]
    fn a_success_ends_trouble_of_its_own_kind() {
        let (troubles, account) = (Troubles::default(), Uuid::from_u128(1));
        let now = DateTime::from_timestamp(1_790_000_000, 0).unwrap();
        let kind = |at| troubles.of(account, at).map(|trouble| trouble.kind);
        troubles.note(account, true, &quota(), now);
        troubles.note(account, false, &Ok(()), now);
        assert_eq!(kind(now), Some(TroubleKind::Quota));
        assert_eq!(troubles.of(Uuid::nil(), now), None, "another account");
        assert_eq!(kind(now + TimeDelta::minutes(15)), None, "the time is over");
        troubles.note(account, true, &Ok(()), now);
        assert_eq!(kind(now), None);

        troubles.note(account, true, &Err::<(), _>(SearchEngineError::unavailable("away")), now);
        let later = now + TimeDelta::minutes(1);
        troubles.note(account, false, &Err::<(), _>(SearchEngineError::unavailable("away")), later);
        assert_eq!(troubles.of(account, later).map(|trouble| trouble.since), Some(now), "since the first failure");
        troubles.note(account, false, &Ok(()), later);
        assert_eq!(kind(later), None);
    }
}
