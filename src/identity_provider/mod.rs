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

use poem::{Endpoint, EndpointExt, IntoEndpoint, Route, get, post};
use sea_orm::DatabaseConnection;

use self::keys::Keys;
use crate::{clock::Clock, identity::metadata::open_to_browsers, random::Random, secrets::Secrets};

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
}

impl IdentityProvider {
    /// An issuer that keeps its state in `db` and its signing key there too, sealed by `secrets`.
    #[must_use]
    pub fn new(settings: Settings, db: DatabaseConnection, secrets: Secrets, clock: Clock, random: Random) -> Self {
        let keys = Keys::new(db.clone(), secrets, clock.clone());
        Self { settings: Arc::new(settings), db, keys, clock, random }
    }

    /// Every endpoint of the issuer, to be mounted at the root of `base_url`.
    pub fn routes(self) -> impl IntoEndpoint<Endpoint = impl Endpoint> {
        Route::new()
            .at("/.well-known/openid-configuration", open_to_browsers(get(metadata::discovery)))
            .at("/.well-known/oauth-authorization-server", open_to_browsers(get(metadata::discovery)))
            .at("/oauth/jwks", open_to_browsers(get(metadata::jwks)))
            .at("/oauth/authorize", get(authorize::show).post(authorize::decide))
            .at("/oauth/token", open_to_browsers(post(token::token)))
            .at("/oauth/register", open_to_browsers(post(registration::register)))
            .at("/oauth/revoke", open_to_browsers(post(revoke::revoke)))
            .at("/oauth/userinfo", open_to_browsers(get(userinfo::userinfo).post(userinfo::userinfo)))
            .data(self)
    }

    fn issuer(&self) -> &str {
        &self.settings.base_url
    }
}

#[cfg(test)]
mod tests;
