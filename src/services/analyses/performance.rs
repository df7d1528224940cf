//! The performance answer: its readings, and the numbers computed from them.

use std::array::from_fn;

use analytics::{
    change,
    coverage::{self, Known},
    page::{Page, Shown},
    series::{self, Span},
};
use api::{
    analytics::{
        AnswerMeta, Performance, PerformanceAnswer, PerformanceCoverage, PerformanceMeta, PerformanceParams,
        PropertyPerformanceParams, Scope, SeriesPoint, Tables,
    },
    models::{self, Granularity, Offset, TableCoverage},
    params::Echo,
    sharing::SharedPart,
};
use common::{metrics::Metrics, names::sites};
use futures_util::future::OptionFuture;
use search_engine::{Dimension, LastFinal, Plan};
use serde::Serialize;

use super::{
    Listed, PartId, Parts, Readings, WHOLE, Wholes, by_time,
    compared::Days,
    explanation::{self, Events},
    hours,
    listed::labelled,
    page_of_table,
    per_window::PerWindow,
    prepared::{MadeOf, Prepared},
    question::{self, Settled},
    search_data::SearchData,
    table_cap, total,
    usual::Judged,
};
use crate::{
    error::Error,
    services::access::{PropertyAccess, ReadableProperty},
};

/// The parts of one window.
struct WindowParts {
    series: Option<PartId>,
    totals: Option<PartId>,
    /// Totals of the property and of the slice: the divisors for the shares of all tables except the page table.
    wholes: Option<Wholes>,
    /// The same totals, counted `byPage`.
    wholes_by_page: Option<Wholes>,
    tables: [Option<PartId>; 5],
}

/// Everything that an answer is computed from.
struct Material {
    windows: PerWindow<WindowParts>,
    readings: Readings,
    freshness: LastFinal,
    /// The usual ranges of the window, if they are asked for.
    judged: Option<Judged>,
}

/// The kind of an answer, and what its envelope says besides the parts that all readers get.
pub(super) struct Kind<'a, S> {
    /// The name of the kind.
    pub analysis: &'static str,
    /// What the envelope says.
    pub about: &'a S,
}

/// Computes the performance of a property, with the explanation of its change if the caller wants it.
pub async fn performance(
    search: &SearchData,
    access: &PropertyAccess,
    params: &PropertyPerformanceParams,
) -> Result<Prepared<PerformanceAnswer>, Error> {
    let kind = Kind { analysis: "performance", about: &() };
    let envelope = |Answer { data, meta: answer, coverage }, question| PerformanceAnswer {
        data,
        meta: PerformanceMeta { answer, question, coverage },
    };
    answered(search, access, params, kind, envelope).await
}

/// Computes the performance for any reader, and puts it into an envelope.
pub(super) async fn answered<S: Serialize, T: Serialize + 'static>(
    search: &SearchData,
    access: &ReadableProperty,
    params: &PropertyPerformanceParams,
    kind: Kind<'_, S>,
    envelope: impl FnOnce(Answer, Echo<PropertyPerformanceParams>) -> T + Send + 'static,
) -> Result<Prepared<T>, Error> {
    let PerformanceParams { question, series, scope, .. } = &params.performance;
    let (granularity, scope, pages) = (series.granularity, *scope, pages(&params.performance)?);
    let question = &hours::dated(search, access, question, granularity).await?;
    let explained = params.explain.then(|| Box::pin(explanation::plan(search, access, question, params.explain_limit)));
    let explained = OptionFuture::from(explained).await.transpose()?.flatten();
    let today = search.clock.pacific_today();
    let settled = question::settle(search, access, question).await?.by(granularity, today)?;
    let settled = if params.usual || params.explain { settled.with_history(today) } else { settled };
    let (own, slice) = (settled.plan().await?, settled.plan_without_queries().await?);
    let mut parts = Parts::of(search, &settled);
    // The explanation reads longer lists of the same rows, so it comes first: the tables are the beginning of them.
    let explained = explained.map(|planned| planned.declare(&mut parts));
    let windows =
        PerWindow::of(&settled, |days| WindowParts::declare(&settled, days, scope, [&own, &slice], &mut parts));
    let history = settled.history.map(|days| (days, parts.rows(days, &[Dimension::Date], WHOLE, &own)));
    let events = OptionFuture::from(explained.as_ref().map(|explained| explained.events(search, access)));
    let last_final = search.last_final(&settled.site);
    let (_, reasons, freshness) = tokio::try_join!(parts.read(), async { events.await.transpose() }, last_final)?;
    let readings = parts.finish();
    let judged = history.map(|(days, part)| Judged::of(search, &settled, days, &readings[part], &freshness));
    let material = Material { windows, readings, freshness, judged };
    let params = PropertyPerformanceParams { performance: understood(&params.performance, &settled), ..params.clone() };
    // Annotations change without any reading.
    let notes = reasons.as_ref().map(Events::digest).transpose()?;
    let has_events = params.include_system && access.view().is_none_or(|view| view.shows(SharedPart::Notes));
    let events = has_events.then(|| search.system_annotations.overlapping(settled.window, settled.compare));
    let key = settled.key(kind.analysis, access, &(kind.about, &params, notes, &events))?;
    let marks_days = params.performance.series.granularity == Granularity::Day && params.usual;
    let site = sites::name(&access.property().site_url);
    let made_of = MadeOf { readings: material.readings.origin(), freshness };
    let compute = move || {
        let mut answer = self::answer(&settled, scope, &pages, &material);
        answer.data.events = events;
        let judged = material.judged.as_ref();
        answer.data.explanation = explained
            .zip(reasons)
            .map(|(explained, events)| explained.explanation(&site, &material.readings, judged, &events));
        if let (Some(judged), Some(series), true) = (judged, &mut answer.data.series, marks_days) {
            judged.usual.add_to(series);
            answer.data.unusual = judged.unusual;
        }
        envelope(answer, Echo::of(&params))
    };
    Ok(Prepared { key, made_of, compute: Box::new(compute) })
}

