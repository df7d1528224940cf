//! Segments of pages and topic clusters of queries. They differ in what their conditions are about.

use api::{
    classifications::{ClassificationCondition, Segment, TopicCluster},
    models::Dimension,
};
use maud::{Markup, html};
use poem::http::Method;
use serde_json::{Value, json};

use super::{at, conditions, of, preview};
use crate::web::dashboard::{
    door::Door,
    draw::conditions::{joined, rule},
    forms::{self, PREVIEW, Sent, Write},
    opened::Opened,
};

/// A list longer than this is folded.
const LONG: usize = 8;

/// Segments or topic clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Segments,
    Clusters,
}

impl Kind {
    fn id(self) -> &'static str {
        if self == Self::Segments { "segments" } else { "clusters" }
    }

    /// The last part of the operations' paths.
    fn operation(self) -> &'static str {
        if self == Self::Segments { "segments" } else { "topic-clusters" }
    }

    /// The word before an id in the parameter `classification`.
    pub fn classification(self) -> &'static str {
        if self == Self::Segments { "segment" } else { "topicCluster" }
    }

    fn one(self) -> &'static str {
        if self == Self::Segments { "segment" } else { "topic cluster" }
    }

    pub fn table(self) -> Dimension {
        if self == Self::Segments { Dimension::Page } else { Dimension::Query }
    }

    /// The beginning of its conditions in words.
    pub fn subject(self) -> &'static str {
        if self == Self::Segments { "Pages whose address " } else { "Queries whose text " }
    }

    fn action(self, verb: &str) -> String {
        format!("{}.{verb}", self.id())
    }
}

/// A segment or a topic cluster.
pub struct Saved {
    pub id: String,
    pub name: String,
    color: Option<String>,
    conditions: Vec<ClassificationCondition>,
    created_by: Option<String>,
    etag: String,
}

impl From<Segment> for Saved {
    fn from(Segment { id, name, color, conditions, created_by, etag, .. }: Segment) -> Self {
        Self { id: id.to_string(), name, color, conditions, created_by, etag }
    }
}

impl From<TopicCluster> for Saved {
    fn from(TopicCluster { id, name, color, conditions, created_by, etag, .. }: TopicCluster) -> Self {
        Self { id: id.to_string(), name, color, conditions, created_by, etag }
    }
}

/// Returns the write that a form asks for.
pub fn write(kind: Kind, door: &Door, verb: &str, sent: &Sent) -> Option<Write> {
    let all = door.operation(kind.operation());
    let one = || Some(format!("{all}/{}", sent.segment("id")?));
    match verb {
        "add" | "change" if sent.used(PREVIEW) => {
            Some(Write::preview(format!("{all}/preview"), json!({ "conditions": conditions::body(sent) })))
        }
        "add" => Some(Write::new(Method::POST, all, body(sent), "added")),
        "change" => Some(Write::new(Method::PUT, one()?, body(sent), "saved")),
        "delete" => Some(Write::delete(one()?, "deleted")),
        _ => None,
    }
}

fn body(sent: &Sent) -> Value {
    json!({
        "name": sent.text("name").unwrap_or_default(),
        "color": sent.text("color").filter(|_| sent.ticks("colored", "true")),
        "conditions": conditions::body(sent),
    })
}

/// Draws the section.
pub fn draw(kind: Kind, opened: &Opened<'_>, all: &[Saved]) -> Markup {
    let add = kind.action("add");
    let is_open = opened.again(&add, None).is_some();
    let list = html! {
        ul.records { @for saved in all { li #{ (kind.id()) "-" (saved.id) } { (item(kind, opened, saved)) } } }
    };
    let is_folded = all.len() > LONG && !all.iter().any(|saved| opened.view.text("edit") == Some(&saved.id));
    html! {
        @if all.is_empty() {
            p.quiet-text { "There is no " (kind.one()) " yet. Each one narrows every page of this site to its " (kind.table().table()) ", by one click." }
        } @else if is_folded {
            details { summary { (all.len()) " of them" } (list) }
        } @else { (list) }
        @if opened.may_edit() {
            details.add open[is_open] {
                summary { "Add a " (kind.one()) }
                (form(kind, opened, &add, None))
            }
        }
    }
}

/// One record, or the form that changes it.
fn item(kind: Kind, opened: &Opened<'_>, saved: &Saved) -> Markup {
    let id = &saved.id;
    let place = format!("{}-{id}", kind.id());
    let words = saved
        .conditions
        .iter()
        .map(|condition| (condition.logic, rule(kind.table(), condition.operator, &condition.value)));
    html! {
        @if opened.may_edit() && opened.view.text("edit") == Some(id) {
            h3 { "Change " bdi { (saved.name) } }
            (form(kind, opened, &kind.action("change"), Some(saved)))
            p { a href=(at(opened, &[("edit", None)], kind.id())) { "Leave it as it was" } }
        } @else {
            h3 { @if let Some(color) = &saved.color { (swatch(color)) } bdi { (saved.name) } }
            p { (kind.subject()) (joined(words)) "." }
            @if let Some(by) = &saved.created_by { p.quiet-text { "Made by " bdi { (by) } } }
            div.actions {
                a href={ (opened.door.root()) "?classification=" (kind.classification()) ":" (id) } { "Its numbers" span.visually-hidden { ", " (saved.name) } }
                @if opened.may_edit() {
                    a href=(at(opened, &[("edit", Some(id))], &place)) { "Change" span.visually-hidden { " " (saved.name) } }
                    (forms::delete(&kind.action("delete"), "Delete", &[("id", id), (forms::VERSION, &saved.etag)]))
                }
            }
        }
    }
}

/// A colour. It is an attribute of a shape, because the page takes no styles but those of its stylesheet.
fn swatch(color: &str) -> Markup {
    html! { svg.swatch viewBox="0 0 10 10" aria-hidden="true" { circle cx="5" cy="5" r="5" fill=(color) {} } " " }
}

/// The fields of a record: as they were sent, or else as the record has them.
fn form(kind: Kind, opened: &Opened<'_>, action: &str, saved: Option<&Saved>) -> Markup {
    let sent = opened.again(action, saved.map(|saved| saved.id.as_str()));
    let name = sent.map_or_else(|| saved.map(|saved| saved.name.as_str()), |sent| sent.text("name"));
    let color = saved.and_then(|saved| saved.color.as_deref());
    let is_colored = sent.map_or_else(|| color.is_some(), |sent| sent.ticks("colored", "true"));
    let color = sent.map_or(color, |sent| sent.text("color")).unwrap_or("#0a5bc4");
    let rows = conditions::rows(sent, saved.map_or(&[], |saved| &saved.conditions));
    html! {
        form method="post" action=[forms::anchor(action)] {
            (opened.form(action))
            @if let Some(saved) = saved { (of(&saved.id, &saved.etag)) }
            div.fields {
                label { "Name" input type="text" name="name" required maxlength="100" value=[name]; }
                div.colored {
                    label.choice { input type="checkbox" name="colored" value="true" checked[is_colored]; "With a colour" }
                    input type="color" name="color" aria-label="Colour" value=(color);
                }
            }
            (conditions::fields(kind.subject().trim_end(), &rows))
            (preview::draw(sent, kind.table(), "These conditions"))
            div.actions {
                button { @if saved.is_some() { "Save" } @else { "Add" } }
                button.secondary name=(forms::BUTTON) value=(PREVIEW) formnovalidate { "Preview" }
                (conditions::more(&rows))
            }
        }
    }
}
