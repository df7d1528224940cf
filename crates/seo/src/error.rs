//! Errors of the providers, grouped by meaning.

use common::compute::Died;
use telemetry::upstream::UpstreamOutcome;

/// The reason why a provider did not answer a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeoError {
    /// The provider does not let the account in.
    #[error("the provider refuses the account: {0:?}")]
    Refused(AccountRefusal),
    /// No credit is left.
    #[error("the account has no credit: {0:?}")]
    OutOfCredit(Exhausted),
    /// Too many requests.
    #[error("the provider limits the rate of requests for {retry_after} s")]
    RateLimited {
        /// Seconds to wait.
        retry_after: u64,
    },
    /// No answer, or one that cannot be read. The text goes to the log only.
    #[error("no answer from the provider: {0}")]
    Unavailable(String),
    /// The provider does not accept a value.
    #[error("the provider does not accept {0:?}")]
    NotAccepted(Field),
    /// The provider refused a request of ours as wrong. The text goes to the log only.
    #[error("the provider refused a request: {0}")]
    Fault(String),
}

/// The reason why a provider does not let an account in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccountRefusal {
    /// The provider does not know the credentials.
    Wrong,
    /// The account must be verified first.
    Unverified,
    /// The account's plan does not include the question.
    WithoutPlan,
    /// The provider has blocked the account.
    Blocked,
}

/// The credit that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Exhausted {
    /// The balance.
    Balance,
    /// A limit per day that the person has set.
    DailyLimit,
}

/// A value that a person chose and a provider may not accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The country.
    Country,
    /// The language.
    Language,
    /// The keywords.
    Keywords,
    /// The number of rows to skip.
    Offset,
}

impl SeoError {
    /// The outcome of an attempt, for metrics.
    pub(super) fn outcome(&self) -> UpstreamOutcome {
        match self {
            Self::OutOfCredit(_) | Self::RateLimited { .. } => UpstreamOutcome::Quota,
            Self::Refused(_) | Self::NotAccepted(_) | Self::Fault(_) => UpstreamOutcome::Refused,
            Self::Unavailable(_) => UpstreamOutcome::Failed,
        }
    }
}

impl AccountRefusal {
    /// The way out, for the owner of the account.
    #[must_use]
    pub fn way_out(self) -> &'static str {
        match self {
            Self::Wrong => "The provider does not know these credentials. Store credentials that it accepts.",
            Self::Unverified => "The account is not verified yet. Verify it on the provider's site, then try again.",
            Self::WithoutPlan => {
                "The account's plan with the provider does not include this. Change it on the provider's site, then try again."
            }
            Self::Blocked => "The provider has blocked the account. Ask the provider's support.",
        }
    }
}

impl Exhausted {
    /// The way out, for the owner of the account.
    #[must_use]
    pub fn way_out(self) -> &'static str {
        match self {
            Self::Balance => "No credit is left. Top up the account on the provider's site, then try again.",
            Self::DailyLimit => {
                "The daily cost limit that is set for the account on the provider's site is reached. Raise it there, or try again tomorrow."
            }
        }
    }
}

impl From<Died> for SeoError {
    fn from(died: Died) -> Self {
        Self::Unavailable(died.to_string())
    }
}
