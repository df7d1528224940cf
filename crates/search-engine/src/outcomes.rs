//! The last success and the last failure of an account at the search engine.

use chrono::{DateTime, Utc};

use super::error::SearchEngineError;

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
    /// Records the outcome of a request.
    pub(super) fn note(&mut self, failure: Option<&SearchEngineError>, now: DateTime<Utc>) {
        match failure {
            None => self.success = Some(now),
            Some(error) => self.failure = Some((now, error.into())),
        }
    }

    /// The time of the last request.
    pub(super) fn at(&self) -> Option<DateTime<Utc>> {
        self.success.max(self.failure.map(|(at, _)| at))
    }
}
