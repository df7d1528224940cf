//! The settings: their names, defaults and allowed values. They come from one file, overridden by environment variables.

use std::net::SocketAddr;

use api::versions::{RELEASES, Release};
use chrono::NaiveDate;
use search_engine::Patience;
use seo::Patience as SeoPatience;
use serde::{Deserialize, Serialize};

mod annotations;
mod check;
mod connections;
mod cors;
mod idempotency;
mod identity;
mod introspection;
mod load;
mod log;
mod mail;
mod metrics;
mod plans;
mod price;
mod rate_limit;
mod secret;
mod sign_in;
mod units;

pub use annotations::Annotations;
pub use connections::Connections;
pub use cors::Cors;
pub use idempotency::{Idempotency, ReplayStore};
pub use identity::{Identity, Registration};
pub use introspection::Introspection;
pub use load::{ConfigError, load};
pub use log::Log;
pub use mail::Mail;
pub use metrics::Metrics;
pub use plans::{Billing, PlanTerms, Plans};
pub use price::{Interval, Price, in_major_unit};
pub use rate_limit::RateLimit;
pub use secret::Secret;
pub use sign_in::SignIn;
pub use units::{Bytes, Seconds};

/// All settings. [`Config::default`] is a complete service on loopback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address to listen on. Port 0 selects any free port.
    pub listen: SocketAddr,
    /// The service's public root URL, without a trailing slash. Defaults to the bound address.
    pub base_url: Option<String>,
    /// Limits on open connections.
    pub connections: Connections,
    /// Pages of other origins.
    pub cors: Cors,
    /// Folder for the database and the generated key.
    pub data_dir: String,
    /// Page where a plan is bought. Defaults to `base_url` + `/subscribe`.
    pub subscribe_url: Option<String>,
    /// The database.
    pub database: Database,
    /// Redis, for several replicas.
    pub redis: Redis,
    /// Sign-in.
    pub identity: Identity,
    /// The search engine.
    pub search_engine: SearchEngine,
    /// Providers of SEO data.
    pub seo: Seo,
    /// The simulated search engine and providers.
    pub simulator: Simulator,
    /// Rate limits per user.
    pub rate_limit: RateLimit,
    /// Cache of upstream responses.
    pub cache: Cache,
    /// Replays of writes.
    pub idempotency: Idempotency,
    /// Annotations.
    pub annotations: Annotations,
    /// The log.
    pub log: Log,
    /// Metrics for operators.
    pub metrics: Metrics,
    /// Mail to people with local accounts.
    pub mail: Mail,
    /// The tool-protocol endpoint.
    pub mcp: Mcp,
    /// Encryption of stored secrets.
    pub secrets: Secrets,
    /// Enforcement of plans.
    pub billing: Billing,
    /// The terms of each plan.
    pub plans: Plans,
    /// The versions of the API. Not a setting. Code that starts a service, such as a test, may serve others.
    #[serde(skip)]
    pub releases: Releases,
}

/// The versions of the API, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct Releases(pub &'static [Release]);

impl Default for Releases {
    fn default() -> Self {
        Self(RELEASES)
    }
}

impl PartialEq for Releases {
    /// Releases are known by their dates.
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().map(|release| release.date).eq(other.0.iter().map(|release| release.date))
    }
}

/// The service's own database.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// `sqlite:…` or `postgres://…`. Defaults to `SQLite` in the data folder.
    pub url: Option<String>,
    /// Maximum number of connections.
    pub max_connections: u32,
}

/// The warning at start and in health where [`Redis`] is set.
pub const REDIS_UNUSED: &str =
    "redis.url is set and has no effect yet: each process keeps its own rate limits and its own cache.";

/// Shared counters and cache for several replicas.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redis {
    /// `redis://…`. Without it they are kept in the process.
    pub url: Option<String>,
}

/// The search engine. Without URLs, it is the real one if `client_id` is set, otherwise the simulated one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchEngine {
    /// The root before `/webmasters/v3`.
    pub api_url: Option<String>,
    /// Authorization endpoint.
    pub authorize_url: Option<String>,
    /// Token endpoint.
    pub token_url: Option<String>,
    /// Revocation endpoint.
    pub revoke_url: Option<String>,
    /// User-info endpoint.
    pub userinfo_url: Option<String>,
    /// The service's client at the search engine.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<Secret>,
    /// Maximum number of requests in flight per site.
    pub max_in_flight: u32,
    /// Maximum burst of requests, per site and per account.
    pub bucket: u32,
    /// Maximum requests per second beyond the burst, per site and per account.
    pub refill_per_second: u32,
    /// Timeouts and retry delays. Not a setting. Code that starts a service, such as a test, may shorten them.
    #[serde(skip)]
    pub patience: Patience,
}

