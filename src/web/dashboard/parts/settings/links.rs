//! Share links: those that are there, and the form that makes one.

use api::{
    models::{FIRST_DAY, LAST_DAY},
    sharing::ShareLink,
};
use maud::{Markup, html};
use pages::page::words::time;
use poem::http::Method;
use serde_json::{Value, json};

use super::{
    known::Known,
    lacking,
    opens::{Opens, PARTS, end},
    saved::{Kind, Saved},
};
use crate::web::dashboard::{
    door::Door,
    draw::conditions::{clause, joined},
    forms::{self, AGAIN, Sent, Write},
    opened::Opened,
};

const MAKE: &str = "links.make";
const REVOKE: &str = "links.revoke";

/// Returns the write that a form asks for.
pub fn write(door: &Door, verb: &str, sent: &Sent) -> Option<Write> {
    let all = door.operation("share-links");
    match verb {
        "make" => Some(Write::new(Method::POST, all, body(sent), "made")),
        "revoke" => Some(Write::delete(format!("{all}/{}", sent.segment("id")?), "revoked")),
        _ => None,
    }
}

fn body(sent: &Sent) -> Value {
    let day = |field: &str| sent.text(field).unwrap_or_default();
    let window = || json!({ "startDate": day("startDate"), "endDate": day("endDate") });
    // What is no JSON is refused by the operation, which names the field.
    let filters = sent.text("filters").map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    json!({
        "name": sent.text("name"),
        "expiresAt": end(sent),
        "window": (sent.text("days") == Some("fixed")).then(window),
        "filters": filters,
        "classification": sent.text("classification"),
        "show": sent.all("show").collect::<Vec<_>>(),
    })
}

/// Draws the section.
pub fn draw(opened: &Opened<'_>, known: &Known) -> Markup {
    let has_links = known.features.is_none_or(|features| features.share_links);
    html! {
        @if known.links.is_empty() { p.quiet-text { "There are no share links. Whoever has one reads numbers of this site without signing in." } }
        ul.records { @for link in &known.links { li { (item(opened, known, link)) } } }
        @if opened.may_share() && has_links {
            details.add open[opened.again(MAKE, None).is_some()] {
                summary { "Make a share link" }
                (form(opened, known))
            }
        } @else if opened.may_share() { (lacking("share links")) }
    }
}

fn item(opened: &Opened<'_>, known: &Known, link: &ShareLink) -> Markup {
    let name = link.name.as_deref().unwrap_or("Link without a name");
    html! {
        h3 { bdi { (name) } }
        @if let Some(url) = &link.url {
            div.copied {
                input type="text" readonly value=(url) aria-label={ "Address of " (name) };
                button.secondary.copy type="button" { "Copy" }
                a href=(url) { "Open" span.visually-hidden { " " (name) } }
            }
        }
        p { (Opens::of(link).words(known)) }
        p.quiet-text { "Made " (time(link.created_at.into())) @if let Some(by) = &link.created_by { " by " bdi { (by) } } }
        @if opened.may_share() {
            (forms::delete(REVOKE, "Revoke", &[("id", &link.id.to_string()), (forms::VERSION, &link.etag)]))
        }
    }
}

/// The form of a new link. It says what the link would open before it is made.
fn form(opened: &Opened<'_>, known: &Known) -> Markup {
    let sent = opened.again(MAKE, None);
    let kept = |field: &str| sent.and_then(|sent| sent.text(field));
    html! {
        p { "Anybody who has the address reads it, without signing in: totals, the chart, countries, devices and search appearance, and what you tick. A link shows no names of people, and nothing can be changed by it." }
        form method="post" action=[forms::anchor(MAKE)] {
            (opened.form(MAKE))
            div.fields {
                label { "Name, which readers see" input type="text" name="name" maxlength="100" value=[kept("name")]; }
                label { "Open until the end of this day in UTC; empty: until you revoke it" input type="date" name="ends" value=[kept("ends")] min=(opened.today) max=(LAST_DAY); }
            }
            (days(opened, sent))
            (traffic(opened, known, sent))
            fieldset {
                legend { "Readers also see" }
                @for (_, name) in PARTS {
                    label.choice { input type="checkbox" name="show" value=(name) checked[sent.is_none_or(|sent| sent.ticks("show", name))]; (name) }
                }
            }
            @if let Some(sent) = sent.filter(|sent| sent.used(AGAIN)) {
                p.preview role="status" { strong { "It would open: " } (Opens::asked(sent).words(known)) }
            }
            div.actions {
                button { "Make the link" }
                button.secondary name=(forms::BUTTON) value=(AGAIN) { "What would it open?" }
            }
        }
    }
}

/// The days of a link: the reader's choice, or fixed ones, at first those of the page.
fn days(opened: &Opened<'_>, sent: Option<&Sent>) -> Markup {
    let is_fixed = sent.is_some_and(|sent| sent.text("days") == Some("fixed"));
    let window = opened.view.window(opened.today, opened.last_final);
    let day = |field: &str, of_page: Option<String>| sent.map_or(of_page, |sent| sent.text(field).map(str::to_owned));
    let start = day("startDate", window.map(|window| window.start_date.to_string()));
    let end = day("endDate", window.map(|window| window.end_date.to_string()));
    html! {
        fieldset {
            legend { "Days" }
            label.choice { input type="radio" name="days" value="choice" checked[!is_fixed]; "Readers choose, up to 16 months back" }
            label.choice { input type="radio" name="days" value="fixed" checked[is_fixed]; "Only these days, without a comparison" }
            div.fields {
                label { "First day" input type="date" name="startDate" value=[start] min=(FIRST_DAY) max=(LAST_DAY); }
                label { "Last day" input type="date" name="endDate" value=[end] min=(FIRST_DAY) max=(LAST_DAY); }
            }
        }
    }
}

/// The traffic of a link: a classification, and the conditions of the page.
fn traffic(opened: &Opened<'_>, known: &Known, sent: Option<&Sent>) -> Markup {
    let view = &opened.view;
    let current = sent.map_or_else(|| view.text("classification"), |sent| sent.text("classification"));
    let choice =
        |value: &str, words: Markup| html! { option value=(value) selected[current == Some(value)] { (words) } };
    let group = |kind: Kind, name: &str, all: &[Saved]| {
        html! {
            @if !all.is_empty() {
                optgroup label=(name) {
                    @for saved in all { (choice(&format!("{}:{}", kind.classification(), saved.id), html! { (saved.name) })) }
                }
            }
        }
    };
    html! {
        label {
            "Traffic"
            select name="classification" {
                option value="" { "All traffic" }
                @if !known.brand.data.is_empty() {
                    (choice("branded", html! { "Branded queries" }))
                    (choice("nonBranded", html! { "Queries that are not branded" }))
                }
                (group(Kind::Segments, "Pages of a segment", &known.segments))
                (group(Kind::Clusters, "Queries of a topic cluster", &known.clusters))
            }
        }
        @if let Some((_, filters)) = view.conditions() {
            label.choice {
                input type="checkbox" name="filters" value=(filters) checked[sent.is_none_or(|sent| sent.text("filters").is_some())];
                span { "Only what this view shows: where " (joined(view.filters.iter().map(|condition| (condition.logic, clause(condition))))) }
            }
        } @else {
            p.quiet-text { "To share a part only, click rows of the " a href=(opened.door.root()) { "overview" } " to filter it, then come back by Settings." }
        }
    }
}
