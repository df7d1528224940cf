//! The states of a search account in words, with the way out.

use chrono::{DateTime, Utc};
use maud::{Markup, html};
use search_engine::TroubleKind;

use crate::{error::Disconnection, services::connections::AccountView};

/// A state: its colour class, its words, and the way out.
struct Words {
    class: &'static str,
    title: &'static str,
    way_out: Option<&'static str>,
}

/// The account's state, since when, the search engine's last refusal, and the way out.
pub(super) fn state(account: &AccountView) -> Markup {
    let Words { class, title, way_out } = words(account);
    let since = account.trouble.map_or(account.since, |trouble| trouble.since);
    html! {
        p {
            span.state.(class) { (title) } " " span.quiet-text { "since " (time(since)) }
        }
        @if let Some(way_out) = way_out { p { (way_out) } }
        @if let Some(said) = &account.said { p.quiet-text { "The search engine said: " (said) } }
    }
}

fn words(account: &AccountView) -> Words {
    match (account.ended, account.trouble.map(|trouble| trouble.kind)) {
        (Some(Disconnection::ByPerson), _) => Words {
            class: "warn",
            title: "Disconnected",
            way_out: Some("You disconnected this account. Its properties are kept. Reconnect it to read them again."),
        },
        (Some(Disconnection::ScopeMissing), _) => Words {
            class: "bad",
            title: "Search data may not be read",
            way_out: Some(
                "Reconnect the account, and leave the box for Search Console data ticked at the search engine.",
            ),
        },
        (Some(Disconnection::Revoked | Disconnection::NeverConnected), _) => Words {
            class: "bad",
            title: "Access ended by the search engine",
            way_out: Some(
                "The access was removed at the search engine, was not used for a long time, or has expired. Reconnect the account.",
            ),
        },
        (None, Some(TroubleKind::Quota)) => Words {
            class: "warn",
            title: "The search engine's quota is used up",
            way_out: Some(
                "There is nothing to do: questions are answered again when the search engine allows more, often within 15 minutes.",
            ),
        },
        (None, Some(TroubleKind::Unreachable)) => Words {
            class: "warn",
            title: "The search engine does not answer",
            way_out: Some(
                "There is nothing to do: it is asked again with the next question. Data that is kept in memory is still shown.",
            ),
        },
        (None, Some(TroubleKind::Misconfigured)) => Words {
            class: "bad",
            title: "The search engine refuses this service",
            way_out: Some("The operator of this service finds the reason in its log."),
        },
        (None, None) => Words { class: "good", title: "Connected", way_out: None },
    }
}

/// The fate of the access at the search engine, after the account was disconnected here. Nothing if it has been connected again since.
pub(super) fn ended_there(shown: &AccountView, query: &str) -> Markup {
    let query = if shown.ended.is_some() { query } else { "" };
    html! {
        @if query == "there=unanswered" {
            div.notice.warn role="alert" {
                p {
                    "The account is disconnected here, but the search engine did not answer. Remove this service's access "
                    "in the settings of your account there, too."
                }
            }
        } @else if query == "there=shared" {
            div.notice role="status" {
                p {
                    "The account is disconnected here. At the search engine the access stays, because the same account is "
                    "connected by another person of this service."
                }
            }
        }
    }
}

fn time(at: DateTime<Utc>) -> Markup {
    html! { time datetime=(at.to_rfc3339()) { (at.format("%-d %B %Y, %H:%M UTC")) } }
}
