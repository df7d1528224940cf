//! Queries for which several pages of the site compete.

use api::{
    analytics::{BeforeState, CannibalizationAnswer, CannibalizedQuery, OwnerConfidence},
    error::ApiError,
};
use common::{compute::in_place, names::pages::Pages};
use maud::{Markup, html};

use crate::web::dashboard::{
    draw::{
        controls, empty, footer,
        paging::pages,
        rows::{page_link, page_name, query_link},
        svg::bar,
        words,
    },
    opened::Opened,
    view::View,
};

/// The queries of a page.
const ROWS: u32 = 20;

/// The parameters of the page besides those of the question. The operation judges the thresholds.
pub const NAMES: [&str; 5] = ["minQueryImpressions", "minPageImpressions", "minPageShare", "maxTopShare", "offset"];

/// Draws the page.
pub async fn page(opened: &Opened<'_>) -> Result<Markup, ApiError> {
    let view = &opened.view;
    let offset = view.number("offset")?;
    let mut query = opened.question();
    query.extend(view.sent(&NAMES));
    query.push(("limit", ROWS.to_string()));
    let CannibalizationAnswer { data, meta } = opened.asker.visitor().cannibalization(&query).await?;
    let coverage = &meta.coverage.queries;
    let names = Pages::of(data.queries.iter().flat_map(|query| &query.pages).map(|page| page.page.as_str()));
    Ok(in_place(|| {
        html! {
        (controls::bar(opened, &meta.answer))
        @if let Some(instead) = empty::instead(opened, meta.answer.status) { (instead) } @else {
            p { "Candidates to review, not verdicts: for these queries at least two pages share the impressions." }
            @if data.queries.is_empty() { p.card { "No pages compete for a query by these conditions." } }
            @for query in &data.queries { (card(query, view, &names)) }
            p.quiet-text {
                (words::count(coverage.rows_shown.unwrap_or_default())) " of " (words::count(coverage.rows_matched.unwrap_or_default()))
                " candidates among " (words::count(data.queries_analysed)) " queries."
                @if let Some(before) = data.previous_rows_matched { " Before there were " (words::count(before)) "." }
            }
            (pages(view, offset, ROWS, coverage.has_more == Some(true)))
        }
        (footer::of(opened, &meta.answer, None, "cannibalization", &query))
        }
    }))
}

fn card(found: &CannibalizedQuery, view: &View, names: &Pages) -> Markup {
    let owner = &found.suggested_owner;
    let confidence = match owner.confidence {
        OwnerConfidence::High => "It leads alone in clicks, impressions and position.",
        OwnerConfidence::Medium => "It leads alone in two of clicks, impressions and position.",
        OwnerConfidence::Low => "It leads alone in at most one of clicks, impressions and position.",
    };
    html! {
        section.card {
            h2 { (query_link(view, &found.query)) }
            p.quiet-text { (words::count(found.clicks)) " clicks, " (words::count(found.impressions)) " impressions. " (before(found)) }
            table.figures.rows {
                thead {
                    tr {
                        th scope="col" { "Page" }
                        th scope="col" { "Share" }
                        th scope="col" { "Clicks" }
                        th.second scope="col" { "Impressions" }
                        th scope="col" { "Position" }
                    }
                }
                tbody {
                    @for page in &found.pages {
                        tr {
                            th scope="row" { (bar(page.impressions_share)) (page_link(view, names, &page.page)) }
                            td { (words::percent(page.impressions_share)) }
                            td { (words::count(page.clicks)) }
                            td.second { (words::count(page.impressions)) }
                            td { (words::position(page.position)) }
                        }
                    }
                }
            }
            p { "Keep " strong { (page_name(names, &owner.page)) } ". " (confidence) }
        }
    }
}

/// Says whether the pages competed before.
fn before(found: &CannibalizedQuery) -> &'static str {
    match found.previous.as_ref().map(|before| before.state) {
        None => "",
        Some(BeforeState::Candidate) => "They competed before, too.",
        Some(BeforeState::NotCandidate) => "They did not compete before.",
        Some(BeforeState::Absent) => "Nobody saw the query before.",
        Some(BeforeState::Unknown) => "Whether they competed before is not known.",
    }
}
