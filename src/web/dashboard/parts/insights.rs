//! How visible a site is: queries by position, branded and other queries, and queries that come and go.

use api::{
    analytics::{
        BrandedSplit, BucketRow, PositionBucket, PositionCtr, QueryInsights, QueryInsightsAnswer, QueryMovers,
        TableRow, Visibility,
    },
    error::ApiError,
    models::Dimension,
};
use common::compute::in_place;
use maud::{Markup, html};

use crate::web::dashboard::{
    address::OVERVIEW,
    draw::{
        controls, empty, footer,
        layers::{Layers, Series},
        rows::Rows,
        svg::bar,
        words,
    },
    opened::Opened,
    view::View,
};

/// The queries of each list.
const ROWS: u32 = 10;

/// The parameters of the page besides those of the question. The operation judges them.
pub const NAMES: [&str; 1] = ["minImpressions"];

/// Draws the page.
pub async fn page(opened: &Opened<'_>) -> Result<Markup, ApiError> {
    let mut query = opened.question();
    query.extend(opened.view.sent(&NAMES));
    query.push(("limit", ROWS.to_string()));
    let QueryInsightsAnswer { data, meta } = opened.asker.visitor().query_insights(&query).await?;
    let QueryInsights { distribution, previous_distribution, visibility, ctr_by_position, branded_split, movers } =
        data;
    Ok(in_place(|| {
        html! {
        (controls::bar(opened, &meta.answer))
        @if let Some(instead) = empty::instead(opened, meta.answer.status) { (instead) } @else {
            (index(&visibility))
            @if let Some(rows) = &distribution { (positions(rows, previous_distribution.as_deref(), &visibility)) }
            @match &branded_split {
                Some(split) => (branded(split)),
                None => p.card {
                    "Branded queries are not known for this site. "
                    @if opened.may_edit() { a href={ (opened.door.root()) "/settings#brand" } { "Add branded keywords" } " to split its traffic." }
                },
            }
            @if let Some(movers) = &movers { (lists(movers, &opened.view, meta.thresholds.min_impressions)) }
            @if let Some(rates) = &ctr_by_position { (by_position(rates, meta.thresholds.branded_excluded)) }
        }
        (footer::of(opened, &meta.answer, None, "query-insights", &query))
        }
    }))
}

/// The visibility index and its course.
fn index(visibility: &Visibility) -> Markup {
    let points = &visibility.series;
    let layers = Layers {
        name: "Visibility",
        days: points.iter().map(|point| point.period.date).collect(),
        series: vec![Series {
            name: "Visibility".to_owned(),
            values: points.iter().map(|point| point.index).collect(),
        }],
        stacked: false,
        decimal: true,
    };
    html! {
        section.card aria-labelledby="visibility" {
            h2 #visibility { "Visibility " span.number { (visibility.index.map_or_else(|| words::NONE.to_owned(), words::position)) } " of 100" }
            @if let Some(change) = visibility.change { p { (words::points(change)) " against the days before" } }
            (layers.draw())
            p.quiet-text { "100 means that every named query ranks first, 0 that none is among the first twenty. Impressions weigh it, and they depend on ranking themselves." }
        }
    }
}

/// The queries by bucket of positions.
fn positions(rows: &[BucketRow], before: Option<&[BucketRow]>, visibility: &Visibility) -> Markup {
    let points = &visibility.series;
    let count = |bucket: PositionBucket| {
        points
            .iter()
            .map(move |point| point.buckets.iter().find(|one| one.bucket == bucket).map(|one| one.queries as f64))
    };
    let series =
        rows.iter().map(|row| Series { name: name(row.bucket).to_owned(), values: count(row.bucket).collect() });
    let layers = Layers {
        name: "Queries by position",
        days: points.iter().map(|point| point.period.date).collect(),
        series: series.collect(),
        stacked: true,
        decimal: false,
    };
    html! {
        section.card aria-labelledby="positions" {
            h2 #positions { "Queries by position" }
            (layers.draw())
            div.scroll tabindex="0" role="region" aria-label="Table of positions" {
                table.figures.rows {
                    thead {
                        tr {
                            th scope="col" { "Position" }
                            th scope="col" { "Queries" }
                            @if before.is_some() { th scope="col" { "Before" } }
                            th scope="col" { "Clicks" }
                            th.second scope="col" { "Impressions" }
                        }
                    }
                    tbody {
                        @for (index, row) in rows.iter().enumerate() {
                            tr {
                                th scope="row" { (bar(row.queries_share.unwrap_or_default())) span { (name(row.bucket)) } }
                                td { (words::count(row.queries)) }
                                @if let Some(before) = before { td { (before.get(index).map_or_else(|| words::NONE.to_owned(), |row| words::count(row.queries))) } }
                                td { (words::count(row.clicks)) }
                                td.second { (words::count(row.impressions)) }
                            }
                        }
                    }
                }
            }
            @if points.iter().any(|point| point.capped) { p.quiet-text { "On some days the search engine listed no more queries than its maximum, so there may be more." } }
        }
    }
}

