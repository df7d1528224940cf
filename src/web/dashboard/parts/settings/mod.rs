//! The settings of a property, one card each: the visitor's own marks and tags, share links, the team, and what its pages and queries are
//! called.

mod brand;
mod conditions;
mod grants;
mod known;
mod links;
mod opens;
mod preview;
mod saved;
mod site;
mod tags;
mod team;

use api::error::ApiError;
use common::compute::in_place;
use maud::{Markup, html};

use self::{known::Known, saved::Kind};
use crate::web::dashboard::{
    door::Door,
    forms::{self, Sent, Write},
    opened::Opened,
};

/// The parameters of the page besides those of the question: the record that is being changed, and a wish for suggestions.
pub const NAMES: [&str; 2] = ["edit", "suggest"];

/// The sections, each with its anchor and its name.
const SITE: (&str, &str) = ("site", "This site");
const LINKS: (&str, &str) = ("links", "Share links");
const TEAM: (&str, &str) = ("team", "Team");
const BRAND: (&str, &str) = ("brand", "Brand keywords");
const SEGMENTS: (&str, &str) = ("segments", "Segments of pages");
const CLUSTERS: (&str, &str) = ("clusters", "Topic clusters of queries");
const SECTIONS: [(&str, &str); 6] = [SITE, LINKS, TEAM, BRAND, SEGMENTS, CLUSTERS];

/// Returns the write that a form asks for, or `None` for a form that is only shown again.
pub fn write(door: &Door, sent: &Sent) -> Result<Option<Write>, ApiError> {
    let (section, verb) = sent.text(forms::ACTION).and_then(|action| action.split_once('.')).unwrap_or_default();
    let write = match section {
        "site" => site::write(door, verb, sent),
        "links" => links::write(door, verb, sent),
        "team" => team::write(door, verb, sent),
        "brand" => brand::write(door, verb, sent),
        "segments" => saved::write(Kind::Segments, door, verb, sent),
        "clusters" => saved::write(Kind::Clusters, door, verb, sent),
        _ => None,
    };
    let write = write.ok_or_else(forms::unknown)?;
    Ok(Some(write).filter(|_| !sent.used(forms::AGAIN)))
}

/// Draws the page.
pub async fn page(opened: &Opened<'_>) -> Result<Markup, ApiError> {
    let known = Box::pin(Known::read(opened)).await?;
    // The refusal of a form of no section.
    let stray = opened.sent.as_ref().map(Sent::section).filter(|at| !at.is_empty());
    let stray = stray.filter(|at| SECTIONS.iter().all(|(section, _)| section != at));
    let card = |(id, name): (&str, &str), body: Markup| card(opened, id, name, &body);
    Ok(in_place(|| {
        html! {
        div.controls {
            nav.choices aria-label="Parts of the settings" {
                @for (id, name) in SECTIONS { a href={ "#" (id) } { (name) } }
            }
        }
        @if let Some(at) = stray { (forms::notice(at, None, opened.sent.as_ref())) }
        div.settings {
            div {
                (card(SITE, site::draw(opened, &known)))
                (card(LINKS, links::draw(opened, &known)))
                (card(TEAM, team::draw(opened, &known)))
            }
            div {
                (card(BRAND, brand::draw(opened, &known.brand)))
                (card(SEGMENTS, saved::draw(Kind::Segments, opened, &known.segments)))
                (card(CLUSTERS, saved::draw(Kind::Clusters, opened, &known.clusters)))
            }
        }
        }
    }))
}

/// A section with its anchor, and what its last form did.
fn card(opened: &Opened<'_>, id: &str, name: &str, body: &Markup) -> Markup {
    html! {
        section.card #(id) aria-labelledby={ (id) "-name" } {
            h2 #{ (id) "-name" } { (name) }
            (forms::notice(id, opened.view.done.as_deref(), opened.sent.as_ref()))
            (body)
        }
    }
}

/// The address of this page with some parameters changed, at a place of it. It is whole, so that the browser goes to the place.
fn at(opened: &Opened<'_>, changes: &[(&'static str, Option<&str>)], place: &str) -> String {
    format!("{}{}#{place}", opened.asker.page.path(), opened.view.link(changes))
}

/// The fields that name a record and the version of it that a form changes.
fn of(id: &str, etag: &str) -> Markup {
    html! {
        input type="hidden" name="id" value=(id);
        input type="hidden" name=(forms::VERSION) value=(etag);
    }
}

/// Says that the plan of the visitor lacks something.
fn lacking(what: &str) -> Markup {
    html! {
        p.notice.warn { "Your plan does not include " (what) ". " a href="/subscribe" { "Plans" } }
    }
}
