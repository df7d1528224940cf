//! The pages instead of numbers, each with the way on.

use api::{
    error::{ApiError, Code},
    params::Metric,
};
use maud::{Markup, html};
use pages::page::{Page, words::time};
use poem::{Response, http::header};

use super::{
    door::{Door, Kept},
    draw::words,
    labels::{is_about_days, labelled},
};
use crate::web::refusal_page;

/// The reason why a page is not shown.
pub struct Refused {
    pub refusal: ApiError,
    /// The door through which the visitor came.
    pub door: Option<Door>,
    /// Numbers to show instead, if the search engine is away.
    pub kept: Option<Kept>,
    /// The reference to the page without its question.
    pub again: String,
    /// The texts of the form that was sent, which no other place of the page has.
    pub written: Markup,
}

impl From<ApiError> for Refused {
    fn from(refusal: ApiError) -> Self {
        Self { refusal, door: None, kept: None, again: "?".to_owned(), written: Markup::default() }
    }
}

/// Returns the page instead.
pub fn page(frame: impl Fn(String) -> Page, refused: &Refused) -> Response {
    let refusal = &refused.refusal;
    let Some((title, body)) = told(refused) else { return refusal_page::page(refusal) };
    let body = html! { (body) (refused.written) };
    let mut response = frame(title.to_owned()).status(refusal.code.status()).render(&body);
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// Returns the first heading and the body of a refusal that comes after the head of the page.
pub fn late(refused: &Refused) -> (Markup, Markup) {
    let (title, body) = told(refused).unwrap_or_else(|| {
        tracing::error!(hint = refused.refusal.hint, "a page cannot be shown");
        ("Something went wrong here", alert("The page cannot be shown at the moment. Try again in a few seconds."))
    });
    (html! { (title) }, html! { (body) (refused.written) })
}

/// The title and the body of a refusal that is about numbers.
fn told(Refused { refusal, door, kept, again, .. }: &Refused) -> Option<(&'static str, Markup)> {
    let is_reader = matches!(door, Some(Door::Shared(_)));
    Some(match (refusal.code, is_reader) {
        (Code::NotFound, true) => (
            "This link opens nothing",
            alert(
                "It is unknown, has expired or was revoked, or the site is no longer shared. Ask the person who gave it to you for a new one.",
            ),
        ),
        (Code::SearchAccountDisconnected | Code::SearchSiteRefused, true) => (
            "The data cannot be read",
            alert(
                "The search engine does not let this service read the site at the moment. Its owner has to connect it again.",
            ),
        ),
        (Code::NotFound, _) if names_condition(refusal) => (
            "This question cannot be answered",
            html! { (hint(refusal)) p { a.button href=(again) { "Start again" } } },
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
                @if door.is_some() { (way_out(refusal, again)) }
            },
        ),
        (code, _) if code.status().is_server_error() && code != Code::Internal => (
            "The data cannot be read at the moment",
            html! {
                (alert("The search engine or this service does not answer in time. Try again in a few minutes."))
                @match (kept, door) {
                    (Some(kept), _) => (still_there(kept)),
                    (None, Some(_)) => p { "No earlier numbers of this site are kept." },
                    (None, None) => {}
                }
                p { a.button href="" { "Try again" } }
            },
        ),
        _ => return None,
    })
}

/// The link to the page without its question, or without its days. The conditions are in the path, and stay.
fn way_out(refusal: &ApiError, again: &str) -> Markup {
    let is_about_days = refusal.hint.as_deref().is_some_and(is_about_days);
    let (to, words) = if is_about_days { ("?", "Usual days") } else { (again, "Start again") };
    html! { p { a.button href=(to) { (words) } } }
}

/// Returns whether a refusal is about a condition of the question that is no longer there, and not about the site.
fn names_condition(refusal: &ApiError) -> bool {
    let hint = refusal.hint.as_deref().unwrap_or_default();
    ["classification: ", "tag: "].iter().any(|name| hint.starts_with(name))
}

/// The numbers that are still there, and their age.
fn still_there(Kept { window, metrics, read_at }: &Kept) -> Markup {
    let values = [
        (Metric::Clicks, Some(metrics.clicks as f64)),
        (Metric::Impressions, Some(metrics.impressions as f64)),
        (Metric::Ctr, metrics.ctr),
        (Metric::Position, metrics.position),
    ];
    html! {
        section aria-labelledby="kept" {
            h2 #kept { "What is still known" }
            div.tiles {
                @for (metric, value) in values {
                    div.tile { span { (words::name(metric)) } strong { (words::value(metric, value)) } }
                }
            }
            p.quiet-text {
                "Without further conditions: " (words::window(*window)) ". Read from the search engine " (time((*read_at).into())) "."
            }
        }
    }
}

fn alert(text: &str) -> Markup {
    html! { p role="alert" { (text) } }
}

fn hint(refusal: &ApiError) -> Markup {
    alert(&labelled(refusal.hint.as_deref().unwrap_or(refusal.code.text())))
}
