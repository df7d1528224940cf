//! The headline of a page: what changed, where, and what to check.

use api::analytics::{ExplainedHeadline, HeadlinePart};
use maud::{Markup, html};

use crate::web::dashboard::view::View;

/// Draws a headline. Each part that is a narrower question is a link to it.
pub fn headline(headline: &ExplainedHeadline, view: &View) -> Markup {
    html! {
        section.headline aria-label="In short" {
            p { strong { bdi { (headline.text) } } }
            @if !headline.parts.is_empty() {
                ul {
                    @for part in &headline.parts {
                        li {
                            @match link(part, view) {
                                Some(link) => a href=(link) { bdi { (part.text) } },
                                None => bdi { (part.text) },
                            }
                        }
                    }
                }
            }
            @for check in &headline.checks { p.quiet-text { bdi { (check.text) } } }
        }
    }
}

/// The address of the question about a part alone. `None` if it is a matter of days, or if the page has that condition.
fn link(part: &HeadlinePart, view: &View) -> Option<String> {
    if let Some([condition]) = part.filters.as_deref() {
        return view.narrowed(None, condition.dimension, &condition.value);
    }
    part.classification.as_deref().map(|class| view.link(&[("classification", Some(class))]))
}
