//! The pages instead of numbers, each with the way on.

use api::error::{ApiError, Code};
use maud::{Markup, html};
use pages::page::{Page, refusal};
use poem::{Response, http::header};

use super::door::Door;

/// Returns the page of a refusal, for whoever came through the door.
pub fn page(frame: impl Fn(String) -> Page, refusal: &ApiError, door: Option<&Door>) -> Response {
    let Some((title, body)) = told(refusal, door) else { return refusal::page(refusal) };
    let mut response = frame(title.to_owned()).status(refusal.code.status()).render(&body);
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Returns the title and the body of a refusal that comes after the head of the page.
pub fn late(refusal: &ApiError, door: Option<&Door>) -> (String, Markup) {
    let found = told(refusal, door);
    let (title, body) = found.unwrap_or_else(|| {
        tracing::error!(hint = refusal.hint, "a page cannot be shown");
        ("Something went wrong here", words("The page cannot be shown at the moment. Try again in a few seconds."))
    });
    (title.to_owned(), body)
}

/// The title and the body of a refusal that is about numbers.
fn told(refusal: &ApiError, door: Option<&Door>) -> Option<(&'static str, Markup)> {
    let is_reader = matches!(door, Some(Door::Shared(_)));
    Some(match (refusal.code, is_reader) {
        (Code::NotFound, true) => (
            "This link opens nothing",
            words(
                "It is unknown, has expired or was revoked, or the site is no longer shared. Ask the person who gave it to you for a new one.",
            ),
        ),
        (Code::SearchAccountDisconnected | Code::SearchSiteRefused, true) => (
            "The data cannot be read",
            words(
                "The search engine does not let this service read the site at the moment. Its owner has to connect it again.",
            ),
        ),
        (Code::NotFound, false) => (
            "Not found",
            html! {
                p { "There is no site here that you can open. Its owner may have stopped sharing it with you." }
                p { a.button href="/" { "All sites" } }
            },
        ),
        (Code::SearchAccountDisconnected | Code::SearchSiteRefused, false) => (
            "The search account is disconnected",
            html! {
                (hint(refusal))
                p { a.button href="/account" { "Your account" } " " a href="/" { "All sites" } }
            },
        ),
        (Code::SubscriptionRequired, _) => (
            "This site is locked",
            html! {
                (hint(refusal))
                p { a.button href="/subscribe" { "Plans" } " " a href="/" { "All sites" } }
            },
        ),
        (code, _) if code.status().as_u16() == 400 || code.status().as_u16() == 422 => (
            "This question cannot be answered",
            html! {
                (hint(refusal))
                @if door.is_some() { p { a.button href="?" { "Start again" } } }
            },
        ),
        (code, _) if code.status().is_server_error() && code != Code::Internal => (
            "The data cannot be read at the moment",
            words("The search engine or this service does not answer in time. Try again in a few minutes."),
        ),
        _ => return None,
    })
}

fn words(text: &str) -> Markup {
    html! { p role="alert" { (text) } }
}

fn hint(refusal: &ApiError) -> Markup {
    words(refusal.hint.as_deref().unwrap_or(refusal.code.text()))
}
