//! The settings: their names, defaults and allowed values. They come from one file, overridden by environment variables.

use std::net::SocketAddr;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::search_engine::Patience;

mod check;
mod connections;
mod idempotency;
mod load;
mod log;
mod rate_limit;
mod secret;
mod units;

pub use connections::Connections;
pub use idempotency::{Idempotency, ReplayStore};
pub use load::{ConfigError, load};
pub use log::{Log, LogFormat};
pub use rate_limit::RateLimit;
pub use secret::Secret;
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
    /// The log.
    pub log: Log,
    /// The tool-protocol endpoint.
    pub mcp: Mcp,
    /// Encryption of stored secrets.
    pub secrets: Secrets,
    /// Enforcement of plans.
    pub billing: Billing,
    /// The terms of each plan.
    pub plans: Plans,
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

/// Shared counters and cache for several replicas.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Redis {
    /// `redis://…`. Without it they are kept in the process.
    pub url: Option<String>,
}

/// Sign-in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    /// An `OpenID` Connect issuer. Defaults to the embedded issuer.
    pub issuer: Option<String>,
    /// The required audience of access tokens. Defaults to `base_url`.
    pub audience: Option<String>,
    /// The service's own client at the issuer, for browser sign-in only.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<Secret>,
    /// True if demo people sign in without a page. Defaults to true exactly if the search engine is the simulated one.
    pub demo_sign_in: Option<bool>,
}

/// The URLs of the search engine. If all are absent, the simulated one is used.
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

/// Providers of SEO data. An absent URL selects the simulated provider.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Seo {
    /// Provider A.
    pub provider_a: SeoProvider,
    /// Provider B.
    pub provider_b: SeoProvider,
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
    /// Delay of every response, in milliseconds.
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
}

/// Enforcement of plans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Billing {
    /// `false` gives all features to everyone, for self-hosting.
    pub enabled: bool,
    /// Days for which a new user has the `pro` plan.
    pub trial_days: u32,
}

/// The terms of each plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plans {
    /// The plan `free`.
    pub free: PlanTerms,
    /// The plan `pro`.
    pub pro: PlanTerms,
    /// The plan `agency`.
    pub agency: PlanTerms,
}

/// The terms of a plan. An absent setting keeps the plan's default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own that an operator switches")]
pub struct PlanTerms {
    /// Properties that can be tracked at once.
    pub tracked_properties: u32,
    /// Public links to a dashboard.
    pub share_links: bool,
    /// Team members.
    pub team: bool,
    /// The tool-protocol endpoint.
    pub tool_endpoint: bool,
    /// Keyword research and backlinks from a connected provider.
    pub seo_providers: bool,
    /// Sustained requests per minute, if different from `rate_limit.per_minute`.
    pub per_minute: Option<u32>,
    /// Burst, if different from `rate_limit.burst`.
    pub burst: Option<u32>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            base_url: None,
            connections: Connections::default(),
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
            log: Log::default(),
            mcp: Mcp::default(),
            secrets: Secrets::default(),
            billing: Billing::default(),
            plans: Plans::default(),
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

impl Default for Billing {
    fn default() -> Self {
        Self { enabled: true, trial_days: 14 }
    }
}

impl Default for Plans {
    fn default() -> Self {
        let included = PlanTerms {
            tracked_properties: 25,
            share_links: true,
            team: true,
            tool_endpoint: true,
            seo_providers: true,
            per_minute: None,
            burst: None,
        };
        let free = PlanTerms {
            tracked_properties: 1,
            share_links: false,
            team: false,
            seo_providers: false,
            ..included.clone()
        };
        Self { free, pro: included.clone(), agency: PlanTerms { tracked_properties: 250, ..included } }
    }
}

impl Config {
    /// The database URL, or its default.
    #[must_use]
    pub fn database_url(&self) -> String {
        self.database.url.clone().unwrap_or_else(|| format!("sqlite://{}/sightline.db?mode=rwc", self.data_dir))
    }

    /// Returns whether the search engine is the simulated one.
    #[must_use]
    pub fn simulates_search_engine(&self) -> bool {
        self.search_engine.api_url.is_none()
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

    /// The root of the tool-protocol endpoint.
    #[must_use]
    pub fn mcp_url(&self, base_url: &str) -> String {
        self.mcp.url.clone().unwrap_or_else(|| base_url.to_owned())
    }
}
