//! Errors of services, independent of HTTP, and their only mapping to the API's error codes.

use std::{borrow::Cow, collections::HashSet};

use api::{
    error::{ApiError, Code},
    models::Role,
};
use chrono::{DateTime, NaiveDate, Utc};
use common::compute::Died;
use sea_orm::{DbErr, SqlErr};
use search_engine::{PlanError, TroubleKind};
use seo::{AccountRefusal, Exhausted};
use store::unavailable;
use uuid::Uuid;

mod remedy;
mod reporting;

pub use self::remedy::{Disconnected, Disconnection, Lack, Responsible};
pub use self::reporting::{RequestId, caught, finished, unanswered, with_plans};

/// Seconds to wait before retrying when the service is overloaded.
const OVERLOADED_RETRY: u64 = 2;

/// The reason why a service operation failed.
///
/// [`Error::code`] and [`Error::hint`] may be shown to the caller. [`Error::Internal`] has no hint, and its text goes to the
/// log only.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The resource does not exist, is not tracked or is not visible to the caller. Callers cannot tell the three apart.
    #[error("not found")]
    NotFound,
    /// Like `NotFound`, for an id given in a parameter or body field.
    #[error("not found: {hint}")]
    NoSuch {
        /// Names the parameter or field. It does not reveal whether the id exists for somebody else.
        hint: String,
    },
    /// The caller has deleted their data while the request was under way.
    #[error("the caller has left")]
    CallerGone,
    /// The plan does not include the feature.
    #[error("the plan does not include this")]
    SubscriptionRequired {
        /// The person whose plan it is, who must act.
        by: Responsible,
        /// The feature or amount that the plan lacks.
        lack: Lack,
    },
    /// The caller's role on the property is too low.
    #[error("the role is too low, {needed:?} is needed")]
    RoleTooLow {
        /// The lowest role that is allowed.
        needed: Role,
        /// The body field that names the property, where the path does not.
        at: Option<String>,
    },
    /// A parameter or body field is invalid.
    #[error("{hint}")]
    InvalidRequest {
        /// Names the parameter or field and the allowed values.
        hint: String,
    },
    /// A filter cannot be answered exactly.
    #[error("filter too complex: {0}")]
    FilterTooComplex(String),
    /// The requested data does not exist for the search type.
    #[error("not available for the search type: {0}")]
    NotAvailableForSearchType(String),
    /// No search account is connected, or its grant cannot be used.
    #[error("the search account cannot be used: {:?}", .0.reason)]
    SearchAccountDisconnected(Disconnected),
    /// The search engine does not let the search account read the site.
    #[error("the search engine refuses the site")]
    SearchSiteRefused {
        /// The time of the first refusal since the site was last read.
        since: DateTime<Utc>,
        /// Seconds until the search engine is asked again.
        retry_after: u64,
    },
    /// No day of the window is counted yet, so a file of its rows would be empty.
    #[error("no day of the window is counted yet")]
    NotFinalYet {
        /// The last final day.
        last_final: NaiveDate,
        /// True if the question also counts days that are not final.
        counts_all: bool,
    },
    /// The plan tracks fewer properties than requested.
    #[error("the plan tracks {allowed} properties, {asked} were asked for")]
    PropertyQuotaExceeded {
        /// The field that names properties to track.
        field: &'static str,
        /// Properties the plan tracks.
        allowed: u32,
        /// Properties that would be tracked.
        asked: usize,
    },
    /// The search engine does not respond, or asks to retry later.
    #[error("the search engine is unavailable: {trouble:?}")]
    SearchEngineUnavailable {
        /// Seconds to wait.
        retry_after: u64,
        /// The reason.
        trouble: TroubleKind,
    },
    /// The service limits its own requests to the search engine, and one had no turn in time.
    #[error("a request to the search engine was not sent")]
    NotSent {
        /// Seconds to wait.
        retry_after: u64,
        /// True if the quota that this service gives itself is used up.
        of_quota: bool,
    },
    /// No credentials are stored for the provider.
    #[error("the provider is not connected")]
    ProviderNotConnected,
    /// The provider does not let the account in.
    #[error("the provider rejected the credentials: {0:?}")]
    ProviderRejectedCredentials(AccountRefusal),
    /// Too many attempts: the limit, and the seconds to wait.
    #[error("too many attempts: {0}")]
    TooMany(String, u64),
    /// The account at the provider has no credit left.
    #[error("the provider is out of credit: {0:?}")]
    ProviderOutOfCredit(Exhausted),
    /// The provider does not respond, or asks to retry later.
    #[error("the provider is unavailable")]
    ProviderUnavailable {
        /// Seconds to wait.
        retry_after: u64,
        /// True if the provider limits the rate of requests.
        limited: bool,
    },
    /// The `If-Match` precondition failed.
    #[error("the record has changed")]
    PreconditionFailed,
    /// The service is overloaded. Nothing was done.
    #[error("overloaded: {0}")]
    Overloaded(String),
    /// The database cannot answer at the moment ([`store::unavailable`]). A write whose commit was under way may have been done.
    #[error("the database is unavailable: {0}")]
    DatabaseUnavailable(#[source] DbErr),
    /// An internal fault. The text goes to the log only.
    #[error("{0}")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Advice on trouble with the search engine.
fn wait(trouble: TroubleKind, seconds: u64) -> String {
    let cause = match trouble {
        TroubleKind::Quota => "The search engine's quota for this search account or site is used up.",
        TroubleKind::Unreachable => "The search engine does not answer.",
        TroubleKind::Misconfigured => {
            "The search engine refuses this service; its operator finds the reason in the service's log."
        }
    };
    format!("{cause} Try again in {seconds} seconds.")
}

impl Error {
    /// Invalid input. `hint` names the parameter or field and the allowed values.
    pub fn invalid(hint: impl Into<String>) -> Self {
        Self::InvalidRequest { hint: hint.into() }
    }

    /// Checks that every id in `named`, the values of the body's `field`, is in `known`. `what` describes the allowed ids in
    /// the error message.
    pub fn check_named(field: &str, named: &[Uuid], known: &HashSet<Uuid>, what: &str) -> Result<(), Self> {
        match named.iter().position(|id| !known.contains(id)) {
            None => Ok(()),
            Some(index) => Err(Self::NoSuch { hint: format!("{field}[{index}]: is not one of {what}") }),
        }
    }

    /// An internal fault with a description for the log.
    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(source.into())
    }

    /// The code in the API's table of error codes.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound | Self::NoSuch { .. } => Code::NotFound,
            Self::CallerGone => Code::Unauthorized,
            Self::SubscriptionRequired { .. } => Code::SubscriptionRequired,
            Self::RoleTooLow { .. } => Code::Forbidden,
            Self::InvalidRequest { .. } => Code::InvalidRequest,
            Self::FilterTooComplex(_) => Code::FilterTooComplex,
            Self::NotAvailableForSearchType(_) => Code::NotAvailableForSearchType,
            Self::SearchAccountDisconnected(_) => Code::SearchAccountDisconnected,
            Self::SearchSiteRefused { .. } => Code::SearchSiteRefused,
            Self::NotFinalYet { .. } => Code::NotFinalYet,
            Self::PropertyQuotaExceeded { .. } => Code::PropertyQuotaExceeded,
            Self::SearchEngineUnavailable { .. } | Self::NotSent { .. } => Code::SearchEngineUnavailable,
            Self::ProviderNotConnected => Code::ProviderNotConnected,
            Self::ProviderRejectedCredentials(_) => Code::ProviderRejectedCredentials,
            Self::TooMany(..) => Code::RateLimited,
            Self::ProviderOutOfCredit(_) => Code::ProviderOutOfCredit,
            Self::ProviderUnavailable { .. } => Code::ProviderUnavailable,
            Self::PreconditionFailed => Code::PreconditionFailed,
            Self::Overloaded(_) | Self::DatabaseUnavailable(_) => Code::Unavailable,
            Self::Internal(_) => Code::Internal,
        }
    }

    /// Advice to the caller on how to resolve the error.
    #[must_use]
    pub fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::NotFound | Self::Internal(_) | Self::Overloaded(_) | Self::DatabaseUnavailable(_) => return None,
            Self::CallerGone => "You have deleted your data here; sign in again to start afresh.".into(),
            Self::SubscriptionRequired { by, lack } => lack.way_out(by).into(),
            Self::RoleTooLow { needed, at } => {
                let place = at.as_ref().map_or_else(|| "This".to_owned(), |field| format!("{field}: this"));
                format!("{place} needs the role {} on the property.", role_name(*needed)).into()
            }
            Self::NoSuch { hint }
            | Self::InvalidRequest { hint }
            | Self::TooMany(hint, _)
            | Self::FilterTooComplex(hint)
            | Self::NotAvailableForSearchType(hint) => hint.as_str().into(),
            Self::SearchAccountDisconnected(account) => account.way_out().into(),
            Self::SearchSiteRefused { since, retry_after } => format!(
                "The search engine has not let your search account read this site since {}. Give the account access there, then \
                 sync; the site is asked about again in {retry_after} seconds at the soonest.",
                since.format("%Y-%m-%d %H:%M UTC")
            )
            .into(),
            Self::NotFinalYet { last_final, counts_all } => {
                let or_all = if *counts_all {
                    ", or leave the comparison out"
                } else {
                    ", or send dataState=all without a comparison for what is counted so far"
                };
                format!("The last day with final numbers is {last_final}. Ask for days up to it{or_all}.").into()
            }
            Self::PropertyQuotaExceeded { field, allowed, asked } => {
                format!("{field}: the plan tracks at most {allowed} properties; this would track {asked}.").into()
            }
            Self::SearchEngineUnavailable { retry_after, trouble } => wait(*trouble, *retry_after).into(),
            Self::NotSent { retry_after, of_quota: true } => {
                format!("This service has used up its quota at the search engine. Try again in {retry_after} seconds.").into()
            }
            Self::NotSent { retry_after, .. } => format!(
                "The service keeps within the search engine's quota for this search account, and other requests were first. Try again in \
                 {retry_after} seconds."
            )
            .into(),
            Self::ProviderUnavailable { retry_after, limited } => {
                let cause = if *limited { "limits the rate of requests" } else { "does not answer" };
                format!("The provider {cause}. Try again in {retry_after} seconds.").into()
            }
            Self::ProviderNotConnected => {
                "Store your own credentials for the provider first: PUT /api/integrations/provider-a or provider-b.".into()
            }
            Self::ProviderRejectedCredentials(refusal) => refusal.way_out().into(),
            Self::ProviderOutOfCredit(exhausted) => exhausted.way_out().into(),
            Self::PreconditionFailed => {
                "If-Match: the record has changed; list the records again and repeat the change with its new etag."
                    .into()
            }
        })
    }

    /// Seconds after which the same request may succeed, for `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::SearchSiteRefused { retry_after, .. }
            | Self::SearchEngineUnavailable { retry_after, .. }
            | Self::NotSent { retry_after, .. }
            | Self::ProviderUnavailable { retry_after, .. }
            | Self::TooMany(_, retry_after) => Some(*retry_after),
            Self::Overloaded(_) => Some(OVERLOADED_RETRY),
            Self::DatabaseUnavailable(_) => Some(unavailable::RETRY_AFTER),
            _ => None,
        }
    }
}

