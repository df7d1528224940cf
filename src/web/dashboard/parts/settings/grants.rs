//! The grants that an owner made, as far as they cover the property or could.

use api::team::{GrantStatus, TeamGrant};
use maud::{Markup, html};
use uuid::Uuid;

use super::{known::Known, of};
use crate::web::dashboard::{forms, opened::Opened};

const ROLE: &str = "team.role";
const SITES: &str = "team.sites";
const REMOVE: &str = "team.remove";

/// The roles, each with its name in the API, in words, and what it may do.
pub const ROLES: [(&str, &str, &str); 3] = [
    ("viewer", "Viewer", "reads"),
    ("editor", "Editor", "also writes notes, keywords, segments and topic clusters"),
    ("admin", "Admin", "also makes share links"),
];

/// Draws the people who see the property, and folded those who see others only. Without a team in the plan a grant can only be removed.
pub fn draw(opened: &Opened<'_>, known: &Known, has_team: bool) -> Markup {
    let id = known.property.id;
    let (here, elsewhere): (Vec<&TeamGrant>, Vec<_>) =
        known.grants.iter().partition(|grant| grant.all_properties || grant.property_ids.contains(&id));
    html! {
        @if here.is_empty() { p { "Nobody else sees this site." } }
        ul.records { @for grant in here { li { (item(opened, grant, id, has_team)) } } }
        @if !elsewhere.is_empty() && has_team {
            details.add {
                summary { (elsewhere.len()) " who see other sites of yours" }
                ul.records {
                    @for grant in elsewhere {
                        li {
                            h3 { bdi { (grant.email) } }
                            (sites(opened, grant, &[&grant.property_ids[..], &[id]].concat(), "Share this site, too"))
                        }
                    }
                }
            }
        }
    }
}

fn item(opened: &Opened<'_>, grant: &TeamGrant, id: Uuid, has_team: bool) -> Markup {
    let others: Vec<Uuid> = grant.property_ids.iter().copied().filter(|other| *other != id).collect();
    let removes = if grant.all_properties || !others.is_empty() { "Remove from all sites" } else { "Remove" };
    html! {
        h3 { bdi { (grant.email) } }
        p.quiet-text {
            @match grant.status { GrantStatus::Pending => "Has not been here yet. ", GrantStatus::Active => "Has been here. " }
            @if grant.all_properties { "Sees all your sites, later ones too." }
            @else if others.is_empty() { "Sees this site." }
            @else { "Sees this site and " (others.len()) (if others.len() == 1 { " other." } else { " others." }) }
        }
        @if has_team { (role(opened, grant)) }
        div.actions {
            @if has_team && !others.is_empty() { (sites(opened, grant, &others, "Remove from this site")) }
            (forms::delete(REMOVE, removes, &[("id", &grant.id.to_string()), (forms::VERSION, &grant.etag)]))
        }
    }
}

/// The form that changes the role.
fn role(opened: &Opened<'_>, grant: &TeamGrant) -> Markup {
    let id = grant.id.to_string();
    let current = opened.again(ROLE, Some(&id)).and_then(|sent| sent.text("role"));
    let current = current.unwrap_or(ROLES[grant.role as usize].0);
    html! {
        form.row method="post" action=[forms::anchor(ROLE)] {
            (opened.form(ROLE))
            (of(&id, &grant.etag))
            select name="role" aria-label={ "Role of " (grant.email) } {
                @for (name, words, _) in ROLES { option value=(name) selected[current == name] { (words) } }
            }
            button.secondary { "Save" span.visually-hidden { " the role of " (grant.email) } }
        }
    }
}

/// The form that sets the sites of a grant that names its sites.
fn sites(opened: &Opened<'_>, grant: &TeamGrant, ids: &[Uuid], words: &str) -> Markup {
    html! {
        form method="post" action=[forms::anchor(SITES)] {
            (opened.form(SITES))
            (of(&grant.id.to_string(), &grant.etag))
            @for id in ids { input type="hidden" name="property" value=(id); }
            button.secondary { (words) span.visually-hidden { ", " (grant.email) } }
        }
    }
}
