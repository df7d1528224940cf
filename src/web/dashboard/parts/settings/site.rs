//! The visitor's own marks on the property: favourite, hidden, and tags.

use common::names::sites;
use maud::{Markup, html};
use poem::http::Method;
use serde_json::json;

use super::{known::Known, tags};
use crate::web::dashboard::{
    door::Door,
    forms::{self, Sent, Write},
    opened::Opened,
};

/// Returns the write that a form asks for.
pub fn write(door: &Door, verb: &str, sent: &Sent) -> Option<Write> {
    let marked = sent.text("marked") == Some("true");
    match verb {
        "favorite" | "hidden" => {
            Some(Write::new(Method::PUT, door.operation(verb), json!({ (verb): marked }), "saved"))
        }
        _ => tags::write(door, verb, sent),
    }
}

/// Draws the section.
pub fn draw(opened: &Opened<'_>, known: &Known) -> Markup {
    let site = &known.property;
    let owner = site.owner_name.as_ref().or(site.owner_email.as_ref());
    html! {
        p {
            "The search engine calls it " code { (sites::address(&site.site_url)) } "."
            @if let Some(owner) = owner { " It belongs to " bdi { (owner) } "." }
            " Only you see your marks and tags."
        }
        div.actions {
            (toggle(opened, "site.favorite", site.favorite, "Mark as a favourite", "No longer a favourite"))
            (toggle(opened, "site.hidden", site.hidden, "Hide it from your sites", "Show it among your sites again"))
        }
        (tags::draw(opened, known))
    }
}

/// A button that marks the property, or takes the mark away.
fn toggle(opened: &Opened<'_>, action: &str, is_marked: bool, mark: &str, unmark: &str) -> Markup {
    html! {
        form method="post" action=[forms::anchor(action)] {
            (opened.form(action))
            input type="hidden" name="marked" value=(!is_marked);
            button.secondary { (if is_marked { unmark } else { mark }) }
        }
    }
}
