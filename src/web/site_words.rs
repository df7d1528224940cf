//! Names of sites on pages.

use common::names::sites::SiteName;
use maud::{Markup, html};

/// Draws the name of a site, with its kind if others have that name.
pub(super) fn name(site: &SiteName) -> Markup {
    html! {
        bdi { (site.name) }
        @if let Some(kind) = site.kind { " " small { "(" (kind.words()) ")" } }
    }
}
