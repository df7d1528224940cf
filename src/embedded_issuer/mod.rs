//! The embedded OAuth 2.0 / `OpenID` Connect issuer, for deployments without one of their own.
//!
//! Authorization code with PKCE only, public clients only. The rest of the service reaches it over HTTP like any other issuer;
//! the two share nothing but the table of revocations.

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

/// How the issuer is set up.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the service, without a trailing slash: the issuer identifier, byte for byte.
    pub base_url: String,
    /// The resources tokens may be for: `base_url` and `mcp_url` + `/mcp`. A token names all of them unless a client asks for less.
    pub audiences: Vec<String>,
    /// Whether `login_hint` may sign a demo person in without a page (see [`demo`]).
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
    /// An issuer that keeps its state in `db` and its signing key there too, sealed by `secrets`.
    #[must_use]
    pub fn new(settings: Settings, db: DatabaseConnection, secrets: Secrets, clock: Clock, random: Random) -> Self {
        let keys = Keys::new(db.clone(), secrets, clock.clone());
        Self { settings: Arc::new(settings), db, keys, clock, random, limits: None }
    }

    /// The same issuer, which counts registrations by address in `limits`.
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
