//! Health, connection health and feature flags.

use macros::{QueryParams, api_trait};
use poem_openapi::{Enum, Object, payload::Json};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Data, Rendered},
    error::ApiError,
    models::Timestamp,
    params::Params,
    security::Caller,
};

/// Health, connection health and feature flags.
#[api_trait(tag = System, routes = SystemRoutes)]
pub trait SystemApi: Send + Sync + 'static {
    /// Health of the service and its dependencies
    ///
    /// The status is `ok` when everything answers, `degraded` when the service works without a part of it, and `down`
    /// (with status 503) when the database does not answer. With `probe=live` the status is always 200. `dependencies` has the
    /// status of each part, and what it means for the service that a part is away.
    #[get("/api/health")]
    #[access(Public)]
    async fn get_health(&self, params: Params<HealthParams>) -> Result<HealthResponse, ApiError>;

    /// Health of the search-engine accounts
    ///
    /// Returns one entry for each search-engine account that the caller has connected. The list of sites of each connected
    /// account is read now. The tag of the answer changes with the state of the accounts, and not with the times of checks.
    #[get("/api/accounts/health")]
    #[scope(SearchRead)]
    #[etag(Weak)]
    async fn list_search_account_health(&self, caller: Caller) -> Answered<Rendered<Data<Vec<SearchAccountHealth>>>>;

    /// Flags that clients may show
    ///
    /// Features of this deployment and of the caller's plan, true only where they work. A client can hide what would be
    /// refused.
    #[get("/api/feature-flags")]
    #[scope(none)]
    async fn get_feature_flags(&self, caller: Caller) -> Answered<Answer<FeatureFlags>>;
}

/// Parameters of the health check.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct HealthParams {
    /// `live` answers 200 as long as the process runs, for a probe that restarts it. `ready` answers 503 while the database
    /// does not answer and while the service stops, for a balancer. Both have the same body.
    #[param(default = "ready", example = "live")]
    pub probe: HealthProbe,
}

/// A question of those who watch the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum HealthProbe {
    /// Asks if the process runs.
    Live,
    /// Asks if requests can be served.
    Ready,
}

crate::enum_param!(HealthProbe);

/// The two responses of the health check, with the same body.
#[derive(poem_openapi::ApiResponse)]
pub enum HealthResponse {
    /// The service answers.
    #[oai(status = 200)]
    Serving(Json<HealthAnswer>),
    /// The database does not answer, or the service is about to stop.
    #[oai(status = 503)]
    Down(Json<HealthAnswer>),
}

/// The health answer.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct HealthAnswer {
    /// Health of the service and its dependencies.
    pub data: Health,
}

/// Health of the service and its dependencies.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Health {
    /// True as long as the process runs.
    pub live: bool,
    /// True if requests can be served: the database answers, and the service is not about to stop.
    pub ready: bool,
    /// Overall status.
    pub status: HealthStatus,
    /// The server's version.
    #[oai(validator(max_length = 50))]
    pub version: String,
    /// Each dependency that was checked in the last five seconds, and each that is set and not used yet.
    pub dependencies: Vec<DependencyHealth>,
}

/// One dependency.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct DependencyHealth {
    /// The dependency.
    pub name: DependencyName,
    /// Status of the dependency.
    pub status: DependencyStatus,
    /// Advice, if the operator should act.
    #[oai(validator(max_length = 300))]
    pub hint: Option<String>,
    /// Duration of the check, in milliseconds; absent unless the status is `ok`.
    pub latency_ms: Option<u64>,
    /// Time of the first check that found this status. No check since has found another one.
    pub since: Timestamp,
}

/// Dependencies of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum DependencyName {
    /// The service's own records.
    Database,
    /// The issuer of access tokens.
    IdentityProvider,
    /// The search engine's API.
    SearchEngine,
    /// Redis, for several replicas.
    Redis,
}

/// The state of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum HealthStatus {
    /// Works.
    Ok,
    /// Works without a part of it.
    Degraded,
    /// Does not work: the database does not answer.
    Down,
    /// Is about to stop. It answers until then.
    Stopping,
}

/// The state of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum DependencyStatus {
    /// Answers.
    Ok,
    /// Answers with errors, or takes no writes. The service works without it; without writes, it answers reads.
    Degraded,
    /// Refuses connections, or does not answer within two seconds. The service works without it.
    Unavailable,
    /// Does not answer. The service does not work without it.
    Down,
}

/// The connection to one search-engine account.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SearchAccountHealth {
    /// The account's id.
    pub id: Uuid,
    /// E-mail address of the account at the search engine. Left out for a token without the scope `account`.
    #[oai(validator(max_length = 320))]
    pub email: Option<String>,
    /// State of the stored grant.
    pub status: SearchAccountStatus,
    /// Time since which `status` holds: of `connected` the time of connecting, of trouble that passes the first failure that is known.
    pub since: Option<Timestamp>,
    /// Advice, if the caller must act.
    #[oai(validator(max_length = 500))]
    pub hint: Option<String>,
    /// Number of properties that this account gives access to.
    pub properties: u64,
    /// Sites that the search engine refused to this account when it was last asked about them, by address.
    #[oai(validator(max_items = 1000))]
    pub refused_sites: Vec<RefusedSite>,
    /// Time of the last check.
    pub checked_at: Timestamp,
    /// Time of the last request that the search engine answered for this account, if any is known.
    pub last_success_at: Option<Timestamp>,
    /// The last failure that is known, even if requests have succeeded since.
    pub last_error: Option<SearchAccountFailure>,
}

/// A site that the search engine refuses to an account.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct RefusedSite {
    /// Id of the property.
    pub property_id: Uuid,
    /// Address of the site at the search engine.
    #[oai(validator(max_length = 2048))]
    pub site_url: String,
    /// Time of the first refusal since it was last read.
    pub since: Timestamp,
    /// Advice to the owner, as `search_site_refused` gives it.
    #[oai(validator(max_length = 500))]
    pub hint: String,
}

/// A failed request to the search engine.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct SearchAccountFailure {
    /// Time of the failure.
    pub at: Timestamp,
    /// The failure in words. `hint` has the way out, if somebody must act.
    #[oai(validator(max_length = 300))]
    pub message: String,
}

/// The state of a search-engine account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum SearchAccountStatus {
    /// The grant works.
    Connected,
    /// The search engine refused the grant; the owner must connect again.
    ReconnectRequired,
    /// The grant does not allow reading search data; the owner must connect again and leave that ticked.
    ScopeMissing,
    /// The owner disconnected the account here.
    Disconnected,
    /// The search engine's quota for the account or one of its sites is used up.
    QuotaExceeded,
    /// The search engine did not answer, so the state is unknown.
    Unreachable,
}

/// Flags that clients may show.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the wire")]
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct FeatureFlags {
    /// True if plans limit access on this deployment.
    pub billing: bool,
    /// True if the caller can make share links.
    pub share_links: bool,
    /// True if the caller can make grants to other users.
    pub team: bool,
    /// True if the tool-protocol endpoint is open to the caller.
    pub mcp: bool,
    /// True if the caller can use SEO providers.
    pub seo_providers: bool,
    /// True if responses to idempotent writes are stored for replay.
    pub idempotent_writes: bool,
}
