//! The section on the person and the way they sign in.

use maud::{Markup, html};

use super::{Account, Visitor};
use crate::web::page::words::place;

/// The person, as the issuer states it.
pub(super) fn section(account: &Account, visitor: &Visitor) -> Markup {
    let user = &visitor.member.user;
    let embedded = account.config.embeds_issuer();
    html! {
        section aria-labelledby="you" {
            h2 #you { "You" }
            dl {
                @if let Some(name) = &user.name { dt { "Name" } dd { (name) } }
                @if let Some(email) = &user.email {
                    dt { "E-mail" }
                    dd { (email) @if !user.email_verified { " " span.quiet-text { "(not verified)" } } }
                }
                dt { "Sign-in" }
                dd { @if embedded { "This service" } @else { (place(&user.issuer)) } }
            }
            @if embedded && !account.without_password.contains(&user.subject) {
                p { a href="/account/password" { "Change password" } }
            }
        }
    }
}
