//! The overview of a property: totals, the chart, why clicks changed, and the breakdown tables.

use analytics::pairs::Pairing;
use api::{
    analytics::{ExplainedEvent, Performance, SparklinesAnswer, Tables, Totals},
    annotations::Annotation,
    error::ApiError,
    models::{AnalysisStatus, Dimension, Metrics},
    params::Metric,
};
use common::compute::in_place;
use futures_util::{TryFutureExt as _, future::try_join3};
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use crate::web::dashboard::{
    ask::Answered,
    door::{Door, Query},
    draw::{
        chart::{Chart, Flag},
        controls, empty, footer, headline,
        rows::{self, Rows},
        why, words,
    },
    opened::Opened,
    table,
    view::View,
};

/// The rows of the tables of queries and pages.
const ROWS: u32 = 10;
/// The rows of the short tables.
const SHORT: usize = 6;

/// The parameters of the page besides those of the question.
pub const NAMES: [&str; 1] = ["tab"];

/// Everything that the page shows.
struct Material {
    answer: Answered,
    sparks: Option<SparklinesAnswer>,
    notes: Vec<Annotation>,
}

/// Draws the page.
pub async fn page(opened: &Opened<'_>) -> Result<Markup, ApiError> {
    let has_queries = has(opened, Dimension::Query);
    let asked = first_table(&opened.view)?.filter(|table| *table != Dimension::Query || has_queries);
    let first = asked.unwrap_or(if has_queries { Dimension::Query } else { Dimension::Page });
    let question = opened.question();
    let Material { answer, sparks, notes } = read(opened, first, &question).await?;
    let Answered { mut data, meta, coverage, link } = answer;
    let flags = Flag::all(meta.window, notes, events(&opened.door, &mut data));
    let notes_at = opened.may_edit().then(|| format!("{}/notes", opened.door.root()));
    let chart = Chart {
        metric: opened.view.metric,
        series: data.series.as_deref().unwrap_or_default(),
        previous: data.previous_series.as_deref().unwrap_or_default(),
        unusual: data.unusual,
        pairing: meta.compare_window.map(|previous| Pairing::of(meta.window, previous)),
        flags: &flags,
        notes_at: notes_at.as_deref(),
    };
    let tables = data.tables.unwrap_or_default();
    let compares = meta.compare_window.is_some();
    let has_data = data.totals.is_some() && meta.status != AnalysisStatus::NoSearchData;
    Ok(in_place(|| {
        html! {
        @if let Some(name) = link.as_ref().and_then(|link| link.name.as_ref()) { p.quiet-text { bdi { (name) } } }
        (controls::bar(opened, &meta))
        @if let Some(explanation) = &data.explanation { (headline::headline(&explanation.headline, &opened.view)) }
        @match &data.totals {
            Some(totals) => (tiles(opened, totals)),
            None => (empty::still_counted(opened)),
        }
        @if data.totals.is_some() && !has_data { p.card { (empty::no_data(&opened.view)) } }
        @if has_data {
            section.card aria-label=(words::name(opened.view.metric)) { (chart.draw()) }
            @if let Some(explanation) = &data.explanation { (why::panel(explanation, &opened.view)) }
            div.columns {
                @if opened.site.shows(first) { (long(opened, first, &tables, sparks.as_ref(), coverage.as_ref(), compares)) }
                (short(opened, &tables, compares))
            }
        }
        (footer::of(opened, &meta, link.as_ref(), "performance", &[&question[..], &[("scope", "all".to_owned())]].concat()))
        }
    }))
}

/// The events that the chart marks besides the visitor's notes. On a share link, the events of the explanation include the owner's notes.
fn events(door: &Door, data: &mut Performance) -> Vec<ExplainedEvent> {
    match (door, &data.explanation) {
        (Door::Shared(_), Some(explanation)) => explanation.events.clone(),
        _ => data.events.take().unwrap_or_default(),
    }
}

