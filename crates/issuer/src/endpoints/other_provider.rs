//! Leaving for another provider to sign in, and coming back. The way back leads to the authorization request that was left, which
//! is judged again.

use identity::{cookie, relying_party::Wishes};
use maud::html;
use pages::page::Page;
use poem::{Request, Response, handler, http::StatusCode, web::Data};
use telemetry::quoted;

use super::{
    page::{self, redirect},
    trouble::{Trouble, heading, reason},
    valid_request::ValidRequest,
};
use crate::{
    IdentityProvider, clients, demo,
    parameters::Parameters,
    request::RequestError,
    response::OAuthError,
    sessions,
    upstream::{Upstream, arrival::Arrival, attempt::Attempt},
};

/// Receives a browser that comes back.
#[handler]
pub(super) async fn come_back(Data(provider): Data<&IdentityProvider>, request: &Request) -> Response {
    let parameters = match Parameters::of_query(request) {
        Ok(parameters) if !parameters.is_repeated() => parameters,
        Ok(_) => return lost(),
        Err(why) => return page::unreadable(&why.to_string()),
    };
    let attempt = parameters.get("state").and_then(|state| provider.attempt_of(request.headers(), state));
    let (Some(attempt), Some(upstream)) = (attempt, &provider.upstream) else { return lost() };
    let mut response = if upstream.spent.spend(&attempt.state, provider.clock.now()) {
        let answer = provider.finish(upstream, &attempt, request, &parameters).await;
        answer.unwrap_or_else(poem::Error::into_response)
    } else {
        lost()
    };
    provider.attempts().remove(response.headers_mut(), &attempt.state);
    response
}

impl IdentityProvider {
    /// Sends the browser to the provider.
    pub(super) async fn leave(&self, asked: &ValidRequest, request: &Request) -> Result<Response, OAuthError> {
        let Some(upstream) = &self.upstream else {
            return Ok(page::error("There is no other provider to sign in at."));
        };
        let attempt = self.new_attempt(&asked.query);
        let Some(sealed) = self.sealed_attempt(&attempt) else {
            let (refusal, silent) =
                (RequestError("invalid_request", "The request is too long."), asked.has_prompt("none"));
            return self.refuse(&asked.address, request.headers(), silent, &refusal).await;
        };
        match upstream.party.authorize_url(&attempt.secrets(), wishes(asked)).await {
            Ok(url) => {
                let mut response = redirect(url.as_str());
                self.attempts().set(response.headers_mut(), request.headers(), &attempt.state, &sealed);
                Ok(response)
            }
            Err(error) => Ok(self.explain(upstream, asked, request, &error.into())),
        }
    }

    async fn finish(
        &self,
        upstream: &Upstream,
        attempt: &Attempt,
        request: &Request,
        parameters: &Parameters,
    ) -> poem::Result<Response> {
        let asked = self.asked_in(&attempt.query, request).await?;
        let arrival = match self.identified(upstream, attempt, &asked, parameters).await {
            Ok(arrival) => arrival,
            Err(Trouble::Refused(error)) if cannot_offer_accounts(&error, &asked) => {
                return Ok(redirect(&asked.with_new_sign_in()));
            }
            Err(trouble) => return Ok(self.explain(upstream, &asked, request, &trouble)),
        };
        let trouble = match self.arrive(upstream, request.headers(), &arrival).await {
            Ok(begun) => {
                let mut response = redirect(&asked.after_sign_in());
                let name = self.session_cookie();
                cookie::set(response.headers_mut(), self.base_url(), &name, &begun.value, sessions::LIFETIME);
                return Ok(response);
            }
            Err(error) => error.into(),
        };
        Ok(self.explain(upstream, &asked, request, &trouble))
    }

    /// Returns the provider's statement about the person.
    async fn identified(
        &self,
        upstream: &Upstream,
        attempt: &Attempt,
        asked: &ValidRequest,
        parameters: &Parameters,
    ) -> Result<Arrival, Trouble> {
        if parameters.get("iss").is_some_and(|iss| iss != upstream.party.issuer().url()) {
            return Err(Trouble::Invalid("the answer names another issuer".to_owned()));
        }
        if let Some(error) = parameters.get("error") {
            return Err(Trouble::Refused(error.to_owned()));
        }
        let code = parameters.get("code").ok_or_else(|| Trouble::Invalid("the answer has no code".to_owned()))?;
        let redeemed = upstream.party.redeem(code.to_owned(), attempt.secrets()).await?;
        let (login, max_age) = (asked.has_prompt("login"), asked.request.max_age);
        let proven_at = attempt.proven_at(redeemed.proven_at, login, max_age, self.clock.now());
        Ok(Arrival {
            proven_at: proven_at.map_err(|_| Trouble::NotAskedAgain)?,
            issuer: redeemed.claims.issuer,
            subject: redeemed.claims.subject,
            name: redeemed.claims.name,
            address: redeemed.address,
        })
    }

    /// The page for somebody who could not sign in: the reason, the way out, and how to try again.
    fn explain(&self, upstream: &Upstream, asked: &ValidRequest, request: &Request, trouble: &Trouble) -> Response {
        if let Trouble::Internal(_) = trouble {
            tracing::error!(error = %quoted(trouble), "sign-in by the other provider failed");
        } else {
            tracing::warn!(error = %quoted(trouble), "sign-in by the other provider failed");
        }
        let (status, title) = heading(trouble);
        let token = self.form_token(request.headers());
        let turned = matches!(trouble, Trouble::Turned(_));
        let body = html! {
            (reason(trouble, upstream.host()))
            div.actions {
                @if turned {
                    a.button href=(asked.with_other_account()) { "Use another account" }
                } @else {
                    a.button href=(asked.action()) { "Try again" }
                }
            }
            @if asked.address.client.id != clients::WEB {
                form method="post" action=(asked.action()) {
                    (token.field())
                    button.quiet name="decision" value="cancel" { "Cancel" }
                }
            }
        };
        let mut response = self.render(&Page::new(title).status(status), &token, &body);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert("Retry-After", 5.into());
        }
        response
    }
}

/// Returns whether the provider may have refused because it knows no `prompt=select_account`. Every provider knows `login`.
fn cannot_offer_accounts(error: &str, asked: &ValidRequest) -> bool {
    error != "access_denied" && asked.has_prompt("select_account") && !asked.has_prompt("login")
}

/// The request to the provider: the part of the client's request that concerns a sign-in.
fn wishes(asked: &ValidRequest) -> Wishes {
    let hint = asked.request.login_hint.as_deref().filter(|hint| !demo::is_name(hint));
    let prompts = ["login", "select_account"].into_iter().filter(|prompt| asked.has_prompt(prompt));
    Wishes {
        login_hint: hint.map(str::to_owned),
        prompts: prompts.map(str::to_owned).collect(),
        max_age: asked.request.max_age,
    }
}

/// The page for an answer without the attempt that it belongs to.
fn lost() -> Response {
    Page::new("This sign-in cannot be finished").status(StatusCode::BAD_REQUEST).render(&html! {
        p role="alert" { "It was begun in another browser or more than ten minutes ago, or it has been finished already." }
        p { "Go back to the application and sign in again, or open your account here." }
        p { a.button href="/account" { "Your account" } }
    })
}
