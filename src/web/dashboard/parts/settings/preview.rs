//! The answer to a preview: what a classification would match.

use api::{
    classifications::{ClassificationPreview, ClassificationPreviewAnswer},
    models::{Dimension, WarningCode},
};
use common::names::pages::Pages;
use maud::{Markup, html};
use poem_openapi::types::ParseFromJSON as _;

use crate::web::dashboard::{
    draw::{
        rows::{name, title},
        words,
    },
    forms::Sent,
    table,
};

/// Draws the answer, if a form was sent that asked for it. `table` holds what is matched, `what` says what would match it.
pub fn draw(sent: Option<&Sent>, table: Dimension, what: &str) -> Markup {
    let answer = sent.and_then(|sent| sent.preview.clone());
    let answer = answer.and_then(|json| ClassificationPreviewAnswer::parse_from_json(Some(json)).ok());
    html! {
        @if let Some(ClassificationPreviewAnswer { data, meta }) = answer {
            div.preview role="status" {
                p { (sentence(&data, table)) }
                @for warning in meta.warnings.iter().flatten().filter(|warning| warning.code == WarningCode::PageWithoutScheme) {
                    p { (warning.text) }
                }
                @if !data.largest.is_empty() { (largest(&data, table)) }
                p.quiet-text { (what) " in web search, " (words::window(meta.window)) ". Nothing is saved yet." }
            }
        }
    }
}

fn sentence(found: &ClassificationPreview, table: Dimension) -> Markup {
    let one = table::row_name(table).to_lowercase();
    let all = table::heading(table).to_lowercase();
    let share = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), words::percent);
    let matched = &found.matched;
    html! {
        @if found.rows == 0 { strong { "No " (one) " would match." } } @else {
            strong { (words::count(found.rows)) @if found.rows_capped { " or more" } " " (if found.rows == 1 { &one } else { &all }) }
            " would match, with " strong { (words::count(matched.metrics.clicks)) " clicks" }
            " (" span.number { (share(matched.clicks_share)) } " of the site's) and "
            strong { (words::count(matched.metrics.impressions)) " impressions" }
            " (" span.number { (share(matched.impressions_share)) } ")."
        }
        " " (words::count(found.unmatched.clicks)) " clicks would not match."
        @if let Some(unnamed) = &found.anonymised {
            " " (words::count(unnamed.clicks)) " are of queries that the search engine does not name."
        }
    }
}

fn largest(found: &ClassificationPreview, table: Dimension) -> Markup {
    let pages = Pages::of(found.largest.iter().map(|row| row.key.as_str()));
    html! {
        div.scroll tabindex="0" role="region" aria-label="The largest matches" {
            table.figures.rows {
                thead {
                    tr {
                        th scope="col" { (table::row_name(table)) }
                        th scope="col" { "Clicks" }
                        th.second scope="col" { "Impressions" }
                    }
                }
                tbody {
                    @for row in &found.largest {
                        tr {
                            th scope="row" {
                                span title=(title(table, &row.key)) { (name(table, &pages, &row.key)) }
                            }
                            td { (words::count(row.metrics.clicks)) }
                            td.second { (words::count(row.metrics.impressions)) }
                        }
                    }
                }
            }
        }
    }
}
