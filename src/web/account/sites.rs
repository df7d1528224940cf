//! The sites that the person sees: tracked ones of their own, and those that others share.

use common::names::sites::{self, SiteName};
use maud::{Markup, html};

use super::{Account, Visitor};
use crate::{
    error::Error,
    services::properties::{self, ListedProperty},
    web::{role_words, site_words},
};

/// The sites that are listed outside the fold.
const SHOWN: usize = 10;

/// The sites, each with a link to its numbers.
pub(super) async fn section(account: &Account, visitor: &Visitor) -> Result<(Markup, bool), Error> {
    let now = account.clock.now();
    let listed = properties::visible(&account.reader, &account.config, &visitor.member, now).await?;
    let addresses: Vec<&str> = listed.iter().map(|site| site.property.site_url.as_str()).collect();
    let named: Vec<(SiteName, &ListedProperty)> = sites::among(&addresses).into_iter().zip(&listed).collect();
    let (first, more) = named.split_at(named.len().min(SHOWN));
    let section = html! {
        section aria-labelledby="sites" {
            h2 #sites { "Sites" }
            @if listed.is_empty() {
                p { "You see no site yet. Track sites of a search account below, or ask somebody who shares a site for an invitation." }
            } @else {
                (list(first))
                @if !more.is_empty() { details { summary { (more.len()) " more" } (list(more)) } }
                p { a href="/" { "All sites with their numbers" } }
            }
        }
    };
    Ok((section, !listed.is_empty()))
}

fn list(sites: &[(SiteName, &ListedProperty)]) -> Markup {
    html! {
        ul.plain {
            @for (name, site) in sites {
                li {
                    a href={ "/p/" (site.property.id) } { (site_words::name(name)) }
                    " " span.quiet-text {
                        (role_words::role(site.role))
                        @if let Some(owner) = site.owner_name.as_ref().or(site.owner_email.as_ref()) { " · of " bdi { (owner) } }
                    }
                    @if site.lack.is_some() { " " span.state.warn { "Locked" } }
                }
            }
        }
    }
}
