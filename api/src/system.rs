//! Health, connection health and feature flags.

use chrono::{DateTime, Utc};
use macros::api_trait;
use poem_openapi::{Enum, Object, payload::Json};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered},
    error::ApiError,
    security::Caller,
};

/// Health, connection health and feature flags.
#[api_trait(tag = System, routes = SystemRoutes)]
pub trait SystemApi: Send + Sync + 'static {
    /// Health of the service and its dependencies
    ///
    /// `ok` when everything answers, `degraded` when the service works without a part of it, `down` (with status 503) when the
    /// database does not answer.
    #[get("/api/health")]
    #[access(Public)]
    async fn get_health(&self) -> Result<HealthResponse, ApiError>;

    /// Health of the search-engine accounts
    ///
    /// One entry for each search-engine account that the caller has connected.
    #[get("/api/accounts/health")]
    async fn list_search_account_health(&self, caller: Caller) -> Answered<Answer<Vec<SearchAccountHealth>>>;

    /// Flags that clients may show
    ///
    /// What this deployment and the caller's plan offer, so that a client can leave out what would be refused.
    #[get("/api/feature-flags")]
    async fn get_feature_flags(&self, caller: Caller) -> Answered<Answer<FeatureFlags>>;
}

/// The two answers of the health check; both have the same body.
#[derive(poem_openapi::ApiResponse)]
pub enum HealthResponse {
    /// The service answers.
    #[oai(status = 200)]
    Serving(Json<HealthAnswer>),
    /// The database does not answer.
    #[oai(status = 503)]
    Down(Json<HealthAnswer>),
}

/// The health answer.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct HealthAnswer {
    /// Health of the service and of what it depends on.
    pub data: Health,
}

/// Health of the service and of what it depends on.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Health {
    /// The whole.
    pub status: HealthStatus,
    /// The server's version.
    #[oai(validator(max_length = 50))]
    pub version: String,
    /// Each dependency.
    pub dependencies: Vec<DependencyHealth>,
}

/// One dependency.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct DependencyHealth {
    /// Which one.
    pub name: DependencyName,
    /// Whether it answers.
    pub status: HealthStatus,
    /// How long the check took, in milliseconds.
    pub latency_ms: Option<u64>,
}

/// What the service depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "camelCase")]
pub enum DependencyName {
    /// The service's own records.
    Database,
    /// The issuer of access tokens.
    IdentityProvider,
    /// The search engine's API.
    SearchEngine,
}

/// A state of health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum HealthStatus {
    /// Answers.
    Ok,
    /// Works without a part of it.
    Degraded,
    /// Does not answer.
    Down,
}

/// The connection to one search-engine account.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SearchAccountHealth {
    /// The account's id.
    pub id: Uuid,
    /// The e-mail address the search engine knows it by.
    #[oai(validator(max_length = 320))]
    pub email: Option<String>,
    /// Whether the stored grant works.
    pub status: SearchAccountStatus,
    /// What to do, when something is to be done.
    #[oai(validator(max_length = 500))]
    pub hint: Option<String>,
    /// Properties that this account gives access to.
    pub properties: u64,
    /// When the state was last established.
    pub checked_at: DateTime<Utc>,
}

/// The state of a search-engine account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum SearchAccountStatus {
    /// The grant works.
    Connected,
    /// The search engine refused the grant; its owner must connect again.
    ReconnectRequired,
    /// The search engine did not answer, so the state is not known.
    Unreachable,
}

/// Flags that clients may show.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the wire")]
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct FeatureFlags {
    /// Whether plans limit access on this deployment.
    pub billing: bool,
    /// Whether share links can be made with the caller's plan.
    pub share_links: bool,
    /// Whether access can be granted to others with the caller's plan.
    pub team: bool,
    /// Whether the tool-protocol endpoint is open to the caller.
    pub mcp: bool,
    /// Whether SEO providers can be connected with the caller's plan.
    pub seo_providers: bool,
    /// Whether replays of idempotent writes are stored.
    pub idempotent_writes: bool,
}
