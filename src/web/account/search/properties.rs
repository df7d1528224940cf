//! `/account/search/{id}`: the state of an account, its first sync, and the choice of properties to track.

use std::{collections::HashSet, time::Duration};

use maud::{Markup, html};
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};
use uuid::Uuid;

use super::{back, failed, named, not_found, own, path, reconnect, sent, unreadable_form, words};
use crate::{
    error::Error,
    services::{
        access::parse_id,
        connections::{AccountView, Choice, Progress, SiteView},
    },
    web::{
        account::{Account, Visitor, redirect},
        site_words,
    },
};

/// Time that the page waits for a sync under way. A page that reloads itself would be taken from under a screen reader.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The field of a ticked property.
const TICK: &str = "property";

/// The hidden field of a form that was sent whole.
const MARK: &str = "choice";

/// The outcome of the visitor's choice.
enum Chosen {
    /// Nothing was chosen yet.
    Not,
    /// It exceeds the plan, or there is no plan. Holds the ticked properties.
    TooMany(HashSet<Uuid>),
}

/// Shows the page.
#[handler]
pub(super) async fn show(Data(account): Data<&Account>, request: &Request) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let shown = match named(account, &visitor, request).await {
        Ok(shown) if shown.progress == Some(Progress::Running) => {
            account.search.connections.settled(shown.id, TIMEOUT).await;
            named(account, &visitor, request).await
        }
        shown => shown,
    };
    match shown {
        Ok(shown) => render(account, &visitor, &shown, request, &Chosen::Not).await,
        Err(answer) => answer,
    }
}

/// Reads the sites again.
#[handler]
pub(super) async fn sync(Data(account): Data<&Account>, request: &Request) -> Response {
    let (visitor, shown) = match own(account, request).await {
        Ok(own) => own,
        Err(answer) => return answer,
    };
    match account.search.connections.sync(visitor.member.user.id, shown.id).await {
        Ok(()) => redirect(&path(&shown)),
        Err(error) => failed(&error),
    }
}

/// Tracks exactly the ticked properties of the account. Beyond the plan nothing is changed, and the ticks stay.
#[handler]
pub(super) async fn choose(Data(account): Data<&Account>, request: &Request, body: Body) -> Response {
    let (visitor, shown) = match own(account, request).await {
        Ok(own) => own,
        Err(answer) => return answer,
    };
    let form = match sent(request, body).await {
        Ok(form) => form,
        Err(answer) => return answer,
    };
    // Without the mark nothing ticked would mean that nothing is to be tracked.
    let is_whole =
        form.iter().any(|(name, _)| name == MARK) && form.iter().all(|(name, _)| name == MARK || name == TICK);
    if !is_whole {
        return unreadable_form();
    }
    let ticked = form.iter().filter(|(name, _)| name == TICK).map(|(_, id)| parse_id(id));
    let Some(ticked) = ticked.collect::<Option<Vec<Uuid>>>() else { return not_found() };
    match account.search.connections.choose(&visitor.member, shown.id, &ticked).await {
        Ok(()) => redirect("/"),
        Err(Error::PropertyQuotaExceeded { .. } | Error::SubscriptionRequired { .. }) => {
            render(account, &visitor, &shown, request, &Chosen::TooMany(ticked.into_iter().collect())).await
        }
        Err(error) => failed(&error),
    }
}

async fn render(
    account: &Account,
    visitor: &Visitor,
    shown: &AccountView,
    request: &Request,
    chosen: &Chosen,
) -> Response {
    let choice = match account.search.connections.choice(&visitor.member, shown.id).await {
        Ok(choice) => choice,
        Err(error) => return failed(&error),
    };
    let page = account.page(&shown.name);
    let page = if matches!(chosen, Chosen::TooMany(_)) { page.status(StatusCode::PAYMENT_REQUIRED) } else { page };
    page.render(&html! {
        (words::ended_there(shown, request.uri().query().unwrap_or_default()))
        (words::state(shown))
        @if shown.ended.is_some() { div.actions { (reconnect(shown)) } }
        (progress(shown))
        @if shown.progress != Some(Progress::Running) || !choice.sites.is_empty() { (sites(shown, &choice, chosen)) }
        @if shown.ended.is_none() {
            div.actions {
                (read_again(shown))
                a href=(format!("{}/disconnect", path(shown))) { "Disconnect" }
            }
        }
        (back())
    })
}

fn progress(shown: &AccountView) -> Markup {
    html! {
        @match &shown.progress {
            Some(Progress::Running) => {
                div.notice role="status" {
                    p #reading { "Reading the sites of this account." }
                    progress aria-labelledby="reading" {}
                    p { a href=(path(shown)) { "Look again" } }
                }
            }
            Some(Progress::Failed(reason)) => {
                div.notice.bad role="alert" { p { "The sites could not be read. " (reason) } }
            }
            None if shown.synced_at.is_none() && shown.ended.is_none() => {
                div.notice.warn { p { "The sites of this account have not been read yet." } }
            }
            None => {}
        }
    }
}

fn read_again(shown: &AccountView) -> Markup {
    let label = match shown.progress {
        Some(Progress::Failed(_)) => "Try again",
        _ if shown.synced_at.is_none() => "Read the sites",
        _ => "Read the sites again",
    };
    html! {
        @if shown.progress != Some(Progress::Running) {
            form method="post" action=(format!("{}/sync", path(shown))) { button.secondary { (label) } }
        }
    }
}

fn sites(shown: &AccountView, choice: &Choice, chosen: &Chosen) -> Markup {
    html! {
        section aria-labelledby="properties" {
            h2 #properties { "Properties" }
            @if choice.sites.is_empty() {
                @if shown.synced_at.is_some() {
                    p { "The search engine lists no verified sites for this account. Add a site there, then read the sites again." }
                }
            } @else {
                @if let Chosen::TooMany(ticked) = chosen {
                    div.notice.bad role="alert" {
                        @if choice.quota == Some(0) {
                            p { "Without a plan no selection can be saved. Nothing was changed." }
                        } @else {
                            p {
                                @if let Some(quota) = choice.quota { "Your plan tracks at most " (quota) ". " }
                                "You ticked " (ticked.len())
                                @if choice.elsewhere > 0 { ", and " (choice.elsewhere) " of other accounts are tracked" }
                                ". Nothing was changed; untick some, then save."
                            }
                        }
                    }
                }
                p {
                    "Only tracked properties can be read. "
                    strong {
                        (choice.used)
                        @if let Some(quota) = choice.quota { " of " (quota) }
                    } " are tracked."
                }
                form method="post" action=(format!("{}/properties", path(shown))) {
                    input type="hidden" name=(MARK) value="properties";
                    fieldset {
                        legend { "Track these properties" }
                        @for site in &choice.sites { (tick(site, chosen)) }
                    }
                    div.actions { button { "Save" } }
                }
            }
        }
    }
}

fn tick(site: &SiteView, chosen: &Chosen) -> Markup {
    let ticked = match chosen {
        Chosen::Not => site.tracked,
        Chosen::TooMany(ticked) => ticked.contains(&site.id),
    };
    html! {
        label.choice {
            input type="checkbox" name=(TICK) value=(site.id) checked[ticked];
            span {
                (site_words::name(&site.name))
                @if site.lost { " " small { "(no longer listed by this account)" } }
                @if let Some(other) = &site.read_by { " " small { "(read with " (other) ")" } }
            }
        }
    }
}