/// Providers of SEO data. Without a URL, a provider is the simulated one beside the simulated search engine, otherwise the real one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seo {
    /// Provider A.
    pub provider_a: SeoProvider,
    /// Provider B.
    pub provider_b: SeoProvider,
    /// Time limits. Not a setting. Code that starts a service, such as a test, may shorten them.
    #[serde(skip)]
    pub patience: SeoPatience,
}

/// One provider of SEO data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeoProvider {
    /// The root before `/v3`.
    pub url: Option<String>,
}

/// The simulated search engine and providers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Simulator {
    /// Address of the simulator inside `serve`.
    pub listen: SocketAddr,
    /// Seed of the simulated data.
    pub seed: u64,
    /// The simulated current day. Defaults to today in `America/Los_Angeles`.
    pub today: Option<NaiveDate>,
    /// Least time from a request to its response, in milliseconds.
    pub latency_ms: u64,
    /// Faults to inject, each `KIND:RATE`.
    pub fail: Vec<String>,
    /// Choices where sources about the real search engine disagree.
    pub conflicts: Vec<String>,
}

/// Cache of upstream responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Maximum memory.
    pub max_bytes: Bytes,
    /// Lifetime of a response, at most six hours.
    pub ttl: Seconds,
}

/// The tool-protocol endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// The root before `/mcp`. Defaults to `base_url`.
    pub url: Option<String>,
}

/// Encryption of stored secrets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Secrets {
    /// 64 hex digits. Defaults to a key that is generated once and stored in the data folder.
    pub key: Option<Secret>,
    /// The key before the current one. It only opens values that are not resealed yet.
    pub previous_key: Option<Secret>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            base_url: None,
            connections: Connections::default(),
            cors: Cors::default(),
            data_dir: "data".to_owned(),
            subscribe_url: None,
            database: Database::default(),
            redis: Redis::default(),
            identity: Identity::default(),
            search_engine: SearchEngine::default(),
            seo: Seo::default(),
            simulator: Simulator::default(),
            rate_limit: RateLimit::default(),
            cache: Cache::default(),
            idempotency: Idempotency::default(),
            annotations: Annotations::default(),
            log: Log::default(),
            metrics: Metrics::default(),
            mail: Mail::default(),
            mcp: Mcp::default(),
            secrets: Secrets::default(),
            billing: Billing::default(),
            plans: Plans::default(),
            releases: Releases::default(),
        }
    }
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, max_connections: 8 }
    }
}

impl Default for SearchEngine {
    fn default() -> Self {
        Self {
            api_url: None,
            authorize_url: None,
            token_url: None,
            revoke_url: None,
            userinfo_url: None,
            client_id: None,
            client_secret: None,
            max_in_flight: 16,
            bucket: 60,
            refill_per_second: 18,
            patience: Patience::default(),
        }
    }
}

impl Default for Simulator {
    fn default() -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { listen, seed: 7, today: None, latency_ms: 0, fail: Vec::new(), conflicts: Vec::new() }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self { max_bytes: Bytes(256 * 1024 * 1024), ttl: Seconds(6 * 60 * 60) }
    }
}

impl Config {
    /// The database URL, or its default.
    #[must_use]
    pub fn database_url(&self) -> String {
        self.database.url.clone().unwrap_or_else(|| format!("sqlite://{}/sightline.db?mode=rwc", self.data_dir))
    }

    /// Returns whether the search engine is the simulated one: neither its URLs nor a client at the real one are configured.
    #[must_use]
    pub fn simulates_search_engine(&self) -> bool {
        self.search_engine.api_url.is_none() && self.search_engine.client_id.is_none()
    }

    /// Returns whether people can connect search accounts. The real search engine knows no client without credentials.
    #[must_use]
    pub fn connects_search_accounts(&self) -> bool {
        let engine = &self.search_engine;
        self.simulates_search_engine() || (engine.client_id.is_some() && engine.client_secret.is_some())
    }

    /// Returns whether the embedded issuer signs people in.
    #[must_use]
    pub fn embeds_issuer(&self) -> bool {
        self.identity.issuer.is_none()
    }

    /// Returns whether demo people may sign in without a page (on loopback only; the issuer checks addresses).
    #[must_use]
    pub fn demo_sign_in(&self) -> bool {
        self.identity.demo_sign_in.unwrap_or_else(|| self.simulates_search_engine())
    }

    /// The page where a plan is bought.
    #[must_use]
    pub fn subscribe_url(&self, base_url: &str) -> String {
        self.subscribe_url.clone().unwrap_or_else(|| format!("{base_url}/subscribe"))
    }

    /// The page of plans that the navigation leads to, if plans limit access.
    #[must_use]
    pub fn plans_page(&self, base_url: &str) -> Option<String> {
        self.billing.enabled.then(|| self.subscribe_url(base_url))
    }

    /// The root of the tool-protocol endpoint.
    #[must_use]
    pub fn mcp_url(&self, base_url: &str) -> String {
        self.mcp.url.clone().unwrap_or_else(|| base_url.to_owned())
    }
}
