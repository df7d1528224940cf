//! What can go wrong in a service, free of HTTP. One mapping, where handlers answer, puts it on the wire.

use std::borrow::Cow;

use sea_orm::DbErr;

/// Why a service did not do what it was asked.
///
/// [`Error::code`] and [`Error::hint`] are fit for the caller; [`Error::Internal`] has neither, its text is for the log.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It does not exist, is not tracked or is not visible to the caller: the three are never told apart.
    #[error("not found")]
    NotFound,
    /// A plan does not include it.
    #[error("the plan does not include this")]
    SubscriptionRequired {
        /// Whether the plan is another person's: the property's owner must act, not the caller.
        owner_must: bool,
    },
    /// The caller's role on the property is too low.
    #[error("the role is too low, {needed} is needed")]
    RoleTooLow {
        /// The least role that suffices.
        needed: &'static str,
    },
    /// A parameter or body field is not allowed as it is.
    #[error("invalid request: {hint}")]
    InvalidRequest {
        /// Names the parameter or field and what is allowed.
        hint: String,
    },
    /// A filter cannot be answered exactly.
    #[error("filter too complex: {0}")]
    FilterTooComplex(String),
    /// The search type lacks what was asked for.
    #[error("not available for the search type: {0}")]
    NotAvailableForSearchType(String),
    /// The search engine refused the stored grant.
    #[error("the search account is disconnected")]
    SearchAccountDisconnected {
        /// Whether the account is another person's: the property's owner must reconnect it.
        owner_must: bool,
    },
    /// The plan tracks fewer properties than asked for.
    #[error("the plan tracks {allowed} properties, {asked} were asked for")]
    PropertyQuotaExceeded {
        /// Properties the plan tracks.
        allowed: u32,
        /// Properties asked for.
        asked: usize,
    },
    /// The search engine does not answer, or says to come back later.
    #[error("the search engine is unavailable")]
    SearchEngineUnavailable {
        /// Seconds to wait.
        retry_after: u64,
    },
    /// No credentials for the provider are stored.
    #[error("the provider is not connected")]
    ProviderNotConnected,
    /// The provider refused the stored credentials.
    #[error("the provider rejected the credentials")]
    ProviderRejectedCredentials,
    /// The provider wants to be paid first.
    #[error("the provider is out of credit")]
    ProviderOutOfCredit,
    /// The provider does not answer, or says to come back later.
    #[error("the provider is unavailable")]
    ProviderUnavailable {
        /// Seconds to wait.
        retry_after: u64,
    },
    /// `If-Match` does not hold.
    #[error("the record has changed")]
    PreconditionFailed,
    /// The operation is not built yet.
    #[error("not implemented")]
    NotImplemented,
    /// A fault of the service. The text is for the log and never leaves.
    #[error("{0}")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A refusal of input; `hint` names the parameter or field and what is allowed.
    pub fn invalid(hint: impl Into<String>) -> Self {
        Self::InvalidRequest { hint: hint.into() }
    }

    /// A fault of the service, described for the log.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }

    /// The `code` of the error body; none where the specification gives none (404, 403, 5xx without a code of their own).
    #[must_use]
    pub fn code(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotFound | Self::RoleTooLow { .. } | Self::Internal(_) => return None,
            Self::SubscriptionRequired { .. } => "subscription_required",
            Self::InvalidRequest { .. } => "invalid_request",
            Self::FilterTooComplex(_) => "filter_too_complex",
            Self::NotAvailableForSearchType(_) => "not_available_for_search_type",
            Self::SearchAccountDisconnected { .. } => "search_account_disconnected",
            Self::PropertyQuotaExceeded { .. } => "property_quota_exceeded",
            Self::SearchEngineUnavailable { .. } => "search_engine_unavailable",
            Self::ProviderNotConnected => "provider_not_connected",
            Self::ProviderRejectedCredentials => "provider_rejected_credentials",
            Self::ProviderOutOfCredit => "provider_out_of_credit",
            Self::ProviderUnavailable { .. } => "provider_unavailable",
            Self::PreconditionFailed => "precondition_failed",
            Self::NotImplemented => "not_implemented",
        })
    }

    /// What the caller can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotFound | Self::Internal(_) | Self::NotImplemented => return None,
            Self::SubscriptionRequired { owner_must: true } => "The owner of the property must subscribe.".into(),
            Self::SubscriptionRequired { owner_must: false } => "Subscribe to a plan that includes this.".into(),
            Self::RoleTooLow { needed } => format!("This needs the role {needed} on the property.").into(),
            Self::InvalidRequest { hint } | Self::FilterTooComplex(hint) | Self::NotAvailableForSearchType(hint) => {
                hint.as_str().into()
            }
            Self::SearchAccountDisconnected { owner_must: true } => {
                "The owner of the property must reconnect the search account.".into()
            }
            Self::SearchAccountDisconnected { owner_must: false } => "Reconnect your search account.".into(),
            Self::PropertyQuotaExceeded { allowed, asked } => {
                format!("propertyIds: the plan tracks {allowed} properties, {asked} were given.").into()
            }
            Self::SearchEngineUnavailable { retry_after } | Self::ProviderUnavailable { retry_after } => {
                format!("Try again in {retry_after} seconds.").into()
            }
            Self::ProviderNotConnected => "Store credentials for the provider first.".into(),
            Self::ProviderRejectedCredentials => "Store credentials that the provider accepts.".into(),
            Self::ProviderOutOfCredit => "Top up the account at the provider.".into(),
            Self::PreconditionFailed => "Read the record again and repeat the change with its new ETag.".into(),
        })
    }

    /// Seconds after which the same request may succeed, for `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::SearchEngineUnavailable { retry_after } | Self::ProviderUnavailable { retry_after } => {
                Some(*retry_after)
            }
            _ => None,
        }
    }
}

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        Self::Internal(Box::new(error))
    }
}
