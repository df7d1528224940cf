//! The token that binds a form to the browser it was shown in. A cookie and a hidden field carry it.

use chrono::TimeDelta;
use common::digest::same;
use identity::{cookie, credentials::cookies};
use maud::{Markup, html};
use pages::{form::is_sent, page::Page};
use poem::{Body, Request, Response, error::ResponseError as _, http::HeaderMap};

use super::page;
use crate::{IdentityProvider, parameters::Parameters, response::OAuthError};

/// The name in [`BaseUrl::host_cookie`](common::base_url::BaseUrl::host_cookie).
const COOKIE: &str = "sightline_sign_in";
const LIFETIME: TimeDelta = TimeDelta::hours(1);

/// The token of the forms on one page.
pub(super) struct FormToken(String);

/// Reads the form that a browser sent, or returns the page for one that cannot be read.
pub(super) async fn read(request: &Request, body: Body) -> Result<Parameters, Response> {
    if !is_sent(request.headers()) {
        return Err(page::unreadable("Send a form: one Content-Type, application/x-www-form-urlencoded."));
    }
    Parameters::form(request, body).await.map_err(|error| match error {
        OAuthError::Refused { description, .. } => page::unreadable(&description),
        other => other.as_response(),
    })
}

impl FormToken {
    /// The hidden field of a form.
    pub fn field(&self) -> Markup {
        html! { input type="hidden" name="csrf" value=(self.0); }
    }
}

impl IdentityProvider {
    /// The browser's token, or a new one. It stays the same while the browser has pages open.
    pub(super) fn form_token(&self, headers: &HeaderMap) -> FormToken {
        FormToken(self.shown(headers).unwrap_or_else(|| self.random.token()))
    }

    /// Renders a page whose forms hold `token`.
    pub(super) fn render(&self, page: &Page, token: &FormToken, body: &Markup) -> Response {
        let mut response = page.render(body);
        cookie::set(response.headers_mut(), self.base_url(), &self.base_url().host_cookie(COOKIE), &token.0, LIFETIME);
        response
    }

    /// Reads a form that was sent from a page that this browser was shown. Otherwise returns the page that says so, with `advice` for a
    /// form that is too old.
    pub(super) async fn own_form(&self, request: &Request, body: Body, advice: &str) -> Result<Parameters, Response> {
        let form = read(request, body).await?;
        if self.is_own(request, &form) { Ok(form) } else { Err(page::expired(advice)) }
    }

    /// Returns whether a form was sent from a page that this browser was shown.
    pub(super) fn is_own(&self, request: &Request, form: &Parameters) -> bool {
        match request.header("sec-fetch-site") {
            // No page of another origin can say so. Two tabs that open at once have two tokens, and the browser keeps one.
            Some("same-origin") => form.get("csrf").is_some(),
            Some(_) => false,
            None => {
                let expected = self.shown(request.headers()).unwrap_or_default();
                !expected.is_empty() && same(&expected, form.get("csrf").unwrap_or_default())
            }
        }
    }

    fn shown(&self, headers: &HeaderMap) -> Option<String> {
        let name = self.base_url().host_cookie(COOKIE);
        let is_token = |token: &&str| token.len() == 43 && token.bytes().all(|byte| byte.is_ascii_graphic());
        cookies(headers, &name).next().filter(is_token).map(str::to_owned)
    }
}
