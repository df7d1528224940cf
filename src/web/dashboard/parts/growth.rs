//! Queries that would bring more clicks from a better position or a better snippet.

use api::{
    analytics::{CurveSource, GrowthAnswer, GrowthOpportunity, OpportunityKind},
    error::ApiError,
};
use common::{compute::in_place, names::pages::Pages};
use maud::{Markup, html};

use crate::web::dashboard::{
    draw::{
        controls, empty, footer,
        paging::pages,
        rows::{page_link, query_link},
        words,
    },
    opened::Opened,
    view::View,
};

/// The rows of a page.
const ROWS: u32 = 50;

/// The parameters of the page besides those of the question. The operation judges the thresholds.
pub const NAMES: [&str; 6] = ["kind", "minPosition", "maxPosition", "minImpressions", "targetPosition", "offset"];

const KINDS: [(&str, Option<&str>); 3] =
    [("All", None), ("Better position", Some("rank")), ("Better snippet", Some("snippet"))];

/// Draws the page.
pub async fn page(opened: &Opened<'_>) -> Result<Markup, ApiError> {
    let view = &opened.view;
    let offset = view.number("offset")?;
    let mut query = opened.question();
    query.extend(view.sent(&NAMES));
    query.push(("limit", ROWS.to_string()));
    let GrowthAnswer { data, meta } = opened.asker.visitor().growth(&query).await?;
    let coverage = &meta.coverage.queries;
    Ok(in_place(|| {
        html! {
        (controls::bar(opened, &meta.answer))
        div.controls {
            nav.choices aria-label="Kind" {
                @for (name, kind) in KINDS {
                    a href=(view.link(&[("kind", kind), ("offset", None)])) aria-current=[(view.text("kind") == kind).then_some("true")] { (name) }
                }
            }
            (thresholds(view, &meta.thresholds))
        }
        @if let Some(instead) = empty::instead(opened, meta.answer.status) { (instead) } @else {
            section.card aria-label="Opportunities" {
                h2 { "Opportunities" }
                @if data.opportunities.is_empty() { p { "No query is an opportunity by these conditions." } } @else {
                    (table(&data.opportunities, view))
                }
                p.quiet-text {
                    (words::count(coverage.rows_shown.unwrap_or_default())) " of " (words::count(coverage.rows_matched.unwrap_or_default()))
                    " opportunities among " @if coverage.total_rows_capped == Some(true) { "at least " }
                    (words::count(coverage.rows_known.unwrap_or_default())) " queries. A query may be one of each kind. "
                    @match data.curve.source {
                        CurveSource::Own => { "Expected rates come from this site's own queries." }
                        CurveSource::Static => { "Expected rates are published averages, because the site has too little data of its own." }
                    }
                    @if meta.thresholds.branded_excluded { " Branded queries are left out." }
                }
                (pages(view, offset, ROWS, coverage.has_more == Some(true)))
            }
        }
        (footer::of(opened, &meta.answer, None, "growth-opportunities", &query))
        }
    }))
}

/// The thresholds as a sentence to fill in.
fn thresholds(view: &View, used: &api::analytics::GrowthThresholds) -> Markup {
    let fields = [
        ("Position ", "minPosition", used.min_position.to_string(), "0.1", "100"),
        (" to ", "maxPosition", used.max_position.to_string(), "0.1", "100"),
        (" with at least ", "minImpressions", used.min_impressions.to_string(), "1", "1000000"),
        (" impressions, to position ", "targetPosition", used.target_position.to_string(), "1", "10"),
    ];
    html! {
        form.dates method="get" {
            @for (name, value) in view.kept(&["minPosition", "maxPosition", "minImpressions", "targetPosition", "offset"]) {
                input type="hidden" name=(name) value=(value);
            }
            @for (words, name, value, step, max) in fields {
                label { (words) input type="number" name=(name) value=(value) min="1" max=(max) step=(step); }
            }
            button.secondary { "Show" }
        }
    }
}

fn table(found: &[GrowthOpportunity], view: &View) -> Markup {
    let pages = Pages::of(found.iter().filter_map(|one| one.page.as_deref()));
    html! {
        div.scroll tabindex="0" role="region" aria-label="Table of opportunities" {
            table.figures.rows.explained {
                thead {
                    tr {
                        th scope="col" { "Query" }
                        th scope="col" { "Clicks to win" }
                        th scope="col" { "Clicks" }
                        th.second scope="col" { "Impressions" }
                        th.second scope="col" { "Position" }
                        th.second scope="col" { "Rate now" }
                        th.second scope="col" { "Rate expected" }
                        th.second scope="col" { "By" }
                    }
                }
                tbody {
                    @for one in found {
                        tr {
                            th scope="row" {
                                (query_link(view, &one.query))
                                @if let Some(page) = &one.page { " " small { (page_link(view, &pages, page)) } }
                            }
                            td { (words::count_of(one.potential_clicks)) }
                            td { (words::count(one.clicks)) }
                            td.second { (words::count(one.impressions)) }
                            td.second { (words::position(one.position)) }
                            td.second { (words::percent(one.ctr)) }
                            td.second { (words::percent(one.expected_ctr)) }
                            td.second { @match one.kind { OpportunityKind::Rank => "position", OpportunityKind::Snippet => "snippet" } }
                        }
                        tr.under { td colspan="8" { (reason(one)) } }
                    }
                }
            }
        }
    }
}

/// The columns that a narrow screen has no room for, as a sentence below the row.
fn reason(one: &GrowthOpportunity) -> Markup {
    html! {
        (match one.kind { OpportunityKind::Rank => "Better position", OpportunityKind::Snippet => "Better snippet" }) ": "
        span.number { (words::count(one.impressions)) } " impressions at position " span.number { (words::position(one.position)) }
        ", clicked by " span.number { (words::percent(one.ctr)) } " instead of " span.number { (words::percent(one.expected_ctr)) }
    }
}
