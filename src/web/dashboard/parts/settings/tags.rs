//! The visitor's tags: those on the property, and all of them.

use api::tags::Tag;
use maud::{Markup, html};
use poem::http::Method;
use serde_json::json;

use super::{known::Known, of};
use crate::web::dashboard::{
    door::Door,
    forms::{self, Sent, Write},
    opened::Opened,
};

/// The most tags that are shown, besides those on the property.
const MOST: usize = 100;

const SET: &str = "site.tags";
const ADD: &str = "site.add_tag";
const RENAME: &str = "site.rename_tag";
const DELETE: &str = "site.delete_tag";

/// Returns the write that a form asks for.
pub fn write(door: &Door, verb: &str, sent: &Sent) -> Option<Write> {
    let name = || json!({ "name": sent.text("name").unwrap_or_default() });
    let one = || Some(format!("/api/tags/{}", sent.segment("id")?));
    match verb {
        "tags" => {
            let ids: Vec<&str> = sent.all("tag").collect();
            Some(Write::new(Method::POST, door.operation("tags"), json!({ "tagIds": ids }), "saved"))
        }
        "add_tag" => Some(Write::new(Method::POST, "/api/tags".to_owned(), name(), "added")),
        "rename_tag" => Some(Write::new(Method::PUT, one()?, name(), "saved")),
        "delete_tag" => Some(Write::delete(one()?, "deleted")),
        _ => None,
    }
}

/// Draws the tags.
pub fn draw(opened: &Opened<'_>, known: &Known) -> Markup {
    let is_on = |tag: &Tag| known.property.tag_ids.contains(&tag.id);
    let numbered = known.tags.iter().enumerate();
    let shown: Vec<&Tag> = numbered.filter(|(index, tag)| *index < MOST || is_on(tag)).map(|(_, tag)| tag).collect();
    let left = known.tags.len() - shown.len();
    let again = |action: &str| opened.sent.as_ref().is_some_and(|sent| sent.text(forms::ACTION) == Some(action));
    html! {
        h3 { "Your tags on it" }
        @if shown.is_empty() { p.quiet-text { "You have no tags yet. With tags you find sites that belong together, and their sums." } } @else {
            form method="post" action=[forms::anchor(SET)] {
                (opened.form(SET))
                div.ticks {
                    @for tag in &shown {
                        @let id = tag.id.to_string();
                        @let is_ticked = opened.again(SET, None).map_or(is_on(tag), |sent| sent.ticks("tag", &id));
                        label.choice { input type="checkbox" name="tag" value=(id) checked[is_ticked]; bdi { (tag.name) } }
                    }
                }
                @if left > 0 { p.quiet-text { "You have " (left) " more tags, which the API can put on a site." } }
                div.actions { button { "Save tags" } }
            }
        }
        details.add open[again(ADD)] {
            summary { "New tag" }
            form.row method="post" action=[forms::anchor(ADD)] {
                (opened.form(ADD))
                label { "Name" input type="text" name="name" required maxlength="100" value=[opened.kept(ADD, "name")]; }
                button { "Add tag" }
            }
        }
        @if !shown.is_empty() {
            details.add open[again(RENAME) || again(DELETE)] {
                summary { "Rename or delete tags" }
                ul.records { @for tag in &shown { li { (item(opened, tag)) } } }
            }
        }
    }
}

fn item(opened: &Opened<'_>, tag: &Tag) -> Markup {
    let id = tag.id.to_string();
    let name = opened.again(RENAME, Some(&id)).map_or(Some(&*tag.name), |sent| sent.text("name"));
    html! {
        form.row method="post" action=[forms::anchor(RENAME)] {
            (opened.form(RENAME))
            (of(&id, &tag.etag))
            input type="text" name="name" required maxlength="100" aria-label={ "Name of the tag " (tag.name) } value=[name];
            button.secondary { "Rename" span.visually-hidden { " " (tag.name) } }
        }
        (forms::delete(DELETE, "Delete", &[("id", &id), (forms::VERSION, &tag.etag)]))
    }
}
