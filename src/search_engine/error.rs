//! What can go wrong with the search engine, by meaning rather than by status.

use std::time::Duration;

/// Why the search engine did not answer. The texts are for the log; none of them leaves the service.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SearchEngineError {
    /// The stored grant is dead; only its owner can make a new one.
    #[error("the stored grant was refused: {0}")]
    Disconnected(String),
    /// The grant lacks the scope that reading needs; its owner must consent again.
    #[error("the grant lacks a scope: {0}")]
    ScopeMissing(String),
    /// The account may not do what was asked.
    #[error("no permission: {0}")]
    PermissionLost(String),
    /// The account may not read the site, or might not a moment ago.
    #[error("the site is refused: {detail}")]
    SiteRefused {
        /// When the search engine is asked again.
        retry_after: Duration,
        /// For the log.
        detail: String,
    },
    /// The request was refused as it stands: a bug of ours, or a filter that the search engine does not take.
    #[error("the request was refused: {0}")]
    InvalidRequest(String),
    /// The deployment is set up wrongly (API switched off, unknown client).
    #[error("the search engine is misconfigured: {0}")]
    Misconfigured(String),
    /// No answer in time, or the quota is used up.
    #[error("no answer from the search engine: {detail}")]
    Unavailable {
        /// When trying again makes sense.
        retry_after: Duration,
        /// For the log.
        detail: String,
    },
}

impl SearchEngineError {
    /// No answer; worth trying again soon.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::Unavailable { retry_after: Duration::from_secs(5), detail: detail.into() }
    }
}

/// Why a question cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// No exact plan within the limits; says what to simplify.
    #[error("{0}")]
    TooComplex(String),
}

/// Why a reading failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The search engine did not answer.
    #[error(transparent)]
    SearchEngine(#[from] SearchEngineError),
    /// A list that the exact answer needs whole was cut.
    #[error("{0}")]
    TooComplex(String),
}
