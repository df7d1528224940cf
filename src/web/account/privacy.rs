//! The person's data: its audit trail, its export, and its deletion.

use api::privacy::{AuditAction, AuditActor, AuditEvent};
use maud::{Markup, html};
use pages::page::{Page, words::time};
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};

use super::{Account, PATH, failed, fields, redirect, refused, sessions};
use crate::services::{access, audit};

/// The audit trail.
pub(super) const ACTIVITY: &str = "/account/activity";
/// The page that asks before everything is deleted.
pub(super) const DELETE: &str = "/account/delete";
/// The page after that.
pub(super) const DELETED: &str = "/account/deleted";

/// The operation that a browser saves as a file.
const EXPORT: &str = "/api/privacy/access";

/// The number of events on the page. The file has all.
const SHOWN: u64 = 200;

/// The links to all of it.
pub(super) fn section() -> Markup {
    html! {
        section aria-labelledby="data" {
            h2 #data { "Your data" }
            ul.plain {
                li { a href=(ACTIVITY) { "Activity" } ": who shared, granted, allowed, connected, tracked or deleted what in the last 90 days" }
                li { a href=(EXPORT) download="sightline-data.json" { "Download your data" } ": everything that is stored about you, as JSON" }
                li { a href=(DELETE) { "Delete your data" } }
            }
        }
    }
}

/// Shows the audit trail.
#[handler]
pub(super) async fn activity(Data(account): Data<&Account>, request: &Request) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let user = &visitor.member.user;
    let email_key = access::verified_email_key(user, account.clock.now());
    match audit::about(&account.reader, user, email_key, None, SHOWN).await {
        Ok(events) => account.page("Activity").render(&html! {
            @if events.is_empty() {
                p { "Nothing was shared, granted, allowed, connected, tracked or deleted in the last 90 days." }
            } @else {
                p.quiet-text { "The last 90 days, latest first. Your download has every event; this page shows " (SHOWN) " at most." }
                ul.plain { @for event in &events { li.card { (entry(event)) } } }
            }
            p { a href=(PATH) { "Your account" } }
        }),
        Err(error) => failed(&error),
    }
}

fn entry(event: &AuditEvent) -> Markup {
    let who = match event.actor {
        AuditActor::You => "You",
        AuditActor::Other => event.actor_name.as_deref().unwrap_or("A member"),
        AuditActor::FormerMember => "A former member",
    };
    html! {
        p { strong { (words(event.action)) } @if let Some(what) = &event.what { ": " (what) } }
        dl {
            dt { "When" } dd { (time(event.at.into())) }
            dt { "Who" } dd { (who) }
            @if let Some(whom) = &event.whom { dt { "Member" } dd { (whom) } }
            @if let Some(role) = &event.role { dt { "Role" } dd { (role) } }
        }
    }
}

fn words(action: AuditAction) -> &'static str {
    match action {
        AuditAction::GrantMade => "Access given",
        AuditAction::GrantChanged => "Access changed",
        AuditAction::GrantRemoved => "Access ended",
        AuditAction::ShareLinkMade => "Share link made",
        AuditAction::ShareLinkRevoked => "Share link revoked",
        AuditAction::SearchAccountConnected => "Search account connected",
        AuditAction::SearchAccountDisconnected => "Search account disconnected",
        AuditAction::ProviderConnected => "SEO provider connected",
        AuditAction::ProviderDisconnected => "SEO provider disconnected",
        AuditAction::ApplicationRevoked => "Application revoked",
        AuditAction::ApplicationAllowed => "Application allowed",
        AuditAction::ApplicationChanged => "Application allowed more or less",
        AuditAction::TrackingBegun => "Tracking begun",
        AuditAction::TrackingEnded => "Tracking ended",
        AuditAction::AnnotationDeleted => "Annotation deleted",
        AuditAction::SegmentDeleted => "Segment deleted",
        AuditAction::TopicClusterDeleted => "Topic cluster deleted",
        AuditAction::BrandedKeywordDeleted => "Branded keyword deleted",
        AuditAction::TagDeleted => "Tag deleted",
        AuditAction::FilterPresetDeleted => "Filter preset deleted",
    }
}

/// Asks whether to delete everything.
#[handler]
pub(super) async fn ask(Data(account): Data<&Account>, request: &Request) -> Response {
    match account.visitor(request).await {
        Ok(_) => question(account),
        Err(answer) => answer,
    }
}

fn question(account: &Account) -> Response {
    account.page("Delete your data?").render(&html! {
        p { "This deletes what is stored about you:" }
        ul {
            li { "your search accounts, with their access at the search engine, and your properties with their notes, segments, topic clusters, branded keywords and share links" }
            li { "your tags, filters and marks, and the access that you gave to others or they gave to you" }
            li { "your credentials at SEO providers, and your activity" }
            li { "your sign-ins in all browsers and applications"
                @if account.config.embeds_issuer() { ", and your account here" } }
        }
        @if account.config.billing.enabled {
            p { "A keyed hash of your sign-in stays for a year: if you come back within it, you get no new trial." }
        }
        p { "What you wrote on properties of others stays with them, without your name. You can "
            a href=(EXPORT) download="sightline-data.json" { "download your data" } " before." }
        p { "Nothing of it is shown or used any more from that moment on, and nobody can bring it back here. Its bytes are overwritten in the database soon "
            "after. They stay in backups for as long as the operator of this service keeps those. A code from which nobody can read who you are is kept, so "
            "that no sign-in from before counts again." }
        form method="post" action=(DELETE) {
            p { label { input type="checkbox" name="confirm" value="yes" required; " Delete all my data. It cannot be undone." } }
            div.actions {
                button.danger { "Delete my data" }
                a href=(PATH) { "Keep it" }
            }
        }
    })
}

/// Deletes everything, if the person has confirmed.
#[handler]
pub(super) async fn delete(Data(account): Data<&Account>, request: &Request, body: Body) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let confirmed = match fields(body, ["confirm"]).await {
        Ok(sent) => sent.is_some_and(|[confirmed]| confirmed == "yes"),
        Err(page) => return page,
    };
    if !confirmed {
        return refused(
            StatusCode::BAD_REQUEST,
            "Nothing was deleted",
            "Tick the box to confirm that all your data is deleted.",
        );
    }
    match account.privacy.delete(&visitor.member).await {
        Ok(()) => sessions::leave_for(account, DELETED),
        Err(error) => failed(&error),
    }
}

/// Says that everything is deleted, unless somebody has signed in again.
#[handler]
pub(super) async fn deleted(Data(account): Data<&Account>, request: &Request) -> Response {
    if account.visitor(request).await.is_ok() {
        return redirect(PATH);
    }
    Page::new("Your data is deleted").render(&html! {
        p { "Nothing that names you is stored any more, and nothing can act for you here. The search engine is told to end this service's access, unless somebody else here has connected the same search account." }
        @if !account.config.embeds_issuer() {
            p.quiet-text { "You may still be signed in at the place where you sign in. Signing in here again starts afresh." }
        }
    })
}
