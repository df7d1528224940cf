//! The page that a one-time link leads to. Showing it uses nothing up; setting a password does, and signs the browser in.

use entity::account;
use maud::html;
use pages::page::Page;
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};

use super::{
    change_password::{new_password, new_password_fields},
    page::{Problem, notice, redirect, titled, unreadable},
    sign_in::{FORGOTTEN, set_cookies},
};
use crate::{
    IdentityProvider,
    accounts::{
        links,
        password::{self, PasswordError, Queue},
        sign_in::Rejected,
    },
    parameters::Parameters,
    response::OAuthError,
};

/// The service's sign-in, which finds the session of the issuer and adds its own. It leads to all sites.
const SIGN_IN: &str = "/auth/login?return_to=/";

/// Shows the form.
#[handler]
pub(super) async fn show(Data(provider): Data<&IdentityProvider>, request: &Request) -> Result<Response, OAuthError> {
    let query = match Parameters::of_query(request) {
        Ok(query) => query,
        Err(why) => return Ok(unreadable(&why.to_string())),
    };
    let token = query.get("token").unwrap_or_default();
    Ok(match links::account_of(&provider.db, token, provider.clock.now()).await? {
        Some(account) => form(provider, request, token, &account, None),
        None => gone(),
    })
}

/// Sets the password.
#[handler]
pub(super) async fn set(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let sent = match provider.own_form(request, body, "Follow the link again.").await {
        Ok(sent) => sent,
        Err(page) => return Ok(page),
    };
    let token = sent.get("token").unwrap_or_default();
    let Some(account) = links::account_of(&provider.db, token, provider.clock.now()).await? else {
        return Ok(gone());
    };
    let again = |problem| form(provider, request, token, &account, Some(problem));
    let new = match new_password(&sent, &account.email) {
        Ok(new) => new,
        Err(problem) => return Ok(again(problem)),
    };
    let hash = match password::hash(new, provider.random.bytes(), Queue::Known).await {
        Ok(hash) => hash,
        Err(PasswordError::Busy) => return Ok(again(Problem::of(Rejected::Busy, "")?)),
        Err(PasswordError::Failed(reason)) => return Err(OAuthError::Internal(reason)),
    };
    let Some(done) = provider.set_by_link(request.headers(), token, hash).await? else { return Ok(gone()) };
    let Some(entered) = done.entered else {
        return Ok(Page::new("Your password has been set").render(&html! {
            p role="status" { "You may no longer sign in here as " strong { (done.account.email) } ". Ask the operator of this service." }
        }));
    };
    let mut response = redirect(SIGN_IN);
    set_cookies(provider, &mut response, &entered);
    Ok(response)
}

fn form(
    provider: &IdentityProvider,
    request: &Request,
    link: &str,
    account: &account::Model,
    problem: Option<Problem>,
) -> Response {
    let (email, had_one) = (&account.email, account.password_hash.is_some());
    let token = provider.form_token(request.headers());
    let body = html! {
        p { "For the account " strong { (email) } "." }
        (notice(problem.as_ref()))
        form method="post" action=(links::PATH) {
            (token.field())
            input type="hidden" name="token" value=(link);
            input type="email" name="email" value=(email) autocomplete="username" readonly hidden;
            (new_password_fields())
            div.actions { button { "Set the password" } }
        }
        p.quiet-text { "You are then signed in here." }
        @if had_one { p { "Every browser will be signed out, and every application will lose its access." } }
    };
    let mut response = provider.render(&titled("Set your password", problem.as_ref()), &token, &body);
    if let Some(problem) = problem {
        problem.tell(&mut response);
    }
    response
}

/// The same page for a link that is unknown, used or expired.
fn gone() -> Response {
    Page::new("This link cannot be used").status(StatusCode::GONE).render(&html! {
        p { "It has been used, has expired, or was replaced by a newer one." }
        p { a href=(FORGOTTEN) { "Get a new link" } }
    })
}
