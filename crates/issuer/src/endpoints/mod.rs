//! The HTTP endpoints of the issuer, one per file.

mod authorize;
mod change_password;
mod client_authentication;
mod consent;
mod device;
mod device_authorization;
mod forgotten;
mod form;
mod metadata;
mod other_provider;
mod page;
mod refuse;
pub(super) mod registration;
mod revoke;
mod set_password;
mod sign_in;
mod token;
mod trouble;
mod userinfo;
mod valid_request;

use pages::{
    own_host::on_own_host,
    paths::Paths,
    public::{json_document, open_to_browsers},
};
use poem::{EndpointExt, RouteMethod, get, post};

use super::{IdentityProvider, accounts::links, upstream};

impl IdentityProvider {
    /// Adds every endpoint of the issuer to the root of `base_url`.
    #[must_use]
    pub fn mount(&self, paths: Paths) -> Paths {
        let open =
            |path, methods, endpoint: RouteMethod| (path, methods, open_to_browsers(endpoint.data(self.clone())));
        let (read, write) = ("GET, HEAD, OPTIONS", "OPTIONS, POST");
        let discovery = metadata::discovery(self);
        let userinfo = get(userinfo::userinfo).post(userinfo::userinfo);
        let endpoints = [
            open("/.well-known/openid-configuration", read, json_document(&discovery)),
            open("/.well-known/oauth-authorization-server", read, json_document(&discovery)),
            open("/oauth/jwks", read, get(metadata::jwks)),
            open("/oauth/token", write, post(token::token)),
            open("/oauth/revoke", write, post(revoke::revoke)),
            open("/oauth/userinfo", "GET, HEAD, OPTIONS, POST", userinfo),
        ];
        let registration =
            self.registration_is_open.then(|| open("/oauth/register", write, post(registration::register)));
        let page = |path, methods: RouteMethod| (path, on_own_host(methods.data(self.clone()), self.base_url()));
        let pages = [
            page("/oauth/authorize", get(authorize::show).post(authorize::decide)),
            page(change_password::PATH, get(change_password::show).post(change_password::change)),
            page("/.well-known/change-password", get(change_password::lead)),
            page(links::PATH, get(set_password::show).post(set_password::set)),
            page(sign_in::FORGOTTEN, get(forgotten::show).post(forgotten::send)),
            page(device::PATH, get(device::show).post(device::decide)),
        ];
        let (asking, ask) = page(device_authorization::PATH, post(device_authorization::ask));
        let endpoints = endpoints.into_iter().chain(registration);
        let back = self.upstream.as_ref().map(|_| page(upstream::CALLBACK, get(other_provider::come_back)));
        let paths = endpoints.fold(paths, |paths, (path, methods, endpoint)| paths.at(path, methods, endpoint));
        let paths = pages.into_iter().fold(paths, |paths, (path, page)| paths.at(path, "GET, HEAD, POST", page));
        let paths = paths.at(asking, "POST", ask);
        back.into_iter().fold(paths, |paths, (path, page)| paths.at(path, "GET, HEAD", page))
    }
}
