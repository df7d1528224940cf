//! Names of sites on pages.

use common::names::sites::SiteName;
use maud::{Markup, html};

/// Draws the name of a site, with its kind if it has one. A URL is read from left to right in every script.
pub(super) fn name(site: &SiteName) -> Markup {
    html! {
        bdi dir="ltr" { (site.name) }
        @if let Some(kind) = site.kind { " " small { "(" (kind.words()) ")" } }
    }
}