/// Returns the page of each table.
fn pages(params: &PerformanceParams) -> Result<[Page; 5], Error> {
    let compares = params.question.comparison.is_asked();
    let page = |table, offset: Offset, limit| page_of_table(&params.order, table, offset, limit, compares);
    let whole = |table| page(table, api::params::Whole(0), usize::MAX);
    let [queries, urls, countries, devices, appearances] = models::Dimension::ALL;
    Ok([
        page(queries, params.query_offset, params.query_limit.0 as usize)?,
        page(urls, params.page_offset, params.page_limit.0 as usize)?,
        whole(countries)?,
        whole(devices)?,
        whole(appearances)?,
    ])
}

/// Returns the parameters as they were understood.
fn understood(params: &PerformanceParams, settled: &Settled) -> PerformanceParams {
    PerformanceParams { question: settled.question.clone(), ..params.clone() }
}

impl WindowParts {
    /// Declares what `scope` wants of a window. The plans are those of the question, and of its slice. The series comes first: the reader
    /// then finds it in progress and uses its sum as the totals of the same days.
    fn declare(settled: &Settled, days: Days, scope: Scope, [own, slice]: [&Plan; 2], parts: &mut Parts<'_>) -> Self {
        let series = scope.has_series().then(|| parts.rows(days.series, &[settled.time()], WHOLE, own));
        let totals = days.counted.map(|window| parts.totals(window, false, own));
        let divided = days.counted.filter(|_| scope.has_tables() && days == settled.days());
        let [wholes, wholes_by_page] =
            [false, true].map(|by_page| divided.map(|window| parts.wholes(Some(window), by_page, slice)));
        let tables = models::Dimension::ALL.map(Dimension::from).map(|dimension| {
            let counted = days.counted.filter(|_| scope.has_tables() && settled.has(dimension));
            counted.map(|window| parts.rows(window, &[dimension], table_cap(dimension), own))
        });
        Self { series, totals, wholes, wholes_by_page, tables }
    }
}

/// The parts of an answer that all readers get.
pub(super) struct Answer {
    /// Totals, series and tables.
    pub data: Performance,
    /// The metadata that every answer has.
    pub meta: AnswerMeta,
    /// The coverage of each table. `None` without tables.
    pub coverage: Option<PerformanceCoverage>,
}

/// Computes the answer from the readings.
fn answer(asked: &Settled, scope: Scope, pages: &[Page; 5], material: &Material) -> Answer {
    let readings = &material.readings;
    let totals = material.windows.map(|parts| parts.totals.map_or_else(Metrics::zero, |id| total(&readings[id])));
    let (tables, coverage) = scope.has_tables().then(|| tables(asked, pages, material)).unzip();
    let wants_series = scope.has_series();
    let last_final = material.freshness.last_final_date;
    let previous = material.windows.previous.as_ref().zip(asked.compared);
    let read_at = readings.read_at().min();
    let is_counted = asked.is_counted(last_final);
    let span = asked.span(asked.window, last_final);
    let series = wants_series.then(|| periods(span, readings, &material.windows.current));
    let data = Performance {
        totals: is_counted.then(|| change::totals(&totals.current, totals.previous.as_ref())),
        series,
        previous_series: previous
            .filter(|_| wants_series)
            .map(|(parts, compared)| periods(asked.span(compared.previous, last_final), readings, parts)),
        unusual: None,
        tables,
        events: None,
        explanation: None,
    };
    let read_at = read_at.unwrap_or(material.freshness.read_at);
    Answer { data, meta: asked.meta(&material.freshness, read_at, totals.current.impressions > 0.0), coverage }
}

/// Returns every period of a series.
fn periods(span: Span, readings: &Readings, parts: &WindowParts) -> Vec<SeriesPoint> {
    let rows = parts.series.map(|id| by_time(&readings[id], span)).unwrap_or_default();
    series::filled(&rows, span)
}

fn tables(asked: &Settled, pages: &[Page; 5], material: &Material) -> (Tables, PerformanceCoverage) {
    let [queries, pages, countries, devices, appearances] = from_fn(|index| {
        let (dimension, page) = (Dimension::from(models::Dimension::ALL[index]), &pages[index]);
        if !asked.has(dimension) {
            return (None, coverage::unavailable(&asked.lacks(dimension)));
        }
        let reading = |parts: &WindowParts| parts.tables[index].map(|id| &*material.readings[id]);
        let listed = material.windows.map(|parts| Listed::maybe(reading(parts)));
        let (rows, known, shown) = listed.sides().table(page);
        (Some(labelled(rows, dimension)), table_coverage(asked, material, dimension, known, shown))
    });
    let coverage = PerformanceCoverage {
        queries: queries.1,
        pages: pages.1,
        countries: countries.1,
        devices: devices.1,
        search_appearances: appearances.1,
    };
    let tables = Tables {
        queries: queries.0,
        pages: pages.0,
        countries: countries.0,
        devices: devices.0,
        search_appearances: appearances.0,
    };
    (tables, coverage)
}

fn table_coverage(asked: &Settled, material: &Material, table: Dimension, known: Known, shown: Shown) -> TableCoverage {
    let parts = &material.windows.current;
    let wholes = match table {
        Dimension::Page => parts.wholes_by_page,
        Dimension::SearchAppearance => None,
        _ => parts.wholes,
    };
    let whole = wholes.map(|wholes| material.readings.whole(wholes));
    coverage::coverage(known, table_cap(table), Some(shown), asked.aggregation_by(&[table]), whole)
}
