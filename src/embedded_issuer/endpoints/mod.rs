//! The HTTP endpoints of the issuer, one per file.

mod authorize;
mod metadata;
mod page;
pub(super) mod registration;
mod revoke;
mod token;
mod userinfo;

use poem::{EndpointExt, Route, RouteMethod, get, post};

use super::IdentityProvider;
use crate::web::{own_host::on_own_host, well_known::open_to_browsers};

impl IdentityProvider {
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
}
