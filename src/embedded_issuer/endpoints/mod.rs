//! The HTTP endpoints of the issuer, one per file.

mod authorize;
mod metadata;
mod page;
pub(super) mod registration;
mod revoke;
mod token;
mod userinfo;

use poem::{EndpointExt, RouteMethod, get, post};

use super::IdentityProvider;
use crate::web::{own_host::on_own_host, paths::Paths, well_known::open_to_browsers};

impl IdentityProvider {
    /// Adds every endpoint of the issuer to the root of `base_url`.
    #[must_use]
    pub fn mount(&self, paths: Paths) -> Paths {
        let open =
            |path, methods, endpoint: RouteMethod| (path, methods, open_to_browsers(endpoint.data(self.clone())));
        let (read, write) = ("GET, HEAD, OPTIONS", "OPTIONS, POST");
        let userinfo = get(userinfo::userinfo).post(userinfo::userinfo);
        let endpoints = [
            open("/.well-known/openid-configuration", read, get(metadata::discovery)),
            open("/.well-known/oauth-authorization-server", read, get(metadata::discovery)),
            open("/oauth/jwks", read, get(metadata::jwks)),
            open("/oauth/token", write, post(token::token)),
            open("/oauth/register", write, post(registration::register)),
            open("/oauth/revoke", write, post(revoke::revoke)),
            open("/oauth/userinfo", "GET, HEAD, OPTIONS, POST", userinfo),
        ];
        let page = on_own_host(get(authorize::show).post(authorize::decide).data(self.clone()), self.issuer());
        endpoints.into_iter().fold(paths, |paths, (path, methods, endpoint)| paths.at(path, methods, endpoint)).at(
            "/oauth/authorize",
            "GET, HEAD, POST",
            page,
        )
    }
}