/// Internal faults are logged here, because their text is not sent to the caller.
impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match &error {
            Error::Internal(why) => tracing::error!(error = &**why as &dyn std::error::Error, "internal error: {why}"),
            Error::Overloaded(text) => tracing::warn!("overloaded: {text}"),
            Error::DatabaseUnavailable(why) => tracing::warn!(error = %why, "the database is unavailable"),
            _ => {}
        }
        let told = Self { retry_after: error.retry_after(), ..Self::new(error.code()) };
        match error.hint() {
            Some(hint) => told.hint(hint),
            None => told,
        }
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Editor => "editor",
        Role::Admin => "admin",
        Role::Owner => "owner",
    }
}

impl From<PlanError> for Error {
    fn from(PlanError::TooComplex(hint): PlanError) -> Self {
        Self::FilterTooComplex(hint)
    }
}

impl From<Died> for Error {
    fn from(error: Died) -> Self {
        Self::internal(error)
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Database(error) => error.into(),
            store::Error::Refused(hint) => Self::InvalidRequest { hint },
            store::Error::Broken(why) => Self::Internal(why),
        }
    }
}

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        if unavailable::is_unavailable(&error) {
            return Self::DatabaseUnavailable(error);
        }
        match error.sql_err() {
            // The owner of the property, or the caller, was deleted after the request was admitted.
            Some(SqlErr::ForeignKeyConstraintViolation(text)) if text.contains("_property_id") => Self::NotFound,
            Some(SqlErr::ForeignKeyConstraintViolation(_)) => Self::CallerGone,
            _ => Self::Internal(Box::new(error)),
        }
    }
}
