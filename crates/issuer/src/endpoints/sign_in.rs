//! The sign-in page: another provider, e-mail address and password, and the demo people where they are present.

use identity::cookie;
use maud::{Markup, html};
use pages::client_address::client_address;
use poem::{Request, Response};

use super::{
    consent,
    page::{Problem, notice, redirect, titled},
    valid_request::ValidRequest,
};
use crate::{
    IdentityProvider,
    accounts::{self, sign_in::Entered},
    clients, demo,
    parameters::Parameters,
    response::OAuthError,
    sessions,
};

/// The path of the page for a forgotten password.
pub(super) const FORGOTTEN: &str = "/account/password/forgotten";

const WRONG: &str = "The e-mail address or the password is wrong.";

/// A form that was sent and is shown again.
pub(super) struct Again<'a> {
    pub problem: Problem,
    pub email: &'a str,
}

/// Shows the page.
pub(super) async fn page(
    provider: &IdentityProvider,
    asked: &ValidRequest,
    request: &Request,
    again: Option<Again<'_>>,
) -> Result<Response, OAuthError> {
    let (upstream, people) = (provider.upstream.as_ref(), provider.settings.demo_people);
    let demo_people = !people.is_empty();
    let has_accounts = match upstream {
        Some(_) => accounts::any_password(&provider.db).await?,
        None => accounts::any(&provider.db).await?,
    };
    if upstream.is_some() && again.is_none() && !has_accounts && !demo_people {
        return provider.leave(asked, request).await;
    }
    let token = provider.form_token(request.headers());
    let email = again.as_ref().map(|again| again.email).or(asked.request.login_hint.as_deref()).unwrap_or_default();
    let problem = again.as_ref().map(|again| &again.problem);
    let action = asked.action();
    let client = &asked.address.client;
    let body = html! {
        (purpose(provider, client))
        @if !clients::is_built_in(&client.id) {
            dl { (consent::whereabouts(&asked.address)) }
        }
        @if !client.trusted {
            p.quiet-text { "The application chose its name itself. Sign in only if you started this and know the address." }
        }
        (notice(problem))
        @if let Some(upstream) = upstream {
            form method="post" action=(action) {
                (token.field())
                button.wide name="decision" value="elsewhere" { "Continue with " (upstream.host()) }
            }
            @if has_accounts { h2 { "Sign in with a password" } }
        }
        @if has_accounts || (!demo_people && upstream.is_none()) { (password_form(&action, &token.field(), email)) }
        @if !has_accounts && !demo_people && upstream.is_none() {
            p.notice { "There are no accounts yet. The operator adds one with " code { "sightline user add EMAIL" } "." }
        }
        @if demo_people {
            @if has_accounts || upstream.is_some() { h2 { "Demo people" } }
            p { "Choose a demo person to sign in without a password. They exist on this machine only." }
            form method="post" action=(action) {
                (token.field())
                @for person in people {
                    button.wide.secondary name="person" value=(person.name) {
                        (person.display_name) " " small { (person.email) }
                        br; small { "Plan " (person.plan) ". Sees " (person.sees) "." }
                    }
                }
            }
        }
        form method="post" action=(action) {
            (token.field())
            button.quiet name="decision" value="cancel" { "Cancel" }
        }
    };
    let mut response = provider.render(&titled("Sign in to Sightline", problem), &token, &body);
    if let Some(problem) = problem {
        problem.tell(&mut response);
    }
    Ok(response)
}

/// Says what the person signs in to.
fn purpose(provider: &IdentityProvider, client: &clients::Client) -> Markup {
    html! {
        @if client.id == clients::WEB {
            p {
                "Sightline shows how your web sites are found: clicks, impressions and positions by day, query, page and country, read from "
                "your search engine. " a href="/docs/guide" { "Guide for site owners" } " · " a href="/docs" { "Documentation of the API" }
                @if let Some(plans) = &provider.navigation.plans { " · " a href=(plans) { "Plans" } }
            }
        } @else {
            p { "Sign in to continue to " strong { (client.name.as_deref().unwrap_or(&client.id)) } "." }
        }
    }
}

fn password_form(action: &str, token: &Markup, email: &str) -> Markup {
    html! {
        form method="post" action=(action) {
            (token)
            label for="email" { "E-mail address" }
            input #email type="email" name="email" value=(email) autocomplete="username" required;
            label for="password" { "Password" }
            input #password type="password" name="password" autocomplete="current-password" required;
            div.actions {
                button name="decision" value="enter" { "Sign in" }
                a href=(FORGOTTEN) { "Forgotten your password?" }
            }
        }
    }
}

/// Signs in with the password in the form.
pub(super) async fn enter(
    provider: &IdentityProvider,
    asked: &ValidRequest,
    request: &Request,
    form: &Parameters,
) -> Result<Response, OAuthError> {
    let (email, password) = (form.get("email").unwrap_or_default(), form.get("password").unwrap_or_default());
    let address = client_address(request);
    match provider.enter(request.headers(), &address, email, password).await {
        Ok(entered) => {
            let mut response = redirect(&asked.after_sign_in());
            set_cookies(provider, &mut response, &entered);
            Ok(response)
        }
        Err(rejected) => {
            let again = Again { problem: Problem::of(rejected, WRONG)?, email };
            page(provider, asked, request, Some(again)).await
        }
    }
}

/// Signs a demo person in.
pub(super) async fn choose(
    provider: &IdentityProvider,
    asked: &ValidRequest,
    request: &Request,
    person: &demo::Person,
) -> Result<Response, OAuthError> {
    let begun = provider.begin_demo_session(request.headers(), person.subject).await?;
    let mut response = redirect(&asked.after_sign_in());
    cookie::set(
        response.headers_mut(),
        provider.base_url(),
        &provider.session_cookie(),
        &begun.value,
        sessions::LIFETIME,
    );
    Ok(response)
}

/// Gives the browser its session, and the cookie by which it is known from now on.
pub(super) fn set_cookies(provider: &IdentityProvider, response: &mut Response, entered: &Entered) {
    cookie::set(
        response.headers_mut(),
        provider.base_url(),
        &provider.session_cookie(),
        &entered.begun.value,
        sessions::LIFETIME,
    );
    provider.device_cookie().set(response.headers_mut(), &entered.device);
}
