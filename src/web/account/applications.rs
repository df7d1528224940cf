//! Connected applications: the list, and the end of their access.

use common::allowance::Allowance;
use maud::{Markup, html};
use pages::page::{
    permissions::{Permissions, choice_field, choices},
    words::{place, time},
};
use poem::{Body, Request, Response, handler, web::Data};

use super::{Account, Visitor, failed, fields, not_found, notice::after, redirect};
use crate::{
    error::Error,
    services::applications::{self, Application, TokenIssuer},
};

/// The list of applications.
pub(super) async fn section(account: &Account, visitor: &Visitor) -> Result<Markup, Error> {
    let (user, issuer) = (&visitor.member.user, account.token_issuer());
    let found = applications::list(&account.reader, user, issuer, &account.audience, account.clock.now()).await?;
    Ok(html! {
        section aria-labelledby="applications" {
            h2 #applications { "Connected applications" }
            @if found.is_empty() {
                p { "No application acts for you." }
            } @else {
                p.quiet-text { "They act for you with access that you gave them. Uses are recorded once an hour." }
                ul.plain { @for (number, one) in found.iter().enumerate() { li.card { (card(account, one, number)) } } }
            }
            p.quiet-text { "To connect an assistant, give it the address " code { (account.tools) } "." }
        }
    })
}

fn card(account: &Account, one: &Application, number: usize) -> Markup {
    let heading = format!("application-{number}");
    let name = one.name.as_deref().unwrap_or(&one.client_id);
    html! {
        h3 id=(heading) { (name) }
        @if one.tools_used_at.is_some() { p.state { "Assistant" } }
        @if one.refused_at.is_some() { p.state.bad { "Refused: it cannot act for you" } }
        @if one.remembered_only {
            p.state { "It has no access now. It gets it again without a question while you are signed in." }
        }
        dl {
            dt { "Address" }
            dd { (address(account, one)) }
            @if let Some(at) = one.allowed_at { dt { "Allowed" } dd { (time(at)) } }
            dt { "First used" }
            dd { @if let Some((first, _)) = one.used { (time(first)) } @else { "Not yet" } }
            @if let Some((_, last)) = one.used { dt { "Last used" } dd { (time(last)) } }
            @if let Some(at) = one.tools_used_at { dt { "Last used as an assistant" } dd { (time(at)) } }
            @if let Some(at) = one.refused_at { dt { "Refused since" } dd { (time(at)) } }
        }
        @if one.refused_at.is_none() {
            details {
                summary { "What it may do" span.visually-hidden { ": " (name) } }
                (permissions(one).list())
                (allowance(one, &heading))
            }
        }
        @if one.refused_at.is_some() {
            form method="post" action="/account/applications/allow" {
                input type="hidden" name="client_id" value=(one.client_id);
                button.secondary aria-describedby=(heading) { "Allow again" }
            }
        } @else {
            form method="post" action="/account/applications/revoke" {
                input type="hidden" name="client_id" value=(one.client_id);
                button.danger aria-describedby=(heading) { "Revoke access" }
            }
        }
    }
}

fn permissions(one: &Application) -> Permissions<'_> {
    Permissions { scopes: &one.scopes, rights: one.rights(), opens_api: one.opens_api }
}

/// The form that changes how much the person allows the application, if they have been asked and there is a choice.
fn allowance(one: &Application, heading: &str) -> Markup {
    let choices = choices(one.asked);
    html! {
        @if let Some(chosen) = one.allowance.filter(|_| !choices.is_empty()) {
            form method="post" action="/account/applications/limit" {
                input type="hidden" name="client_id" value=(one.client_id);
                (choice_field(&choices, chosen))
                div.actions { button.secondary aria-describedby=(heading) { "Save" } }
            }
        }
    }
}

/// The places where the client says it is. Only the embedded issuer knows what a client registered.
fn address(account: &Account, one: &Application) -> Markup {
    let identified = one.client_id.starts_with("https://").then(|| place(&one.client_id));
    let mut places: Vec<String> =
        identified.into_iter().chain(one.redirect_uris.iter().map(|address| place(address))).collect();
    places.sort();
    places.dedup();
    html! {
        @if one.own {
            "Part of this service"
        } @else if !places.is_empty() {
            (places.join(", "))
        } @else {
            code { (one.client_id) }
            @if account.token_issuer() == TokenIssuer::External { " at " (place(&account.issuer)) }
        }
    }
}

/// Ends an application's access.
#[handler]
pub(super) async fn revoke(Data(account): Data<&Account>, request: &Request, body: Body) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let client_id = match fields(body, ["client_id"]).await {
        Ok(Some([client_id])) => client_id,
        Ok(None) => return not_found(),
        Err(page) => return page,
    };
    let (user, now) = (&visitor.member.user, account.clock.now());
    match applications::revoke(&account.writer, &account.random, user, account.token_issuer(), &client_id, now).await {
        Ok(()) => redirect(&after("application-revoked")),
        Err(error) => failed(&error),
    }
}

/// Changes how much an application may do.
#[handler]
pub(super) async fn limit(Data(account): Data<&Account>, request: &Request, body: Body) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let sent = match fields(body, ["client_id", "allowance"]).await {
        Ok(sent) => sent,
        Err(page) => return page,
    };
    let sent = sent.and_then(|[client_id, allowance]| Some((client_id, Allowance::parse(&allowance)?)));
    let Some((client_id, allowance)) = sent else { return not_found() };
    let (user, now) = (&visitor.member.user, account.clock.now());
    match applications::limit(&account.writer, &account.random, user, &client_id, allowance, now).await {
        Ok(()) => redirect(&after("application-limited")),
        Err(error) => failed(&error),
    }
}

/// Lets a refused application act again.
#[handler]
pub(super) async fn allow(Data(account): Data<&Account>, request: &Request, body: Body) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let client_id = match fields(body, ["client_id"]).await {
        Ok(Some([client_id])) => client_id,
        Ok(None) => return not_found(),
        Err(page) => return page,
    };
    let (user, now) = (&visitor.member.user, account.clock.now());
    match applications::allow(&account.writer, &account.random, user, &client_id, now).await {
        Ok(()) => redirect(&after("application-allowed")),
        Err(error) => failed(&error),
    }
}
