//! `POST /account/search/connect` leaves for the search engine's consent page, and the callback comes back from there.

use maud::{Markup, html};
use pages::form::{self, Controlled};
use poem::{
    Body, Request, Response, handler,
    http::{HeaderMap, StatusCode},
    web::Data,
};
use telemetry::quoted;
use uuid::Uuid;

use super::{attempt::Begun, back, failed, not_configured, not_found, sent};
use crate::{
    services::{
        access::parse_id,
        connections::{Answered, NotConnected},
    },
    web::{
        account::{Account, Visitor, redirect},
        refusal_page,
    },
};

/// The search engine's answer, in the query string of the callback.
struct ConsentAnswer {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

impl ConsentAnswer {
    fn of(callback: &Request) -> Result<Self, Controlled> {
        let query = form::of_query(callback)?;
        let field = |name: &str| form::first(&query, name).map(str::to_owned);
        Ok(Self { code: field("code"), state: field("state"), error: field("error") })
    }
}

/// A visit to the consent page.
enum Round {
    /// The search engine decides about the question.
    First,
    /// It must ask for consent although that was given before, by the account with this e-mail address.
    Again(Option<String>),
}

/// Sends the browser to the consent page. The field `account` names the account to reconnect.
#[handler]
pub(super) async fn begin(Data(account): Data<&Account>, request: &Request, body: Body) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let connections = &account.search.connections;
    if !connections.is_configured() {
        let title = "Search accounts cannot be connected yet";
        return account
            .page(title)
            .status(StatusCode::SERVICE_UNAVAILABLE)
            .render(&html! { (not_configured(connections)) (back()) });
    }
    let sent = match sent(request, body).await {
        Ok(sent) => sent,
        Err(answer) => return answer,
    };
    let named = sent.iter().find(|(name, value)| name == "account" && !value.is_empty());
    let renewed = match named.map(|(_, id)| parse_id(id)) {
        Some(None) => return not_found(),
        Some(id) => id,
        None => None,
    };
    leave(account, &visitor, request.headers(), renewed, &Round::First).await
}

/// Sends the browser to the consent page.
async fn leave(
    account: &Account,
    visitor: &Visitor,
    headers: &HeaderMap,
    renewed: Option<Uuid>,
    round: &Round,
) -> Response {
    let attempts = &account.search.attempts;
    let (again, hint) = match round {
        Round::First => (false, None),
        Round::Again(email) => (true, email.as_deref()),
    };
    let begun = attempts.begin(visitor, renewed, again, account.clock.now());
    let consent = account.search.connections.consent_page(begun.attempt(), begun.again, hint).await;
    let mut response = match consent {
        Ok(consent) => redirect(consent.as_str()),
        Err(reason) => return not_connected(account, &reason, renewed),
    };
    match attempts.remember(&begun, headers, &mut response) {
        Ok(()) => response,
        Err(error) => failed(&crate::error::Error::internal(error)),
    }
}

/// Ends the attempt. A callback that no attempt of this person in this browser waits for stores nothing and asks nobody.
#[handler]
pub(super) async fn come_back(Data(account): Data<&Account>, request: &Request) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let answer = match ConsentAnswer::of(request) {
        Ok(answer) => answer,
        Err(controlled) => return refusal_page::page(&controlled.into()),
    };
    let attempts = &account.search.attempts;
    let Some(begun) = attempts.end(request, &visitor, answer.state.as_deref(), account.clock.now()) else {
        return account.page("This attempt has expired").status(StatusCode::BAD_REQUEST).render(&html! {
            p { "It was begun by somebody else or in another browser, was finished already, or took more than ten minutes. Nothing was stored." }
            (try_again(None))
        });
    };
    let mut response = finish(account, &visitor, request.headers(), answer, &begun).await;
    attempts.forget(&begun, &mut response);
    response
}

