//! Connections to external services and their state.

use poem_openapi::{Enum, Object};

use crate::{models::Timestamp, system::SearchAccountHealth};

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

/// All external accounts that the caller has connected.
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

/// The connection to an SEO provider. Without one, only `provider` and `connected` are present.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ProviderConnection {
    /// The provider.
    pub provider: Provider,
    /// True if credentials are stored.
    pub connected: bool,
    /// Identifies the credentials: provider A's login, or the last four characters of provider B's key.
    #[oai(validator(max_length = 320))]
    pub account: Option<String>,
    /// State of the credentials at the last check.
    pub state: Option<CredentialState>,
    /// Time since which the credentials are in this state.
    pub since: Option<Timestamp>,
    /// Advice, if the caller must act.
    #[oai(validator(max_length = 500))]
    pub hint: Option<String>,
    /// Remaining balance: the balance of the last test, less the charges here since. Absent if the provider reports none.
    pub balance: Option<ProviderBalance>,
    /// Time of the last test of the credentials, or of the last question that showed their state.
    pub checked_at: Option<Timestamp>,
    /// Time when credentials were first stored.
    pub created_at: Option<Timestamp>,
    /// Time when the credentials were last replaced.
    pub updated_at: Option<Timestamp>,
}

/// State of stored credentials at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum CredentialState {
    /// The credentials work.
    Ok,
    /// The provider does not know the credentials.
    Invalid,
    /// The credentials are correct, but the account must be verified with the provider first.
    Unverified,
    /// The credentials are correct, but the account's plan with the provider has no access to its API.
    PlanLacksAccess,
    /// The credentials are correct, but no balance is left.
    OutOfCredit,
    /// The provider has blocked the account.
    Blocked,
    /// The provider limits the rate of requests; try again in a minute.
    RateLimited,
    /// The provider did not answer, so the state is unknown.
    Unreachable,
}

/// Remaining balance.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct ProviderBalance {
    /// Amount, in `unit`.
    pub amount: f64,
    /// Unit of the amount.
    pub unit: CreditUnit,
}

/// Billing unit of a provider.
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
    /// The API login. Blanks around it are ignored.
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
    /// The API key: printable ASCII. White space around it is ignored.
    #[oai(write_only, validator(min_length = 1, max_length = 512))]
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
