//! The last success and the last failure of an account at the search engine.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::error::SearchEngineError;

/// The reason of a failed request, without the search engine's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
            // What was not sent is not recorded.
            SearchEngineError::Unavailable { quota: true, .. } | SearchEngineError::NotSent { .. } => Self::Quota,
            SearchEngineError::Unavailable { .. } | SearchEngineError::Shut { .. } => Self::Unreachable,
        }
    }
}

/// A failed request, without the search engine's own text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failed {
    /// The reason.
    pub kind: FailureKind,
    /// The time after which a retry makes sense, if no answer or a used-up quota is the reason.
    pub retry_after: Duration,
}

impl From<&SearchEngineError> for Failed {
    fn from(error: &SearchEngineError) -> Self {
        let retry_after = match error {
            SearchEngineError::Unavailable { retry_after, .. } => *retry_after,
            _ => Duration::ZERO,
        };
        Self { kind: error.into(), retry_after }
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
    pub(super) fn note(&mut self, failed: Option<Failed>, now: DateTime<Utc>) {
        match failed {
            None => self.success = Some(now),
            Some(failed) => self.failure = Some((now, failed.kind)),
        }
    }

    /// Returns the outcomes as they are stated: none is later than now, although the clock may have been set back since.
    pub(super) fn stated(self, now: DateTime<Utc>) -> Self {
        Self {
            success: self.success.map(|at| at.min(now)),
            failure: self.failure.map(|(at, kind)| (at.min(now), kind)),
        }
    }
}
