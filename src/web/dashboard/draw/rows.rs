//! Rows of breakdown tables: queries and pages with all metrics, and the short lists beside them.

use std::collections::BTreeMap;

use api::{
    analytics::{SparklinesAnswer, TableRow},
    models::{Dimension, Presence, TableCoverage},
    params::Metric,
};
use common::names::pages::{Pages, exact};
use maud::{Markup, html};

use super::{
    chart::short_name,
    svg::{bar, spark, value_of},
    words,
};
use crate::web::dashboard::{address::OVERVIEW, table, view::View};

/// The longest name of a row, in characters. Its title has all of it.
const LONGEST_NAME: usize = 300;

/// Rows, and what a page knows about them.
pub struct Rows<'a> {
    pub table: Dimension,
    pub found: &'a [TableRow],
    pub view: &'a View,
    /// True if the rows are compared.
    pub compares: bool,
    /// The small lines of the rows, if there are any.
    pub sparks: Option<&'a SparklinesAnswer>,
    /// The page that the rows lead to, unless it is this one.
    pub page: Option<&'a str>,
    /// The order that the headings of the page change, if they do.
    pub order: Option<Order<'a>>,
}

/// The order of rows.
#[derive(Clone, Copy)]
pub struct Order<'a> {
    /// The state of the page.
    pub view: &'a View,
    /// The order of the page without the parameter `sort`.
    pub own: &'static str,
}

impl Order<'_> {
    /// The column and the direction by which the rows are sorted.
    fn sorted(&self) -> &str {
        self.view.text("sort").unwrap_or(self.own)
    }

    /// The address of the page with another order.
    fn link(&self, sort: &str) -> String {
        self.view.link(&[("sort", Some(sort).filter(|sort| *sort != self.own)), ("offset", None)])
    }
}

