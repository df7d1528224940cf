//! The notes of a property: read, add, change and delete.

use api::{
    annotations::{Annotation, AnnotationSource},
    answer::List,
    error::ApiError,
    models::{FIRST_DAY, LAST_DAY, parse_day},
};
use chrono::NaiveDate;
use common::compute::in_place;
use maud::{Markup, html};
use poem::http::Method;
use serde_json::json;

use crate::web::dashboard::{
    door::Door,
    draw::{paging::pages, words},
    forms::{self, Sent, Write},
    opened::Opened,
};

/// The notes of a page.
const ROWS: u32 = 50;

/// The parameters of the page besides those of the question: the day of a new note, the note that is being changed, engine updates.
pub const NAMES: [&str; 4] = ["day", "edit", "updates", "offset"];

/// The forms of the page.
const ADD: &str = "add_note";
const CHANGE: &str = "change_note";
const DELETE: &str = "delete_note";

/// Returns the write that a form asks for.
pub fn write(door: &Door, sent: &Sent) -> Option<Write> {
    let all = door.operation("annotations");
    let one = || Some(format!("{all}/{}", sent.segment("id")?));
    let note = || {
        json!({
            "date": sent.text("date").unwrap_or_default(),
            "endDate": sent.text("endDate"),
            "category": sent.text("category"),
            "text": sent.text("text").unwrap_or_default(),
        })
    };
    match sent.text(forms::ACTION)? {
        ADD => Some(Write::new(Method::POST, all, note(), "added")),
        CHANGE => Some(Write::new(Method::PUT, one()?, note(), "saved")),
        DELETE => Some(Write::delete(one()?, "deleted")),
        _ => None,
    }
}

/// Draws the page.
pub async fn page(opened: &Opened<'_>) -> Result<Markup, ApiError> {
    let view = &opened.view;
    let (offset, updates) = (view.number("offset")?, view.text("updates").is_some());
    let day = view.text("day").map(parse_day).transpose().map_err(|allowed| ApiError::invalid("day", &allowed))?;
    let day = day.unwrap_or(opened.today);
    let query = [("includeSystem", updates.to_string()), ("limit", ROWS.to_string()), ("offset", offset.to_string())];
    let List { data: notes, meta } = opened.asker.visitor().annotations(&query).await?;
    Ok(in_place(|| {
        html! {
        div.controls {
            nav.choices aria-label="Notes" {
                a href=(view.link(&[("updates", None), ("offset", None)])) aria-current=[(!updates).then_some("true")] { "Notes" }
                a href=(view.link(&[("updates", Some("true")), ("offset", None)])) aria-current=[updates.then_some("true")] { "Also updates of the search engine" }
            }
        }
        @if opened.may_edit() {
            section.card aria-labelledby="add" {
                h2 #add { "Add a note" }
                (form(opened, ADD, day, None))
            }
        }
        @if notes.is_empty() { p { "There are no notes yet. A note marks a day in the chart, such as a new version of the site." } }
        ol.notes { @for note in &notes { li.card #{ "note-" (note.id) } { (item(opened, note)) } } }
        (pages(view, offset, ROWS, meta.has_more))
        }
    }))
}

/// One note, or the form that changes it.
fn item(opened: &Opened<'_>, note: &Annotation) -> Markup {
    let (view, id) = (&opened.view, note.id.to_string());
    let is_own = note.source == AnnotationSource::User && opened.may_edit();
    let is_changed = is_own && view.text("edit") == Some(&id);
    html! {
        @if is_changed {
            (form(opened, CHANGE, note.date, Some(note)))
            p { a href=(view.link(&[("edit", None)])) { "Leave it as it was" } }
        } @else {
            p {
                strong { (words::weekday(note.date)) @if let Some(end) = note.end_date { " – " (words::weekday(end)) } }
                @if let Some(category) = &note.category { " " span.tag { (category) } }
            }
            p.note { bdi { (note.text) } }
            p.quiet-text {
                @if note.source == AnnotationSource::System { "Search engine" } @else if let Some(by) = &note.created_by { bdi { (by) } }
                @if let Some(url) = &note.source_url { " · " a href=(url) rel="noreferrer" { "Source" } }
            }
            @if is_own {
                div.actions {
                    a href={ (view.link(&[("edit", Some(&id))])) "#note-" (id) } { "Change" }
                    (forms::delete(DELETE, "Delete", &[("id", &id), (forms::VERSION, &note.etag)]))
                }
            }
        }
    }
}

/// The fields of a note: as they were sent, or else as the note has them.
fn form(opened: &Opened<'_>, action: &str, day: NaiveDate, note: Option<&Annotation>) -> Markup {
    let field = |name: &str, stored: Option<String>| opened.kept(action, name).map(str::to_owned).or(stored);
    let date = field("date", Some(note.map_or(day, |note| note.date).to_string()));
    let end = field("endDate", note.and_then(|note| note.end_date).map(|end| end.to_string()));
    let category = field("category", note.and_then(|note| note.category.clone()));
    let text = field("text", note.map(|note| note.text.clone()));
    html! {
        form method="post" {
            (opened.form(action))
            @if let Some(note) = note {
                input type="hidden" name="id" value=(note.id);
                input type="hidden" name=(forms::VERSION) value=(note.etag);
            }
            div.fields {
                label { "Day" input type="date" name="date" required value=[date] min=(FIRST_DAY) max=(LAST_DAY); }
                label { "Last day, for a range" input type="date" name="endDate" value=[end] min=(FIRST_DAY) max=(LAST_DAY); }
                label { "Category, if you like" input type="text" name="category" maxlength="50" value=[category]; }
            }
            label { "Note" textarea name="text" required maxlength="2000" rows="3" { (text.unwrap_or_default()) } }
            div.actions { button { @if note.is_some() { "Save" } @else { "Add" } } }
        }
    }
}
