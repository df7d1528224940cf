//! The settings: their names, defaults and allowed values. They come from one file, overridden by environment variables.
//!
//! A setting is a field with a default, and a row of docs/SETTINGS.md. `table.rs` says what is read from the field.

use std::{net::SocketAddr, path::Path};

use api::versions::{RELEASES, Release};
use common::base_url::BaseUrl;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod annotations;
mod check;
mod connections;
mod cors;
mod database;
mod digests;
mod engine;
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
mod shutdown;
mod sign_in;
mod simulated;
mod table;
mod traces;
mod units;
mod urls;

pub use annotations::Annotations;
pub use connections::Connections;
pub use cors::{Cors, Origin};
pub use database::{Database, Redis};
pub use engine::{EngineQuota, ProviderA, ProviderB, SearchEngine, Seo};
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
pub use secret::{Secret, Secrets};
pub use shutdown::Shutdown;
pub use sign_in::SignIn;
pub use simulated::{Conflict, Fault, Simulator};
pub use table::page;
pub use traces::Traces;
pub use units::{Bytes, Seconds};
pub use urls::{CheckoutUrl, ContactUrl, IdentifierUrl, PageUrl, SecureUrl};

use self::units::HOUR;

/// The allowed roots of the service, in words.
const ROOT: &str = "an https URL without a user name, a password, a path, a query, a fragment and a slash at the end, or an http one on a loopback \
                    address: passwords, cookies and tokens travel to it";

/// All settings. [`Config::default`] is a complete service on loopback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Address to accept requests on. Port 0 takes any free port.
    #[schemars(extend("x-allowed" = "an IP address and a port, such as `127.0.0.1:8090`"))]
    pub listen: SocketAddr,
    /// The service's public root. Links, metadata, token audiences and cookies come from it.
    #[serde(deserialize_with = "urls::secure_root")]
    #[schemars(with = "String", extend("x-allowed" = ROOT, "x-default" = "`http://` + the address bound"))]
    pub base_url: Option<BaseUrl>,
    /// Limits on open connections.
    pub connections: Connections,
    /// Pages of other origins.
    pub cors: Cors,
    /// Folder for the database and the generated key.
    #[schemars(extend("x-allowed" = "the path of a folder"))]
    pub data_dir: String,
    /// Page where a plan is bought. The account page leads there, and so does `/subscribe` if it is elsewhere.
    #[schemars(extend("x-default" = "`base_url` + `/subscribe`"))]
    pub subscribe_url: Option<PageUrl>,
    /// The database.
    pub database: Database,
    /// Redis, for several replicas.
    pub redis: Redis,
    /// How the service stops.
    pub shutdown: Shutdown,
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
    /// Traces for operators.
    pub traces: Traces,
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

/// Cache of upstream responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cache {
    /// Memory for readings of the search engine; a quarter of it for rendered answers. Paid answers of SEO providers take a sixteenth of it
    /// besides, and never less than 16 MiB. By default never more than a quarter of the memory that the process may use, as its control group
    /// says.
    pub max_bytes: Bytes,
    /// Lifetime of cached readings.
    #[schemars(range(min = 1, max = 6 * HOUR))]
    pub ttl: Seconds,
}

/// The tool-protocol endpoint.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Root before `/mcp`, where [assistants](ASSISTANTS.md) reach the tool endpoint. A proxy may lead it to this service under another
    /// host name.
    #[serde(deserialize_with = "urls::secure_root")]
    #[schemars(with = "String", extend("x-allowed" = ROOT, "x-default" = "`base_url`"))]
    pub url: Option<BaseUrl>,
    /// Origins whose pages may call the tool endpoint from a browser, beside this service's own and those of `cors.origins`. Others get 403, and so
    /// does `null` ([origins](design/tools.md#origins)).
    #[schemars(with = "Vec<Origin>", extend("x-allowed" = "origins as for `cors.origins`, such as `https://app.example.org`, with no slash at the end", "x-default" = "the [web assistants](ASSISTANTS.md#web-assistants), \
        and every page on the reader's own machine"))]
    pub origins: Option<Vec<Origin>>,
}