fn name(bucket: PositionBucket) -> &'static str {
    match bucket {
        PositionBucket::Top3 => "1 to 3",
        PositionBucket::Top10 => "4 to 10",
        PositionBucket::Top20 => "11 to 20",
        PositionBucket::Beyond => "Beyond 20",
    }
}

/// Branded, other and unnamed queries.
fn branded(split: &BrandedSplit) -> Markup {
    let points = &split.series;
    let part = |name: &str, values: Vec<u64>| Series {
        name: name.to_owned(),
        values: values.into_iter().map(|clicks| Some(clicks as f64)).collect(),
    };
    let layers = Layers {
        name: "Clicks by kind of query",
        days: points.iter().map(|point| point.period.date).collect(),
        series: vec![
            part("Brand", points.iter().map(|point| point.branded.clicks).collect()),
            part("Not brand", points.iter().map(|point| point.non_branded.clicks).collect()),
            part("Not named", points.iter().map(|point| point.anonymised.clicks).collect()),
        ],
        stacked: true,
        decimal: false,
    };
    let named = [("Brand", &split.branded), ("Not brand", &split.non_branded)];
    html! {
        section.card aria-labelledby="brand" {
            h2 #brand { "Brand" }
            (layers.draw())
            table.figures.rows {
                thead { tr { th scope="col" { "Queries" } th scope="col" { "Clicks" } th scope="col" { "Share" } th.second scope="col" { "Impressions" } } }
                tbody {
                    @for (name, part) in named {
                        @if let Some(part) = part { (share(name, part.clicks, part.clicks_share, part.impressions)) }
                    }
                    @if let Some(part) = &split.anonymised { (share("Not named", part.clicks, part.clicks_share, part.impressions)) }
                }
            }
        }
    }
}

fn share(name: &str, clicks: u64, share: Option<f64>, impressions: u64) -> Markup {
    html! {
        tr {
            th scope="row" { (bar(share.unwrap_or_default())) span { (name) } }
            td { (words::count(clicks)) }
            td { (share.map_or_else(|| words::NONE.to_owned(), words::percent)) }
            td.second { (words::count(impressions)) }
        }
    }
}

/// The queries that came, went and moved.
fn lists(movers: &QueryMovers, view: &View, least: u64) -> Markup {
    let lists: [(&str, &[TableRow]); 4] = [
        ("New queries", &movers.new),
        ("Lost queries", &movers.lost),
        ("Moving queries", &movers.moving),
        ("In one list only", &movers.unknown),
    ];
    html! {
        @for (name, found) in lists {
            @if !found.is_empty() {
                section.card aria-label=(name) {
                    h2 { (name) }
                    (Rows { table: Dimension::Query, found, view, compares: true, sparks: None, page: Some(OVERVIEW), order: None }.wide(name))
                    @if name == "In one list only" { p.quiet-text { "The search engine cut the other list, which may have them." } }
                }
            }
        }
        p.quiet-text { "Queries with at least " (words::count(least)) " impressions, " (ROWS) " of each kind at most." }
    }
}

/// The site's own click-through rate at each position.
fn by_position(rates: &[PositionCtr], without_brand: bool) -> Markup {
    let most = rates.iter().filter_map(|rate| rate.ctr).fold(0.0, f64::max);
    html! {
        section.card aria-labelledby="rates" {
            h2 #rates { "Click-through rate by position" }
            table.figures.rows {
                thead { tr { th scope="col" { "Position" } th scope="col" { "Rate" } th scope="col" { "Queries" } th.second scope="col" { "Impressions" } } }
                tbody {
                    @for rate in rates {
                        tr {
                            th scope="row" { (bar(if most > 0.0 { rate.ctr.unwrap_or_default() / most } else { 0.0 })) span { (rate.position) } }
                            td { (rate.ctr.map_or_else(|| words::NONE.to_owned(), words::percent)) }
                            td { (words::count(rate.queries)) }
                            td.second { (words::count(rate.impressions)) }
                        }
                    }
                }
            }
            @if without_brand { p.quiet-text { "Branded queries are left out, because a brand is clicked far more at every position." } }
        }
    }
}
