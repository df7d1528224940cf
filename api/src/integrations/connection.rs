//! Connections to the outside and their state.

use chrono::{DateTime, Utc};
use poem_openapi::{Enum, Object};

use crate::system::SearchAccountHealth;

/// One of the two SEO data providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum Provider {
    /// Provider A.
    A,
    /// Provider B.
    B,
}

crate::enum_param!(Provider);

/// Everything outside that the caller has connected.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct IntegrationsStatus {
    /// Search-engine accounts.
    pub search_accounts: Vec<SearchAccountHealth>,
    /// Provider A.
    pub provider_a: ProviderConnection,
    /// Provider B.
    pub provider_b: ProviderConnection,
}

/// The connection to an SEO provider; but for `provider` and `connected`, everything is absent when there is none.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ProviderConnection {
    /// Which provider.
    pub provider: Provider,
    /// Whether credentials are stored.
    pub connected: bool,
    /// What tells the credentials apart: provider A's login, or the last four characters of provider B's key.
    #[oai(validator(max_length = 320))]
    pub account: Option<String>,
    /// What the provider says to them, as last seen.
    pub state: Option<CredentialState>,
    /// What to do, when something is to be done.
    #[oai(validator(max_length = 500))]
    pub hint: Option<String>,
    /// What is left to spend, where the provider says so.
    pub balance: Option<ProviderBalance>,
    /// When the state was last established.
    pub checked_at: Option<DateTime<Utc>>,
    /// When credentials were first stored.
    pub created_at: Option<DateTime<Utc>>,
    /// When they were last replaced.
    pub updated_at: Option<DateTime<Utc>>,
}

/// What a provider says to stored credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum CredentialState {
    /// They work.
    Ok,
    /// The provider does not know them.
    Invalid,
    /// They are right, but the account must be verified with the provider first.
    Unverified,
    /// They are right, but the account's plan with the provider has no access to its API.
    PlanLacksAccess,
    /// They are right, but nothing is left to spend.
    OutOfCredit,
    /// The provider asked to wait; try again in a minute.
    RateLimited,
    /// The provider did not answer, so nothing is known.
    Unreachable,
}

/// What is left to spend.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct ProviderBalance {
    /// How much.
    pub amount: f64,
    /// Of what.
    pub unit: CreditUnit,
}

/// What a provider bills in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum CreditUnit {
    /// US dollars (provider A).
    Usd,
    /// Units of the plan (provider B).
    Units,
}

/// Credentials for provider A.
#[derive(Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields)]
pub struct ProviderACredentials {
    /// The API login.
    #[oai(validator(min_length = 1, max_length = 320, pattern = r"^[^\x00-\x1F\x7F:]+$"))]
    pub login: String,
    /// The API password.
    #[oai(write_only, validator(min_length = 1, max_length = 255, pattern = r"^[^\x00-\x1F\x7F]+$"))]
    pub password: String,
}

/// Credentials for provider B.
#[derive(Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderBCredentials {
    /// The API key.
    #[oai(write_only, validator(min_length = 1, max_length = 512, pattern = r"^[\x21-\x7E]+$"))]
    pub api_key: String,
}

impl std::fmt::Debug for ProviderACredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderACredentials").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ProviderBCredentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderBCredentials").finish_non_exhaustive()
    }
}
