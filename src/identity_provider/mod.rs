//! The embedded OAuth 2.0 / `OpenID` Connect issuer, for deployments without one of their own.
//!
//! Authorization code with PKCE only, public clients only. The rest of the service reaches it over HTTP like any other issuer;
//! the two share nothing but the table of revocations.

mod authorize;
pub mod clients;
mod code;
pub mod demo;
pub mod grants;
mod issue;
mod keys;
mod metadata;
mod page;
mod parameters;
mod redirect_uri;
mod refresh;
mod registration;
mod request;
mod response;
mod revoke;
mod sweep;
mod token;
mod userinfo;

use std::sync::Arc;

use poem::{EndpointExt, Route, RouteMethod, get, post};
use sea_orm::DatabaseConnection;

use self::keys::Keys;
use crate::{
    clock::Clock,
    identity::{metadata::open_to_browsers, own_host::on_own_host},
    random::Random,
    secrets::Secrets,
    store::rate_limit::RateLimits,
};

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

    /// Adds every endpoint of the issuer to `routes`, the root of `base_url`.
    #[must_use]
    pub fn mount(&self, routes: Route) -> Route {
        let open = |path, endpoint: RouteMethod| (path, open_to_browsers(endpoint.data(self.clone())));
        let endpoints = [
            open("/.well-known/openid-configuration", get(metadata::discovery)),
            open("/.well-known/oauth-authorization-server", get(metadata::discovery)),
            open("/oauth/jwks", get(metadata::jwks)),
            open("/oauth/token", post(token::token)),
            open("/oauth/register", post(registration::register)),
            open("/oauth/revoke", post(revoke::revoke)),
            open("/oauth/userinfo", get(userinfo::userinfo).post(userinfo::userinfo)),
        ];
        let page = on_own_host(get(authorize::show).post(authorize::decide).data(self.clone()), self.issuer());
        endpoints
            .into_iter()
            .fold(routes, |routes, (path, endpoint)| routes.at(path, endpoint))
            .at("/oauth/authorize", page)
    }

    fn issuer(&self) -> &str {
        &self.settings.base_url
    }
}

#[cfg(test)]
mod tests;
