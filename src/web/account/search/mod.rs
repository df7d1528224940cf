//! Search accounts on the account page: connect, choose properties, disconnect.

mod attempt;
mod connect;
mod disconnect;
mod properties;
mod words;

use common::{base_url::BaseUrl, random::Random, secrets::Secrets};
use maud::{Markup, html};
use pages::{form, own_host::on_own_host, paths::Paths};
use poem::{Body, EndpointExt as _, Request, Response, RouteMethod, get, http::StatusCode, post};

use self::attempt::Attempts;
use super::{Account, Visitor, read, refused, unavailable};
use crate::{
    error::Error,
    services::{
        access::parse_id,
        connections::{AccountView, CALLBACK, SearchConnections},
    },
    web::refusal_page,
};

/// The maximum size of a form: the ticks of some thousand properties.
const MAX_FORM_BYTES: usize = 256 * 1024;

/// Everything that the pages of search accounts need.
#[derive(Clone)]
pub struct SearchPages {
    connections: SearchConnections,
    attempts: Attempts,
}

impl SearchPages {
    /// The pages of a service at `base_url`.
    #[must_use]
    pub fn new(connections: SearchConnections, secrets: &Secrets, random: Random, base_url: &BaseUrl) -> Self {
        Self { connections, attempts: Attempts::new(secrets, random, base_url) }
    }
}

/// Adds the pages.
pub(super) fn mount(account: &Account, paths: Paths) -> Paths {
    let own = |endpoint: RouteMethod| on_own_host(endpoint.data(account.clone()), &account.base_url);
    paths
        .at("/account/search/connect", "POST", own(post(connect::begin)))
        .at(CALLBACK, "GET, HEAD", own(get(connect::come_back)))
        .at("/account/search/:id", "GET, HEAD", own(get(properties::show)))
        .at("/account/search/:id/sync", "POST", own(post(properties::sync)))
        .at("/account/search/:id/properties", "POST", own(post(properties::choose)))
        .at("/account/search/:id/disconnect", "GET, HEAD, POST", own(get(disconnect::ask).post(disconnect::end)))
}

/// The section of the account page. `has_sites` is true if the person sees sites, of their own or of others.
pub(super) async fn section(account: &Account, visitor: &Visitor, has_sites: bool) -> Markup {
    let connections = &account.search.connections;
    let accounts = connections.of_person(visitor.member.user.id).await;
    html! {
        section aria-labelledby="search-accounts" {
            h2 #search-accounts { "Search accounts" }
            @match &accounts {
                Err(error) => (unreadable(error)),
                Ok(accounts) => {
                    @if accounts.is_empty() && has_sites {
                        p { "No search account is connected. You need one for sites of your own only. This service reads its search data and changes nothing there." }
                    } @else if accounts.is_empty() {
                        p {
                            "No search account is connected. Connect the account with which you see your sites at the search engine. "
                            "This service reads its search data and changes nothing there."
                        }
                    }
                    @for one in accounts { (card(one)) }
                    @if connections.is_configured() {
                        form method="post" action="/account/search/connect" {
                            @if !accounts.is_empty() { button.secondary { "Connect another search account" } }
                            @else { button.secondary[has_sites] { "Connect a search account" } }
                        }
                    } @else {
                        (not_configured(connections))
                    }
                }
            }
        }
    }
}

fn unreadable(error: &Error) -> Markup {
    tracing::error!(%error, "search accounts cannot be shown");
    html! { p.notice.bad role="alert" { "Your search accounts cannot be shown at the moment. Try again in a few seconds." } }
}

fn card(account: &AccountView) -> Markup {
    html! {
        div.card {
            h3 { a href=(path(account)) { (account.name) } }
            (words::state(account))
            div.actions {
                @if account.ended.is_some() { (reconnect(account)) } @else {
                    a href=(path(account)) { "Choose properties" span.visually-hidden { " of " (account.name) } }
                }
                @if account.ended != Some(crate::error::Disconnection::ByPerson) {
                    a href=(format!("{}/disconnect", path(account))) {
                        "Disconnect" span.visually-hidden { " " (account.name) }
                    }
                }
            }
        }
    }
}

/// The button that renews the grant of an account.
fn reconnect(account: &AccountView) -> Markup {
    html! {
        form method="post" action="/account/search/connect" {
            input type="hidden" name="account" value=(account.id);
            button { "Reconnect" span.visually-hidden { " " (account.name) } }
        }
    }
}

/// The notice that only the operator can make connecting possible.
fn not_configured(connections: &SearchConnections) -> Markup {
    html! {
        p.notice.warn {
            "Search accounts cannot be connected yet. The operator of this service must set "
            code { "search_engine.client_id" } " and " code { "search_engine.client_secret" }
            ", for a client at the search engine with the redirect URI " code { (connections.redirect_uri()) } "."
        }
    }
}

fn path(account: &AccountView) -> String {
    format!("/account/search/{}", account.id)
}

/// Returns the visitor and the account that the path names, or the answer to anybody who has no such account.
async fn own(account: &Account, request: &Request) -> Result<(Visitor, AccountView), Response> {
    let visitor = account.visitor(request).await?;
    let shown = named(account, &visitor, request).await?;
    Ok((visitor, shown))
}

/// Returns the account that the path names, if it is the visitor's.
async fn named(account: &Account, visitor: &Visitor, request: &Request) -> Result<AccountView, Response> {
    let id = request.raw_path_param("id").and_then(parse_id).ok_or_else(not_found)?;
    account.search.connections.one(visitor.member.user.id, id).await.map_err(|error| failed(&error))
}

/// The page for a failed operation.
fn failed(error: &Error) -> Response {
    match error {
        Error::NotFound | Error::NoSuch { .. } => not_found(),
        error => {
            tracing::error!(%error, "a page of a search account cannot be shown");
            unavailable()
        }
    }
}

fn not_found() -> Response {
    refused(
        StatusCode::NOT_FOUND,
        "There is no such search account",
        "It may have been removed. Your account page lists yours.",
    )
}

/// The values of a form, or the answer to a body that is none.
async fn sent(request: &Request, body: Body) -> Result<Vec<(String, String)>, Response> {
    let bytes = body.into_bytes_limit(MAX_FORM_BYTES).await.map_err(|_| unreadable_form())?;
    // A form without fields has no body, and clients may then name no type.
    if !bytes.is_empty() && !form::is_sent(request.headers()) {
        return Err(unreadable_form());
    }
    read(&bytes).map_err(|controlled| refusal_page::page(&controlled.into()))
}

fn unreadable_form() -> Response {
    refused(StatusCode::BAD_REQUEST, "The form cannot be read", "Go back and send it again.")
}

fn back() -> Markup {
    html! { p { a href=(super::PATH) { "Your account" } } }
}
