//! The consent page: which application asks, where it leads, what it may do, and for which account.

use common::{allowance::Allowance, urls::is_loopback};
use maud::{Markup, html};
use pages::page::{
    Page,
    permissions::{Permissions, choice_field, words},
};
use poem::{Request, Response};
use url::Url;

use super::valid_request::ValidRequest;
use crate::{IdentityProvider, consents::held, request::ReturnAddress, response::OAuthError, sessions::SignedIn};

/// Shows the page.
pub(super) async fn page(
    provider: &IdentityProvider,
    asked: &ValidRequest,
    request: &Request,
    signed_in: &SignedIn,
) -> Result<Response, OAuthError> {
    let token = provider.form_token(request.headers());
    let client = &asked.address.client;
    let name = client.name.as_deref().unwrap_or(&client.id);
    let subject = &signed_in.person.subject;
    let before_here = provider.consent(subject, &asked.address.recipient()).await?.is_some();
    let question = provider.question(subject, &client.id, &asked.request.access).await?;
    let permissions = Permissions {
        scopes: &asked.request.access.scope.split(' ').map(str::to_owned).collect::<Vec<_>>(),
        rights: question.rights,
        opens_api: question.opens_api,
    };
    let body = html! {
        p { strong { (name) } " asks for access to your account " strong { (signed_in.person.email) } "." }
        @if before_here {
            p { "You have allowed it access before. Now it asks for more, or asks you to confirm." }
        } @else if question.before.is_some() {
            p { "You have allowed it access before, at another address. Now it leads to the one below." }
        }
        h2 { "The application" }
        dl {
            dt { "Name" }
            dd { (name) }
            (whereabouts(&asked.address))
        }
        @if !client.trusted {
            p.quiet-text { "The application chose its name itself. Allow access only if you started this and know the address." }
        }
        h2 { "What it asks for" }
        (permissions.list())
        p.quiet-text { "It never sees your password, and it cannot change it." }
        form method="post" action=(asked.action()) {
            (token.field())
            input type="hidden" name="session" value=(signed_in.session.id);
            input type="hidden" name="held" value=(held(question.before));
            @if let Some(before) = question.before {
                p { "Until now you allow it, wherever you use it: " strong { (words(before)) } ". What you choose here counts for all of its access." }
            }
            @if !question.choices.is_empty() {
                (choice_field(&question.choices, question.before.unwrap_or(Allowance::Everything)))
                p.quiet-text { "You can change this at any time on your account page." }
            }
            div.actions {
                button name="decision" value="allow" { "Allow" }
                button.secondary name="decision" value="cancel" { "Cancel" }
            }
            p {
                "Not " (signed_in.person.email) "? "
                button.quiet name="decision" value="switch" { "Use another account" }
            }
        }
    };
    let title = format!("Allow {name}?");
    Ok(provider.render(&Page::new(title), &token, &body))
}

/// The facts that an application cannot choose freely: the host of its document, and its address. Terms of a list.
pub(super) fn whereabouts(to: &ReturnAddress) -> Markup {
    html! {
        @if let Some(host) = to.client.host() { dt { "Address" } dd { strong { (host) } } }
        dt { "Leads back to" }
        dd { (destination(&to.redirect_uri)) }
    }
}

/// The redirect URI in a form that a person can judge.
pub(super) fn destination(redirect_uri: &str) -> Markup {
    let url = Url::parse(redirect_uri).ok();
    let host = url.as_ref().filter(|url| ["http", "https"].contains(&url.scheme())).and_then(Url::host_str);
    html! {
        @match host {
            Some(_) if url.as_ref().is_some_and(is_loopback) => { "A program on this computer" },
            Some(host) => { strong { (host) } },
            None => { "An application on this device" },
        }
        br;
        code { (redirect_uri) }
    }
}
