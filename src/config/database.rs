//! Settings of what keeps records and counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Refusal, require};

/// The service's own database.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// URL of the service's database. `postgres://…` names its user, password, host and database.
    #[schemars(extend("x-allowed" = "a URL that starts with `sqlite:` or `postgres://`", "x-default" = "`sqlite:` in `data_dir`"))]
    pub url: Option<String>,
    /// Maximum number of connections to the database, per replica.
    #[schemars(range(min = 1))]
    pub max_connections: u32,
}

/// The warning at start and in health where [`Redis`] is set.
pub const REDIS_UNUSED: &str =
    "redis.url is set and has no effect yet: each process keeps its own rate limits and its own cache.";

/// Shared counters and cache for several replicas.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Redis {
    /// URL of a Redis server. It is accepted and has no effect yet, as a line at start and health say.
    #[schemars(extend("x-allowed" = "a URL that starts with `redis://` or `rediss://`"))]
    pub url: Option<String>,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, max_connections: 8 }
    }
}

impl Database {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        require(begins(self.url.as_deref(), &["sqlite:", "postgres://", "postgresql://"]), "database.url")
    }
}

impl Redis {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        require(begins(self.url.as_deref(), &["redis://", "rediss://"]), "redis.url")
    }
}

fn begins(url: Option<&str>, schemes: &[&str]) -> bool {
    url.is_none_or(|url| schemes.iter().any(|scheme| url.starts_with(scheme)))
}
