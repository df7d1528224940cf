//! The browsers that are signed in, and signing out.

use identity::{
    cookie,
    credentials::is_same_origin,
    session::{self, SignedInBrowser},
};
use maud::{Markup, html};
use pages::page::{
    Page,
    words::{place, time},
};
use poem::{
    Request, Response, handler,
    web::{Data, Path},
};

use super::{Account, PATH, Visitor, failed, foreign_origin, not_found, notice::after, redirect, user_agent};
use crate::{error::Error, services::access::parse_id};

/// The page after signing out.
const SIGNED_OUT: &str = "/account/signed-out";

/// The list of sessions.
pub(super) async fn section(account: &Account, visitor: &Visitor) -> Result<Markup, Error> {
    let open = session::browsers(&account.reader, account.holder(visitor), account.clock.now()).await?;
    let is_here = |one: &SignedInBrowser| {
        if one.at_issuer_only {
            Some(&one.hash) == visitor.issuer_session.as_ref()
        } else {
            one.hash == visitor.session
        }
    };
    Ok(html! {
        section aria-labelledby="sessions" {
            h2 #sessions { "Signed-in browsers" }
            ul.plain {
                @for (number, one) in open.iter().enumerate() {
                    li.card { (card(one, is_here(one), number)) }
                }
            }
            @if open.iter().any(|one| !is_here(one)) {
                form.actions method="post" action="/account/sessions/end-others" {
                    button.secondary { "Sign out all other browsers" }
                }
            }
        }
    })
}

fn card(one: &SignedInBrowser, here: bool, number: usize) -> Markup {
    let heading = format!("session-{number}");
    html! {
        h3 id=(heading) { (user_agent::words(one.user_agent.as_deref().unwrap_or_default())) }
        @if here { p.state.good { "This browser" } }
        @if one.at_issuer_only { p { "Signed in for applications only. They get access that you have allowed without asking again." } }
        dl {
            dt { "Signed in" }
            dd { (time(one.created_at)) }
            dt { "Ends" }
            dd { (time(one.expires_at)) }
        }
        form method="post" action=(format!("/account/sessions/{}/end", one.id)) {
            button.danger aria-describedby=(heading) { "Sign out" }
        }
    }
}

/// Ends one session of the person.
#[handler]
pub(super) async fn end(Data(account): Data<&Account>, request: &Request, Path(id): Path<String>) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let Some(id) = parse_id(&id) else { return not_found() };
    match account.sessions.end_one(account.holder(&visitor), id).await {
        Ok(Some(ended)) if ended == visitor.session => leave(account, request).await,
        Ok(Some(_)) => redirect(&after("session-ended")),
        Ok(None) => not_found(),
        Err(error) => failed(&error.into()),
    }
}

/// Ends all sessions of the person except this browser's.
#[handler]
pub(super) async fn end_others(Data(account): Data<&Account>, request: &Request) -> Response {
    let visitor = match account.visitor(request).await {
        Ok(visitor) => visitor,
        Err(answer) => return answer,
    };
    let kept = (visitor.session.as_str(), visitor.issuer_session.as_deref());
    match account.sessions.end_others(account.holder(&visitor), kept).await {
        Ok(()) => redirect(&after("other-sessions-ended")),
        Err(error) => failed(&error.into()),
    }
}

/// Ends the sessions of this browser, if there still are any.
#[handler]
pub(super) async fn sign_out(Data(account): Data<&Account>, request: &Request) -> Response {
    if !is_same_origin(request.headers(), account.base_url.origin()) {
        return foreign_origin();
    }
    leave(account, request).await
}

/// Ends the browser's sessions, clears its cookies and shows that it is signed out.
async fn leave(account: &Account, request: &Request) -> Response {
    if let Err(error) = account.sessions.sign_out(request.headers(), &account.base_url).await {
        return failed(&error.into());
    }
    leave_for(account, SIGNED_OUT)
}

/// Takes the cookies of a signed-in person from the browser and sends it to `page`.
pub(super) fn leave_for(account: &Account, page: &str) -> Response {
    let mut response = redirect(page);
    cookie::remove_sessions(response.headers_mut(), &account.base_url);
    response
}

/// Says that the browser is signed out, unless somebody has signed in again.
#[handler]
pub(super) async fn signed_out(Data(account): Data<&Account>, request: &Request) -> Response {
    if account.visitor(request).await.is_ok() {
        return redirect(PATH);
    }
    Page::new("You are signed out").render(&html! {
        p { "This browser can no longer act for you here." }
        @if !account.config.embeds_issuer() {
            p.quiet-text { "You may still be signed in at " (place(&account.issuer)) "." }
        }
        p { a.button href={ "/auth/login?return_to=" (PATH) } { "Sign in" } }
    })
}
