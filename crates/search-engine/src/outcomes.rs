//! The last success and the last failure of each account at the search engine.
//!
//! Kept in the process, because reading must not write to the database.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::error::SearchEngineError;

/// At this number of accounts, accounts without a request for [`FORGOTTEN_AFTER`] are dropped.
const MANY: usize = 10_000;

/// The age of outcomes that may be dropped.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::days(1);

/// The reason of a failed request, without the search engine's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The stored grant has ended.
    GrantEnded,
    /// The grant does not allow reading.
    ScopeMissing,
    /// The account may not read a site.
    SiteRefused,
    /// The request was invalid.
    QuestionRefused,
    /// The search engine refuses this deployment.
    Misconfigured,
    /// The quota is used up.
    Quota,
    /// No answer in time.
    Unreachable,
}

impl From<&SearchEngineError> for FailureKind {
    fn from(error: &SearchEngineError) -> Self {
        match error {
            SearchEngineError::Disconnected(_) => Self::GrantEnded,
            SearchEngineError::ScopeMissing(_) => Self::ScopeMissing,
            SearchEngineError::PermissionLost(_) | SearchEngineError::SiteRefused { .. } => Self::SiteRefused,
            SearchEngineError::InvalidRequest(_) => Self::QuestionRefused,
            SearchEngineError::Misconfigured(_) => Self::Misconfigured,
            SearchEngineError::Unavailable { quota: true, .. } => Self::Quota,
            SearchEngineError::Unavailable { .. } => Self::Unreachable,
        }
    }
}

/// The last outcomes of an account's requests, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LastOutcomes {
    /// Time of the last success.
    pub success: Option<DateTime<Utc>>,
    /// Time and reason of the last failure.
    pub failure: Option<(DateTime<Utc>, FailureKind)>,
}

impl LastOutcomes {
    fn at(&self) -> Option<DateTime<Utc>> {
        self.success.max(self.failure.map(|(at, _)| at))
    }
}

/// The last outcomes, by account.
#[derive(Debug, Default)]
pub(super) struct Outcomes(Mutex<HashMap<Uuid, LastOutcomes>>);

impl Outcomes {
    /// Records the outcome of a request.
    pub fn note<T>(&self, account: Uuid, outcome: &Result<T, SearchEngineError>, now: DateTime<Utc>) {
        let mut held = self.lock();
        if held.len() >= MANY {
            held.retain(|_, last| last.at().is_some_and(|at| now - at < FORGOTTEN_AFTER));
        }
        let last = held.entry(account).or_default();
        match outcome {
            Ok(_) => last.success = Some(now),
            Err(error) => last.failure = Some((now, error.into())),
        }
    }

    /// Returns the last outcomes of an account.
    pub fn of(&self, account: Uuid) -> LastOutcomes {
        self.lock().get(&account).copied().unwrap_or_default()
    }

    /// Drops the outcomes of an account.
    pub fn forget(&self, account: Uuid) {
        self.lock().remove(&account);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, LastOutcomes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_leaves_the_last_failure_known() {
        let (outcomes, account) = (Outcomes::default(), Uuid::from_u128(1));
        let now = DateTime::from_timestamp(1_790_000_000, 0).unwrap();
        let later = now + TimeDelta::minutes(1);
        assert_eq!(outcomes.of(account), LastOutcomes::default());
        outcomes.note(account, &Err::<(), _>(SearchEngineError::unavailable("away")), now);
        outcomes.note(account, &Ok(()), later);
        let failure = Some((now, FailureKind::Unreachable));
        assert_eq!(outcomes.of(account), LastOutcomes { success: Some(later), failure });
        outcomes.forget(account);
        assert_eq!(outcomes.of(account), LastOutcomes::default());
    }
}
