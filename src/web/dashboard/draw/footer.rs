//! The end of a page: when its numbers were read, and how to ask the same question elsewhere.

use api::{analytics::AnswerMeta, models::SearchType};
use maud::{Markup, html};
use pages::page::words::time;
use url::form_urlencoded::Serializer;

use super::{
    conditions::{joined, raw_clause},
    words,
};
use crate::web::dashboard::{
    ask::Link,
    door::{Door, Query},
    kind,
    opened::Opened,
};

/// Draws the end of the page. `query` asks the `operation` for what the page shows.
pub fn of(opened: &Opened<'_>, meta: &AnswerMeta, link: Option<&Link>, operation: &str, query: &Query) -> Markup {
    html! {
        footer {
            p.quiet-text {
                "Read from the search engine " (time(meta.cached_at.into())) "."
                @if let Some(end) = link.and_then(|link| link.expires_at) { " This link works until " (time(end.into())) "." }
            }
            details {
                summary { "The same question in the API" }
                pre tabindex="0" { code { (command(opened, operation, query)) } }
            }
            @if let Door::Signed(_) = opened.door {
                details {
                    summary { "For your assistant" }
                    p {
                        "Show me the search performance of " bdi dir="ltr" { (opened.site.name) } " from " (meta.window.start_date) " to " (meta.window.end_date)
                        @if let Some(before) = meta.compare_window { ", against " (before.start_date) " to " (before.end_date) }
                        (slice(opened))
                        ". " "Explain the change in clicks and say what the tables leave out."
                    }
                    p.quiet-text { "An assistant that is connected with this service answers it with the same numbers, of " (words::window(meta.window)) "." }
                }
            }
        }
    }
}

/// The slice of the page for an assistant: the kind of search, the part of the traffic, and the conditions with their values as they are.
fn slice(opened: &Opened<'_>) -> Markup {
    let view = &opened.view;
    html! {
        @if view.search_type() != SearchType::Web { ", search type " (kind::name(view.search_type())) }
        @if let Some((value, name)) = opened.class() { ", only " bdi { (name) } " (classification " code { (value) } ")" }
        @if !view.filters.is_empty() {
            ", where " (joined(view.filters.iter().map(|condition| (condition.logic, raw_clause(condition)))))
        }
    }
}

/// A command that asks the operation of the page. It never holds the token of a share link: a page is copied and printed.
fn command(opened: &Opened<'_>, operation: &str, query: &Query) -> String {
    // Percent-encoding leaves nothing that means something to a shell.
    let query = Serializer::new(String::new()).extend_pairs(query).finish();
    let url = |path: &str| opened.base_url.join(&format!("{path}?{query}"));
    match opened.door {
        Door::Signed(_) => {
            format!("curl -H \"Authorization: Bearer $TOKEN\" \"{}\"", url(&opened.door.operation(operation)))
        }
        Door::Shared(_) => format!("curl \"{}\"", url(&format!("/api/share/$TOKEN/{operation}"))),
    }
}
