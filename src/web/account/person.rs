//! The section on the person and the way they sign in.

use identity::local::{LocalAccount, local_account};
use maud::{Markup, html};
use pages::page::words::place;

use super::{Account, Visitor};
use crate::error::Error;

/// The person, as the issuer states it.
pub(super) async fn section(account: &Account, visitor: &Visitor) -> Result<Markup, Error> {
    let user = &visitor.member.user;
    let local = local_account(&account.reader, account.config.embeds_issuer(), user).await?;
    Ok(html! {
        section aria-labelledby="you" {
            h2 #you { "You" }
            dl {
                @if let Some(name) = &user.name { dt { "Name" } dd { (name) } }
                @if let Some(email) = &user.email {
                    dt { "E-mail" }
                    dd { (email) @if !user.email_verified { " " span.quiet-text { "(not verified)" } } }
                }
                dt { "You sign in" }
                dd { (sign_in(local.as_ref(), &user.issuer)) }
            }
            @if local.as_ref().is_some_and(|local| local.has_password) {
                p { a href="/account/password" { "Change password" } }
            }
        }
    })
}

/// The way in which the person signs in, after "You sign in".
fn sign_in(local: Option<&LocalAccount>, issuer: &str) -> Markup {
    html! {
        @match local {
            None => { "at " (place(issuer)) },
            Some(LocalAccount { has_password: false, provider: Some(provider) }) => { "at " (place(provider)) },
            Some(LocalAccount { has_password: true, provider: Some(provider) }) => {
                "with this address and your password, or at " (place(provider))
            },
            Some(LocalAccount { has_password: true, provider: None }) => { "with this address and your password" },
            Some(LocalAccount { has_password: false, provider: None }) => { "as a demo person, without a password" },
        }
    }
}
