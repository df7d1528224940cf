//! Settings of what keeps records and counters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Refusal, require};

/// The service's own database.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// URL of the service's database. `postgres://…` names its user, password, host and database.
    #[schemars(extend("x-secret" = true, "x-allowed" = "a URL that starts with `postgres://`, or with `sqlite:` and the name of a file", "x-default" = "`sqlite:` in `data_dir`"))]
    pub url: Option<String>,
    /// Whether the service migrates the database when it starts. If not, `sightline migrate` does it before, and a service that lacks a
    /// migration does not start.
    pub migrate: bool,
    /// Maximum number of connections to the database, per replica.
    #[schemars(range(min = 1))]
    pub max_connections: u32,
}

/// What several replicas share. It may vanish at any moment.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Redis {
    /// URL of a [Redis](OPERATING.md#redis) or Valkey server, or of one of a cluster, where replicas share rate limits, the pace towards the
    /// search engine, and readings. Without it each replica has its own.
    #[schemars(extend("x-secret" = true, "x-allowed" = "a URL such as `redis://127.0.0.1:6379` or `rediss://user:password@cache.example:6379/1`"))]
    pub url: Option<String>,
    /// URL of another server for readings, where one that is full must not evict rate limits.
    #[schemars(extend("x-secret" = true, "x-allowed" = "a URL as in `redis.url`, which must be set, too", "x-default" = "`redis.url`"))]
    pub cache_url: Option<String>,
}

impl Default for Database {
    fn default() -> Self {
        Self { url: None, migrate: true, max_connections: 8 }
    }
}

impl Database {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let url = self.url.as_deref();
        let names_a_file = url.and_then(|url| url.strip_prefix("sqlite:")).is_none_or(|rest| {
            let file = rest.trim_start_matches('/').split('?').next();
            file.is_some_and(|file| !file.is_empty() && file != ":memory:")
        });
        require(begins(url, &["sqlite:", "postgres://", "postgresql://"]) && names_a_file, "database.url")
    }
}

impl Redis {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        for (url, name) in [(&self.url, "redis.url"), (&self.cache_url, "redis.cache_url")] {
            let is_address =
                |url: &String| begins(Some(url), &["redis://", "rediss://"]) && replicas::check_url(url).is_ok();
            require(url.as_ref().is_none_or(is_address), name)?;
        }
        require(self.cache_url.is_none() || self.url.is_some(), "redis.cache_url")
    }

    /// The addresses, if replicas share anything.
    #[must_use]
    pub fn addresses(&self) -> Option<replicas::Addresses> {
        let counters = self.url.clone()?;
        Some(replicas::Addresses { cache: self.cache_url.clone().unwrap_or_else(|| counters.clone()), counters })
    }
}

fn begins(url: Option<&str>, schemes: &[&str]) -> bool {
    url.is_none_or(|url| schemes.iter().any(|scheme| url.starts_with(scheme)))
}