/// The pages of assistants that run in a browser.
const WEB_ASSISTANTS: [&str; 6] = [
    "https://claude.ai",
    "https://claude.com",
    "https://chatgpt.com",
    "https://vscode.dev",
    "https://github.dev",
    "https://playground.ai.cloudflare.com",
];

impl Mcp {
    /// The origins whose pages may call the tool endpoint, and if pages on the reader's own machine may.
    #[must_use]
    pub fn origins(&self) -> (Vec<String>, bool) {
        match &self.origins {
            Some(origins) => (origins.iter().map(|origin| origin.as_str().to_owned()).collect(), false),
            None => (WEB_ASSISTANTS.map(str::to_owned).to_vec(), true),
        }
    }
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
            shutdown: Shutdown::default(),
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
            traces: Traces::default(),
            mail: Mail::default(),
            mcp: Mcp::default(),
            secrets: Secrets::default(),
            billing: Billing::default(),
            plans: Plans::default(),
            releases: Releases::default(),
        }
    }
}

/// The cache of a process with much memory, in bytes.
const MOST_OF_CACHE: u64 = 256 << 20;

/// The part of the memory that the process may use which the cache takes by default.
const PART_OF_CACHE: u64 = 4;

impl Cache {
    /// The default of a process that may use `limit` bytes of memory. The cache is the largest part that grows by use.
    fn within(limit: Option<u64>) -> Self {
        let most = limit.map_or(MOST_OF_CACHE, |limit| MOST_OF_CACHE.min(limit / PART_OF_CACHE));
        Self { max_bytes: Bytes(most), ..Self::default() }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Self { max_bytes: Bytes(MOST_OF_CACHE), ttl: Seconds(6 * 60 * 60) }
    }
}

impl Config {
    /// The database URL, or its default.
    #[must_use]
    pub fn database_url(&self) -> String {
        // The driver decodes the path of its URL, and takes what stands before the first slash for a host.
        let folder = || {
            let here = if Path::new(&self.data_dir).is_absolute() { "" } else { "./" };
            format!("{here}{}", self.data_dir.replace('%', "%25").replace('?', "%3F"))
        };
        self.database.url.clone().unwrap_or_else(|| format!("sqlite://{}/sightline.db?mode=rwc", folder()))
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

    /// The service's public root. `address` is the one that it listens on.
    #[must_use]
    pub fn base_url(&self, address: SocketAddr) -> BaseUrl {
        self.base_url.clone().unwrap_or_else(|| BaseUrl::of_address(address))
    }

    /// The page where a plan is bought.
    #[must_use]
    pub fn subscribe_url(&self, base_url: &BaseUrl) -> String {
        self.subscribe_url.as_ref().map_or_else(|| base_url.join("/subscribe"), ToString::to_string)
    }

    /// The page of plans that the navigation leads to, if plans limit access.
    #[must_use]
    pub fn plans_page(&self, base_url: &BaseUrl) -> Option<String> {
        self.billing.enabled.then(|| self.subscribe_url(base_url))
    }

    /// The page of another service that replaces the page of plans.
    #[must_use]
    pub fn plans_elsewhere(&self, base_url: &BaseUrl) -> Option<&str> {
        let own = base_url.join("/subscribe");
        self.subscribe_url.as_ref().map(PageUrl::as_str).filter(|url| *url != own && self.billing.enabled)
    }

    /// True if people can pay for a plan, here or at the page of another service.
    #[must_use]
    pub fn sells_plans(&self, base_url: &BaseUrl) -> bool {
        self.billing.checkout_url.is_some() || self.plans_elsewhere(base_url).is_some()
    }

    /// The root of the tool-protocol endpoint.
    #[must_use]
    pub fn mcp_url(&self, base_url: &BaseUrl) -> BaseUrl {
        self.mcp.url.clone().unwrap_or_else(|| base_url.clone())
    }
}
