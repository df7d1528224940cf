//! Secret settings, and how to print settings without them.

use std::fmt;

use common::urls::without_credentials;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Database, Redis,
    check::{Refusal, allow, require},
};

/// Text that is never logged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("x-secret" = true))]
pub struct Secret(pub String);

/// Encryption of stored secrets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Secrets {
    /// Key that seals stored secrets.
    #[schemars(extend("x-allowed" = "64 hex digits", "x-default" = "made once, kept in `data_dir`; none with PostgreSQL on another machine"))]
    pub key: Option<Secret>,
    /// Key before `secrets.key`, [while it is replaced](SELF-HOSTING.md#a-new-key). It opens and never seals.
    #[schemars(extend("x-allowed" = "64 hex digits, beside another `secrets.key`"))]
    pub previous_key: Option<Secret>,
}

impl Secrets {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        for (name, key) in [("secrets.key", &self.key), ("secrets.previous_key", &self.previous_key)] {
            let Some(Secret(key)) = key else { continue };
            require(key.len() == 64 && key.chars().all(|c| c.is_ascii_hexdigit()), name)?;
        }
        let Some(Secret(previous)) = &self.previous_key else { return Ok(()) };
        let differs = self.key.as_ref().is_some_and(|Secret(key)| !key.eq_ignore_ascii_case(previous));
        allow(differs, "secrets.previous_key", "the key before secrets.key, beside a new secrets.key")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Prints the URL without user and password.
impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, migrate, max_connections } = self;
        let url = url.as_deref().map(without_credentials);
        f.debug_struct("Database")
            .field("url", &url)
            .field("migrate", migrate)
            .field("max_connections", max_connections)
            .finish()
    }
}

/// Prints the URLs without user and password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, cache_url } = self;
        let [url, cache_url] = [url, cache_url].map(|url| url.as_deref().map(without_credentials));
        f.debug_struct("Redis").field("url", &url).field("cache_url", &cache_url).finish()
    }
}
