//! The links between the pages of a list.

use maud::{Markup, html};

use crate::web::dashboard::view::View;

/// The links to the rows before and after these.
pub fn pages(view: &View, offset: u32, rows: u32, has_more: bool) -> Markup {
    let to = |offset: u32| view.link(&[("offset", (offset > 0).then(|| offset.to_string()).as_deref())]);
    html! {
        @if offset > 0 || has_more {
            p.pages {
                @if offset > 0 { a href=(to(offset.saturating_sub(rows))) rel="prev" { "Rows before" } }
                @if has_more { a href=(to(offset + rows)) rel="next" { "Next rows" } }
            }
        }
    }
}
