//! The frame of all documents: the navigation, and the list of sections beside the text.

use api::document::ERRORS_PATH;
use maud::{Markup, html};
use pages::{markdown::Section, page::Page};

use super::addresses::{API, CHANGELOG, GUIDES};

/// The documents in the navigation.
const DOCUMENTS: [(&str, &str); 4] =
    [(GUIDES, "Guides"), (API, "API"), (ERRORS_PATH, "Errors"), (CHANGELOG, "Changelog")];

/// The page of a document.
#[must_use]
pub fn page(title: impl Into<String>) -> Page {
    Page::new(title).document(&DOCUMENTS)
}

/// Puts the list of its sections beside the text.
#[must_use]
pub fn with_sections(sections: &[Section], text: &Markup) -> Markup {
    html! {
        @if sections.is_empty() {
            div.prose { (text) }
        } @else {
            div.beside {
                nav.sections aria-label="Sections of this page" {
                    ul { @for section in sections { li { a href={ "#" (section.id) } { (section.title) } } } }
                }
                div.prose { (text) }
            }
        }
    }
}