impl Rows<'_> {
    /// Draws the table with all metrics. `name` says which rows they are.
    pub fn wide(&self, name: &str) -> Markup {
        let (sparks, pages) = (self.lines(), self.pages());
        html! {
            div.scroll tabindex="0" role="region" aria-label={ "Table of " (name.to_lowercase()) } {
                table.figures.rows {
                    thead {
                        tr {
                            th scope="col" { (table::row_name(self.table)) }
                            (self.heading(&short_name(Metric::Clicks), "clicks", false))
                            @if self.compares { (self.heading(&html! { "Change" }, "change.clicks", false)) }
                            (self.heading(&short_name(Metric::Impressions), "impressions", true))
                            (self.heading(&short_name(Metric::Ctr), "ctr", true))
                            (self.heading(&short_name(Metric::Position), "position", false))
                            @if !sparks.is_empty() { th.second scope="col" { "Trend" } }
                        }
                    }
                    tbody {
                        @for row in self.found {
                            tr {
                                th scope="row" { (self.key(row, &pages)) }
                                td { (count(row.clicks)) }
                                @if self.compares { td { (changed(row)) } }
                                td.second { (count(row.impressions)) }
                                td.second { (words::value(Metric::Ctr, row.ctr)) }
                                td { (words::value(Metric::Position, row.position)) }
                                @if !sparks.is_empty() {
                                    td.second { @if let Some(values) = sparks.get(row.key.as_str()) { (spark(values)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The heading of a column. As a link it sorts by the column, the best first, or the other way round if it sorts so already.
    fn heading(&self, name: &Markup, by: &str, is_second: bool) -> Markup {
        let Some(order) = self.order else {
            return html! { th.second[is_second] scope="col" { (name) } };
        };
        let best = if by == "position" { by.to_owned() } else { format!("-{by}") };
        let other = if by == "position" { format!("-{by}") } else { by.to_owned() };
        let sorted = order.sorted();
        let is_sorted = sorted == best || sorted == other;
        let direction = is_sorted.then(|| if sorted.starts_with('-') { "descending" } else { "ascending" });
        let next = if sorted == best { &other } else { &best };
        html! {
            th.second[is_second] scope="col" aria-sort=[direction] {
                a href=(order.link(next)) { (name) }
                @if let Some(direction) = direction { span aria-hidden="true" { (if direction == "descending" { " ↓" } else { " ↑" }) } }
            }
        }
    }

    /// Draws the table with clicks and their change only.
    pub fn short(&self) -> Markup {
        let pages = self.pages();
        html! {
            table.figures.rows {
                thead.visually-hidden {
                    tr {
                        th scope="col" { (table::row_name(self.table)) }
                        th scope="col" { (short_name(Metric::Clicks)) }
                        @if self.compares { th scope="col" { "Change" } }
                    }
                }
                tbody {
                    @for row in self.found {
                        tr {
                            th scope="row" { (self.key(row, &pages)) }
                            td { (count(row.clicks)) }
                            @if self.compares { td { (changed(row)) } }
                        }
                    }
                }
            }
        }
    }

    /// The name of a row as a link that filters by it, on a bar as long as its part of the largest row's clicks.
    fn key(&self, row: &TableRow, pages: &Pages) -> Markup {
        let most = self.found.iter().filter_map(|row| row.clicks).max().unwrap_or_default();
        let part = if most > 0 { row.clicks.unwrap_or_default() as f64 / most as f64 } else { 0.0 };
        let name = match &row.label {
            Some(label) => html! { bdi { (label) } },
            None => name(self.table, pages, &row.key),
        };
        html! { (bar(part)) (row_link(self.page, self.view, self.table, &row.key, &name)) }
    }

    /// The pages of the rows.
    fn pages(&self) -> Pages {
        Pages::of(self.found.iter().map(|row| row.key.as_str()).filter(|_| self.table == Dimension::Page))
    }

    fn lines(&self) -> BTreeMap<&str, Vec<f64>> {
        let rows = self.sparks.iter().flat_map(|answer| &answer.data.rows).filter(|row| row.known);
        let values = |row: &api::analytics::Sparkline| {
            row.series.iter().filter_map(|point| value_of(point, Metric::Clicks)).collect()
        };
        rows.map(|row| (row.key.as_str(), values(row))).collect()
    }
}

/// A name as long as a row shows it.
pub fn cut(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

/// Draws the name of a row of a table. `pages` are those of its rows.
pub fn name(table: Dimension, pages: &Pages, key: &str) -> Markup {
    if table == Dimension::Page {
        page_name(pages, key)
    } else {
        html! { bdi { (cut(key)) } }
    }
}

/// The title of a row: all of its key. The address of a page is the one that was found, without credentials.
pub fn title(table: Dimension, key: &str) -> String {
    if table == Dimension::Page { exact(key) } else { key.to_owned() }
}

/// Draws the name of a page among others, from left to right in every script. Where it has no room, it breaks after a slash first.
pub fn page_name(pages: &Pages, address: &str) -> Markup {
    let shown = cut(&pages.name(address));
    html! { bdi dir="ltr" { @for (index, part) in shown.split_inclusive('/').enumerate() { @if index > 1 { wbr; } (part) } } }
}

/// Draws a row as a link to the question about it, on `page` or on this one. A browser that translates the page leaves it as it is.
fn row_link(page: Option<&str>, view: &View, table: Dimension, key: &str, name: &Markup) -> Markup {
    let title = title(table, key);
    html! {
        @match view.narrowed(page, table, key) {
            Some(link) => a href=(link) title=(title) translate="no" { (name) },
            None => span title=(title) translate="no" { (name) },
        }
    }
}

/// Draws a query as a link to the overview of the question about it.
pub fn query_link(view: &View, query: &str) -> Markup {
    row_link(Some(OVERVIEW), view, Dimension::Query, query, &html! { bdi { (cut(query)) } })
}

/// Draws a page among others as a link to the overview of the question about it.
pub fn page_link(view: &View, pages: &Pages, page: &str) -> Markup {
    row_link(Some(OVERVIEW), view, Dimension::Page, page, &page_name(pages, page))
}

fn count(number: Option<u64>) -> String {
    number.map_or_else(|| "–".to_owned(), words::count)
}

/// The change of a row's clicks. A window that lacks the row says nothing about it unless its list is complete.
fn changed(row: &TableRow) -> Markup {
    let change = row.change.as_ref().map(|change| words::change(Metric::Clicks, change, false));
    html! {
        @match row.presence {
            Some(Presence::New) => span.up { "new" },
            Some(Presence::Lost) => span.down { "lost" },
            Some(Presence::Unknown) => span.flat { "unknown" },
            _ => @if let Some(change) = change { (change) },
        }
    }
}

/// Says of which rows a list is, where it has the rows of both periods if it is compared.
pub fn counted(compares: bool) -> &'static str {
    if compares { " of both periods" } else { "" }
}

/// Says in a sentence what the rows leave out. `of` says which rows are counted. The rows of a `narrowed` question are not all of the site.
pub fn coverage(table: Dimension, coverage: &TableCoverage, of: &str, narrowed: bool) -> Markup {
    let name = table::heading(table).to_lowercase();
    if !coverage.available {
        return html! { p.quiet-text { "This kind of search has no " (name) "." } };
    }
    let (shown, matched) = (coverage.rows_shown.unwrap_or_default(), coverage.rows_matched.unwrap_or_default());
    let is_capped = coverage.total_rows_capped == Some(true);
    let name = if matched == 1 { table::row_name(table).to_lowercase() } else { name };
    html! {
        p.quiet-text {
            @if shown < matched || is_capped {
                (words::count(shown)) " of " @if is_capped { "at least " } (words::count(matched)) " " (name) (of) ". "
            } @else if matched > 0 {
                @if matched > 1 { "All " } (words::count(matched)) " " (name) (of) ". "
            }
            @match (table, coverage.known_share) {
                (Dimension::Query, Some(share)) if narrowed => {
                    "Together they hold " (words::percent(share)) " of the site's clicks."
                }
                (Dimension::Query, Some(share)) => {
                    "All named queries hold " (words::percent(share)) " of the site's clicks. The rest belong to rare queries that the search engine does not name."
                }
                (Dimension::Page, _) => { "Pages are counted by page: their impressions can exceed the total." }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_by_its_path_cut_to_a_length() {
        let page = |address: &str| page_name(&Pages::of([address]), address).into_string();
        assert_eq!(page("https://www.example.com/a/%D7%A9/b?c=d"), r#"<bdi dir="ltr">/a/<wbr>ש/<wbr>b?c=d</bdi>"#);
        let long = page(&format!("https://www.example.com/{}", "\u{e9}".repeat(2_000)));
        assert_eq!(long.chars().filter(|letter| *letter == 'é').count(), LONGEST_NAME - 1);
    }

    #[test]
    fn rows_are_not_translated() {
        let view = View::read("/p/1", "", &[]).unwrap();
        for link in [
            query_link(&view, "gift"),
            page_link(&view, &Pages::of(["https://a.example/gift"]), "https://a.example/gift"),
        ] {
            assert!(link.into_string().contains(r#" translate="no">"#));
        }
    }

    #[test]
    fn a_sentence_says_what_was_counted() {
        let of = |shown, matched, capped, words: &str| {
            let covered = TableCoverage {
                available: true,
                rows_shown: Some(shown),
                rows_matched: Some(matched),
                total_rows_capped: Some(capped),
                ..TableCoverage::default()
            };
            coverage(Dimension::Query, &covered, words, false).into_string()
        };
        let text = |words: &str| format!("<p class=\"quiet-text\">{words}. </p>");
        assert_eq!(of(10, 6_228, true, counted(true)), text("10 of at least 6,228 queries of both periods"));
        assert_eq!(of(10, 400, false, counted(false)), text("10 of 400 queries"));
        assert_eq!(of(7, 7, false, counted(true)), text("All 7 queries of both periods"));
        assert_eq!(of(1, 1, false, ""), text("1 query"));
        assert_eq!(of(0, 0, false, ""), "<p class=\"quiet-text\"></p>");
        let covered = TableCoverage { available: true, known_share: Some(0.07), ..TableCoverage::default() };
        let rest = |narrowed| coverage(Dimension::Query, &covered, "", narrowed).into_string();
        assert!(
            rest(false).contains("All named queries hold 7.0 % of the site's clicks. The rest belong to rare queries")
        );
        assert!(rest(true).contains("Together they hold 7.0 % of the site's clicks.") && !rest(true).contains("rare"));
    }
}
