//! The people who see the property: for its owner everybody, for a member who shared it.

use api::team::TeamGrant;
use maud::{Markup, html};
use poem::http::Method;
use serde_json::{Value, json};

use super::{
    grants::{self, ROLES},
    known::Known,
    lacking,
};
use crate::web::dashboard::{
    door::Door,
    forms::{self, Sent, Write},
    opened::Opened,
};

const INVITE: &str = "team.invite";
const LEAVE: &str = "team.leave";

/// Returns the write that a form asks for.
pub fn write(door: &Door, verb: &str, sent: &Sent) -> Option<Write> {
    let one = || Some(format!("/api/team/{}", sent.segment("id")?));
    let change = |body: Value| Some(Write::new(Method::PUT, one()?, body, "saved"));
    let properties: Vec<&str> = sent.all("property").collect();
    match verb {
        "invite" => Some(Write::new(Method::POST, "/api/team".to_owned(), invitation(door, sent), "invited")),
        "role" => change(json!({ "role": sent.text("role") })),
        "sites" => change(json!({ "propertyIds": properties })),
        "remove" => Some(Write::delete(one()?, "removed")),
        "leave" => Some(Write::delete(one()?, "left").leaving_to("/?done=left")),
        _ => None,
    }
}

fn invitation(door: &Door, sent: &Sent) -> Value {
    let (Door::Signed(id) | Door::Shared(id)) = door;
    let all = sent.text("sites") == Some("all");
    json!({
        "email": sent.text("email").unwrap_or_default(),
        "role": sent.text("role"),
        "allProperties": all.then_some(true),
        "propertyIds": (!all).then_some([id]),
    })
}

/// Draws the section.
pub fn draw(opened: &Opened<'_>, known: &Known) -> Markup {
    if !opened.is_owner() {
        return received(known);
    }
    let has_team = known.features.is_none_or(|features| features.team);
    html! {
        @if !has_team { (lacking("a team")) }
        (grants::draw(opened, known, has_team))
        @if has_team {
            details.add open[opened.again(INVITE, None).is_some()] {
                summary { "Share it with somebody" }
                (form(opened))
            }
        }
    }
}

/// The form of an invitation.
fn form(opened: &Opened<'_>) -> Markup {
    let kept = |field: &str| opened.kept(INVITE, field);
    let is_all = kept("sites") == Some("all");
    html! {
        form method="post" action=[forms::anchor(INVITE)] {
            (opened.form(INVITE))
            label { "E-mail address" input type="email" name="email" required maxlength="320" value=[kept("email")]; }
            fieldset {
                legend { "Role" }
                @for (role, name, may) in ROLES {
                    label.choice {
                        input type="radio" name="role" value=(role) checked[kept("role").unwrap_or("viewer") == role];
                        span { (name) small { " " (may) } }
                    }
                }
            }
            fieldset {
                legend { "Sites" }
                label.choice { input type="radio" name="sites" value="this" checked[!is_all]; "This site" }
                label.choice { input type="radio" name="sites" value="all" checked[is_all]; "All your sites, later ones too" }
            }
            p.quiet-text { "No e-mail is sent. Whoever signs in here with this address, verified, sees the site." }
            div.actions { button { "Share" } }
        }
    }
}

/// The grant by which a member sees the property.
fn received(known: &Known) -> Markup {
    let site = &known.property;
    let by = |grant: &TeamGrant| (grant.owner_name.clone(), grant.owner_email.clone());
    let owner = (site.owner_name.clone(), site.owner_email.clone());
    let covers =
        |grant: &&TeamGrant| grant.property_ids.contains(&site.id) || (grant.all_properties && by(grant) == owner);
    let grant = known.grants.iter().find(covers);
    let name = site.owner_name.as_deref().or(site.owner_email.as_deref());
    html! {
        p {
            (match name { Some(name) => html! { bdi { (name) } }, None => html! { "Its owner" } }) " shared this site with you"
            @if let Some(grant) = grant {
                @let (_, role, may) = ROLES[grant.role as usize];
                ". You are " (if role == "Viewer" { "a " } else { "an " }) (role.to_lowercase()) ", who " (may)
                @if grant.all_properties { ", on all sites of this owner" } @else if grant.property_ids.len() > 1 { ", on " (grant.property_ids.len()) " sites" }
            }
            ". Only the owner can share it with others."
        }
        @if let Some(grant) = grant {
            p.quiet-text { "If you leave, you no longer see the sites that were shared with you by this owner, and share links that you made are revoked." }
            (forms::delete(LEAVE, "Leave", &[("id", &grant.id.to_string()), (forms::VERSION, &grant.etag)]))
        }
    }
}
