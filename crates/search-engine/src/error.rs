//! Errors of the search engine, grouped by meaning instead of HTTP status.

use std::time::Duration;

use chrono::{DateTime, Utc};
use common::compute::Died;

/// The reason why the search engine did not return data. The texts go to the log only.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchEngineError {
    /// The stored grant has ended. Only its owner can grant access again.
    #[error("the stored grant was refused: {0}")]
    Disconnected(String),
    /// The grant lacks the scope for reading. Its owner must consent again.
    #[error("the grant lacks a scope: {0}")]
    ScopeMissing(String),
    /// The account is not permitted to make the request.
    #[error("no permission: {0}")]
    PermissionLost(String),
    /// The account may not read the site, or was refused recently.
    #[error("the site is refused: {detail}")]
    SiteRefused {
        /// The time of the first refusal since the site was last read.
        since: DateTime<Utc>,
        /// Time until the search engine is asked again.
        retry_after: Duration,
        /// Details for the log.
        detail: String,
    },
    /// The request was refused as invalid: a bug of this service, or a filter that the search engine does not accept.
    #[error("the request was refused: {0}")]
    InvalidRequest(String),
    /// The deployment is misconfigured (API switched off, unknown client).
    #[error("the search engine is misconfigured: {0}")]
    Misconfigured(String),
    /// The request was not sent: this service limits its own requests, and its turn comes after its deadline.
    #[error("waited {} s for the pace; its turn comes in {} s", waited.as_secs(), retry_after.as_secs())]
    NotSent {
        /// The time that it waited.
        waited: Duration,
        /// Time after which a retry makes sense.
        retry_after: Duration,
        /// True if the quota of all requests of this service is used up.
        of_quota: bool,
    },
    /// The request was not sent, because the last ones have failed.
    #[error("the search engine has failed and is not asked for {} s", retry_after.as_secs())]
    Shut {
        /// Time until it is asked again.
        retry_after: Duration,
    },
    /// No response in time, or the quota is used up.
    #[error("no answer from the search engine: {detail}")]
    Unavailable {
        /// Time after which a retry makes sense.
        retry_after: Duration,
        /// True if the quota is used up.
        quota: bool,
        /// Details for the log.
        detail: String,
    },
}

impl SearchEngineError {
    /// No response. The request can be retried soon.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::Unavailable { retry_after: Duration::from_secs(5), quota: false, detail: detail.into() }
    }
}

/// The reason why a question cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No exact plan fits the limits. The text says what to simplify.
    #[error("{0}")]
    TooComplex(String),
}

/// The reason why a reading failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The search engine did not return data.
    #[error(transparent)]
    SearchEngine(#[from] SearchEngineError),
    /// A list that the exact result needs in full was truncated.
    #[error("{0}")]
    TooComplex(String),
}

impl From<Died> for SearchEngineError {
    fn from(died: Died) -> Self {
        Self::unavailable(died.to_string())
    }
}