async fn read(opened: &Opened<'_>, first: Dimension, question: &Query) -> Result<Material, ApiError> {
    let (door, asker) = (&opened.door, opened.asker);
    let more = |pairs: &[(&'static str, &str)]| {
        let pairs = pairs.iter().map(|(name, value)| (*name, (*value).to_owned()));
        question.iter().cloned().chain(pairs).collect::<Vec<_>>()
    };
    let compares = question.iter().any(|(name, _)| name.starts_with("compare"));
    let rows = ROWS.to_string();
    let mut of_performance = more(&[("scope", "all"), ("queryLimit", &rows), ("pageLimit", &rows)]);
    of_performance.push(("explain", (compares && opened.site.explains()).to_string()));
    if !opened.site.fixed_window {
        of_performance.push(("usual", "true".to_owned()));
    }
    if let Door::Shared(_) = door {
        of_performance.push(("includeSystem", "true".to_owned()));
    }
    let current: Vec<_> = question.iter().filter(|(name, _)| !name.starts_with("compare")).cloned().collect();
    let of_sparks = [&current[..], &[("table", first.table().to_owned()), ("limit", rows.clone())]].concat();
    let of_notes = [("includeSystem", "true".to_owned())];
    let sparks = door.sparklines(asker, &of_sparks);
    let read = try_join3(door.performance(asker, &of_performance), sparks, door.notes(asker, &of_notes));
    read.map_ok(|(answer, sparks, notes)| Material { answer, sparks, notes }).await
}

/// The table that the page was asked to show first.
pub fn first_table(view: &View) -> Result<Option<Dimension>, ApiError> {
    match view.text("tab") {
        None => Ok(None),
        Some("queries") => Ok(Some(Dimension::Query)),
        Some("pages") => Ok(Some(Dimension::Page)),
        Some(_) => Err(ApiError::invalid("tab", "must be queries or pages")),
    }
}

/// Returns whether the page has a table: the visitor sees it, and the kind of search has its rows.
fn has(opened: &Opened<'_>, table: Dimension) -> bool {
    opened.site.shows(table) && opened.view.has(table)
}

/// The totals, each a link that shows its metric in the chart.
fn tiles(opened: &Opened<'_>, totals: &Totals) -> Markup {
    let metrics =
        Metrics { clicks: totals.clicks, impressions: totals.impressions, ctr: totals.ctr, position: totals.position };
    html! {
        nav.tiles aria-label="Metric of the chart" {
            @for metric in Metric::ALL {
                @let value = of(&metrics, metric);
                @let is_current = metric == opened.view.metric;
                a.tile href=(opened.view.link(&[("metric", Some(metric.name()))])) aria-current=[is_current.then_some("true")] {
                    span { (words::name(metric)) }
                    strong { (words::value(metric, value)) }
                    span { @if let Some(change) = &totals.change { (words::change(metric, change, true)) } @else { "not compared" } }
                }
            }
        }
    }
}

fn of(metrics: &Metrics, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Clicks => Some(metrics.clicks as f64),
        Metric::Impressions => Some(metrics.impressions as f64),
        Metric::Ctr => metrics.ctr,
        Metric::Position => metrics.position,
    }
}

/// The table of queries or pages, with a switch between both.
fn long(
    opened: &Opened<'_>,
    first: Dimension,
    tables: &Tables,
    sparks: Option<&SparklinesAnswer>,
    coverage: Option<&api::analytics::PerformanceCoverage>,
    compares: bool,
) -> Markup {
    let (rows, covered) = (tables.by(first).unwrap_or_default(), coverage.map(|coverage| coverage.by(first)));
    let file_query = Serializer::new(String::new()).extend_pairs(opened.question()).finish();
    let view = &opened.view;
    html! {
        section.card aria-label=(table::heading(first)) {
            div.heads {
                @for table in [Dimension::Query, Dimension::Page] {
                    @if has(opened, table) { a href=(view.link(&[("tab", Some(table.table()))])) aria-current=[(table == first).then_some("true")] { (table::heading(table)) } }
                }
                @match opened.door {
                    Door::Signed(_) => a.aside href=(view.to(first.table())) { "All" },
                    Door::Shared(_) => a.aside href={ (opened.door.root()) "/" (first.table()) ".csv?" (file_query) } download { "CSV" },
                }
            }
            @if !rows.is_empty() { (Rows { table: first, found: rows, view, compares, sparks, page: None, order: None }.wide(table::heading(first))) }
            @if let Some(covered) = covered { (rows::coverage(first, covered, rows::counted(compares), view.is_narrowed())) }
        }
    }
}

/// Says how many rows a short table has in all, and leads to them.
fn more(opened: &Opened<'_>, table: Dimension, rows: usize) -> Markup {
    let name = table::heading(table).to_lowercase();
    html! {
        p.quiet-text {
            (SHORT) " of " (rows) " " (name)
            @if let (Door::Signed(_), Dimension::Country) = (&opened.door, table) {
                span.aside { ". " a href=(opened.view.to("countries")) { "All countries" } }
            }
        }
    }
}

/// The short tables.
fn short(opened: &Opened<'_>, tables: &Tables, compares: bool) -> Markup {
    html! {
        section.card.short aria-label="Countries, devices and search appearance" {
            @for table in [Dimension::Country, Dimension::Device, Dimension::SearchAppearance] {
                @if let Some(rows) = tables.by(table).filter(|rows| !rows.is_empty()) {
                    h2 { (table::heading(table)) }
                    (Rows { table, found: &rows[..rows.len().min(SHORT)], view: &opened.view, compares, sparks: None, page: None, order: None }.short())
                    @if rows.len() > SHORT { (more(opened, table, rows.len())) }
                }
            }
        }
    }
}
