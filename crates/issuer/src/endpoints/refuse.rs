//! Errors on their way to a client.
//!
//! Anyone can make a client with any address. If a browser were sent there with an error, without a question, every link that begins
//! with this service's address could lead anywhere (RFC 9700 section 4.11.2). So the person reads where the way leads, and goes on.

use maud::html;
use pages::page::Page;
use poem::{
    Response,
    http::{HeaderMap, StatusCode},
};

use super::{consent::destination, page::redirect};
use crate::{
    IdentityProvider,
    request::{RequestError, ReturnAddress},
    response::OAuthError,
};

impl IdentityProvider {
    /// Tells a client of an error: by redirect, if its address is trusted or the person in this browser has allowed it and the
    /// client asks for an answer without a page (`silent`); otherwise by a page with a link.
    pub(super) async fn refuse(
        &self,
        to: &ReturnAddress,
        headers: &HeaderMap,
        silent: bool,
        refusal: &RequestError,
    ) -> Result<Response, OAuthError> {
        if to.is_trusted() || (silent && self.has_agreed(headers, to).await?) {
            return Ok(redirect(&to.refusing(refusal)));
        }
        Ok(way_back(to, refusal, self.is_allowed(headers, to).await?))
    }

    /// Returns whether somebody is signed in who has allowed the client anything, at any address.
    async fn is_allowed(&self, headers: &HeaderMap, to: &ReturnAddress) -> Result<bool, OAuthError> {
        let Some(signed_in) = self.signed_in(headers).await? else { return Ok(false) };
        Ok(self.allowance(&signed_in.person.subject, &to.client.id).await?.is_some())
    }

    /// Returns whether somebody is signed in who has allowed the client this address.
    async fn has_agreed(&self, headers: &HeaderMap, to: &ReturnAddress) -> Result<bool, OAuthError> {
        let Some(signed_in) = self.signed_in(headers).await? else { return Ok(false) };
        Ok(self.consent(&signed_in.person.subject, &to.recipient()).await?.is_some())
    }
}

/// The page from which a person goes back to an application. `is_allowed` is true if the application has access by an earlier answer, or by
/// one of another window.
fn way_back(to: &ReturnAddress, refusal: &RequestError, is_allowed: bool) -> Response {
    let RequestError(code, description) = refusal;
    let declined = *code == "access_denied";
    let (title, status) = if declined {
        ("You have allowed nothing", StatusCode::OK)
    } else {
        ("The application cannot go on", StatusCode::BAD_REQUEST)
    };
    Page::new(title).status(status).render(&html! {
        @if declined {
            p role="status" { "By this request the application gets no access to your account." }
            @if is_allowed {
                p { "It keeps what you allowed it by another one. " a href="/account" { "Your account" } " shows that, and ends it." }
            }
        } @else {
            p role="alert" { "Its request cannot be granted: " (description) }
        }
        dl {
            dt { "Leads back to" }
            dd { (destination(&to.redirect_uri)) }
        }
        p { a.button href=(to.refusing(refusal)) rel="noreferrer" { "Go back to the application" } }
        p.quiet-text { "This service does not know who runs it. If you did not start this, close the page." }
    })
}