async fn finish(
    account: &Account,
    visitor: &Visitor,
    headers: &HeaderMap,
    answer: ConsentAnswer,
    begun: &Begun,
) -> Response {
    match (answer.code, answer.error.as_deref()) {
        (_, Some("access_denied")) => cancelled(account, begun.account),
        (Some(code), None) => match account.search.connections.connect(begun.attempt(), &code).await {
            Ok(Answered::Connected(id)) => redirect(&format!("/account/search/{id}")),
            Ok(Answered::AskAgain(email)) if !begun.again => {
                leave(account, visitor, headers, begun.account, &Round::Again(email)).await
            }
            Ok(Answered::AskAgain(_)) => no_lasting_access(account, begun.account),
            Err(reason) => not_connected(account, &reason, begun.account),
        },
        (_, error) => refused_there(account, error.unwrap_or("no code"), begun.account),
    }
}

fn cancelled(account: &Account, renewed: Option<Uuid>) -> Response {
    account.page("You cancelled").render(&html! {
        p { "You did not give this service access at the search engine. Nothing was stored." }
        (try_again(renewed))
    })
}

fn refused_there(account: &Account, error: &str, renewed: Option<Uuid>) -> Response {
    tracing::warn!(error = %quoted(&error), "the search engine refused to connect an account");
    account.page("The search engine refused").status(StatusCode::BAD_GATEWAY).render(&html! {
        p { "The search engine did not let you connect the account, and gave the reason " code { (error) } ". Nothing was stored." }
        p { "If an organisation manages the account, its administrator may have to allow this service first." }
        (try_again(renewed))
    })
}

fn no_lasting_access(account: &Account, renewed: Option<Uuid>) -> Response {
    account.page("The search engine gave no lasting access").status(StatusCode::BAD_GATEWAY).render(&html! {
        p { "It was asked twice and gave this service no right to read while you are away. Nothing was stored." }
        p { "Remove this service's access in the settings of your account at the search engine, then try again." }
        (try_again(renewed))
    })
}

fn not_connected(account: &Account, reason: &NotConnected, renewed: Option<Uuid>) -> Response {
    tracing::warn!(reason = %quoted(reason), "a search account was not connected");
    let (status, title, text) = match reason {
        NotConnected::ScopeMissing => (
            StatusCode::FORBIDDEN,
            "Search data may not be read",
            html! {
                p { "You did not allow this service to view Search Console data: that box was not ticked. Without it there is nothing to show, so nothing was stored." }
                p { "Try again, and leave the box ticked. This service only reads." }
            },
        ),
        NotConnected::OtherAccount { expected, chosen } => (
            StatusCode::CONFLICT,
            "You chose another account",
            html! {
                p { "You wanted to reconnect " strong { (expected) } " and chose " strong { (chosen) } ". Nothing was stored." }
                p { "Choose " (expected) " at the search engine, or connect " (chosen) " as another account." }
                form method="post" action="/account/search/connect" { button { "Connect it as another account" } }
            },
        ),
        NotConnected::CodeRefused(_) => (
            StatusCode::BAD_REQUEST,
            "This attempt has expired",
            html! {
                p { "The search engine no longer accepts it. Nothing was stored." }
            },
        ),
        NotConnected::Misconfigured(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "The search engine refuses this service",
            html! {
                p { "Its operator must check " code { "search_engine.client_id" } " and " code { "search_engine.client_secret" } ", and that the client at the search engine has the redirect URI " code { (account.search.connections.redirect_uri()) } ". Nothing was stored." }
            },
        ),
        NotConnected::Unavailable(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            "The search engine does not answer",
            html! {
                p { "The account could not be connected, and nothing was stored. Try again in a minute." }
            },
        ),
        NotConnected::Failed(error) => return failed(error),
    };
    account.page(title).status(status).render(&html! { div role="alert" { (text) } (try_again(renewed)) })
}

/// The way on from a failed attempt.
fn try_again(renewed: Option<Uuid>) -> Markup {
    html! {
        div.actions {
            form method="post" action="/account/search/connect" {
                @if let Some(id) = renewed { input type="hidden" name="account" value=(id); }
                button { "Try again" }
            }
            a href=(crate::web::account::PATH) { "Your account" }
        }
    }
}
