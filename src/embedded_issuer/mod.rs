//! The embedded OAuth 2.0 / `OpenID` Connect issuer, for deployments without their own.
//!
//! Authorization code with PKCE only, public clients only. The rest of the service uses it over HTTP like any other issuer.
//! The two share only the table of revocations.

pub mod clients;
mod codes;
pub mod demo;
mod endpoints;
pub mod grants;
mod issue;
mod keys;
mod parameters;
mod redirect_uri;
mod refresh;
mod request;
mod response;
mod sweep;

use std::sync::Arc;

use sea_orm::DatabaseConnection;

use self::keys::Keys;
use crate::{clock::Clock, random::Random, secrets::Secrets, store::rate_limit::RateLimits};

/// Settings of the issuer.
#[derive(Clone, Debug)]
pub struct Settings {
    /// URL of the service, without a trailing slash: the issuer identifier, byte for byte.
    pub base_url: String,
    /// The resources that tokens may be for: `base_url` and `mcp_url` + `/mcp`. A token names all of them unless a client
    /// asks for fewer.
    pub audiences: Vec<String>,
    /// True if `login_hint` may sign a demo person in without a page (see [`demo`]).
    pub demo_sign_in: bool,
}

/// The embedded issuer.
#[derive(Clone)]
pub struct IdentityProvider {
    settings: Arc<Settings>,
    db: DatabaseConnection,
    keys: Keys,
    clock: Clock,
    random: Random,
    limits: Option<Arc<RateLimits>>,
}

impl IdentityProvider {
    /// An issuer that stores its state in `db`, including its signing key, encrypted by `secrets`.
    #[must_use]
    pub fn new(settings: Settings, db: DatabaseConnection, secrets: Secrets, clock: Clock, random: Random) -> Self {
        let keys = Keys::new(db.clone(), secrets, clock.clone());
        Self { settings: Arc::new(settings), db, keys, clock, random, limits: None }
    }

    /// Returns the issuer with a limit on registrations by address.
    #[must_use]
    pub fn with_limits(self, limits: Option<Arc<RateLimits>>) -> Self {
        Self { limits, ..self }
    }

    fn issuer(&self) -> &str {
        &self.settings.base_url
    }
}

#[cfg(test)]
mod tests;
