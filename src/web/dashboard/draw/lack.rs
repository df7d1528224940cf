//! A page that a kind of search cannot answer.

use api::models::Dimension;
use maud::{Markup, html};

use crate::web::dashboard::{address::OVERVIEW, kind, opened::Opened, view::View};

/// The reason why a kind of search cannot answer a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// The page is about queries, which the kind does not have.
    Page,
    /// Some conditions are on this dimension, which the kind does not have.
    Condition(Dimension),
    /// The part of the traffic is told by queries, which the kind does not have.
    Class,
}

impl Lack {
    /// Returns what the kind of search of a page lacks for it, if anything. `is_about_queries` is true for a page about queries.
    pub fn of(view: &View, is_about_queries: bool) -> Option<Self> {
        if is_about_queries && !view.has(Dimension::Query) {
            return Some(Self::Page);
        }
        let lacking = view.filters.iter().map(|condition| condition.dimension).find(|dimension| !view.has(*dimension));
        if let Some(dimension) = lacking {
            return Some(Self::Condition(dimension));
        }
        let class = view.text("classification").filter(|class| !view.has_class(class));
        class.map(|_| Self::Class)
    }

    /// Draws the page instead: what is lacking, and the ways on. `page` is the name of the page.
    pub fn page(self, opened: &Opened<'_>, page: &str) -> Markup {
        let view = &opened.view;
        let kind = kind::name(view.search_type());
        let web = view.link(&[("searchType", None), ("offset", None)]);
        let (reason, link, words) = match self {
            Self::Page => (
                format!("{kind} has no queries, and this page is about them."),
                view.to(OVERVIEW),
                format!("Overview of {kind}"),
            ),
            Self::Condition(dimension) => (
                format!("{kind} has no {}, and a condition of this question is on them.", plural(dimension)),
                view.filtered(&view.answerable()),
                format!("{kind} without it"),
            ),
            Self::Class => (
                format!("{kind} has no queries, by which this part of the traffic is told."),
                view.link(&[("classification", None), ("offset", None)]),
                format!("All of {kind}"),
            ),
        };
        html! {
            section.card.empty aria-label="Not available" {
                p {
                    strong {
                        @if self == Self::Page { (page) " is not available for " (kind) "." } @else { (kind) " cannot answer this question." }
                    }
                    " " (reason)
                }
                p.actions { a.button href=(link) { (words) } a href=(web) { "The same for web search" } }
            }
        }
    }
}

/// The name of a dimension that a kind of search lacks.
fn plural(dimension: Dimension) -> &'static str {
    if dimension == Dimension::Device { "devices" } else { "queries" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lack(query: &str, is_about_queries: bool) -> Option<Lack> {
        Lack::of(&View::read("/p/1", query, &[]).unwrap(), is_about_queries)
    }

    #[test]
    fn a_kind_lacks_what_a_page_or_its_question_needs() {
        let on = |dimension: &str| {
            let json = format!(r#"[{{"dimension":"{dimension}","operator":"equals","value":"a"}}]"#);
            format!("filters={}&searchType", url::form_urlencoded::byte_serialize(json.as_bytes()).collect::<String>())
        };
        for (query, expected) in [
            (String::new(), None),
            ("searchType=image".to_owned(), None),
            ("searchType=discover".to_owned(), None),
            (format!("{}=web", on("query")), None),
            (format!("{}=googleNews", on("query")), Some(Lack::Condition(Dimension::Query))),
            (format!("{}=googleNews", on("device")), None),
            (format!("{}=discover", on("device")), Some(Lack::Condition(Dimension::Device))),
            (format!("{}=discover", on("page")), None),
            ("searchType=discover&classification=branded".to_owned(), Some(Lack::Class)),
            ("searchType=discover&classification=segment:1".to_owned(), None),
        ] {
            assert_eq!(lack(&query, false), expected, "{query}");
        }
        assert_eq!(lack("searchType=discover", true), Some(Lack::Page));
        assert_eq!(lack("searchType=video", true), None);
    }
}
