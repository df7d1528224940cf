//! The performance answer: its readings, and the numbers computed from them.

use std::{collections::BTreeMap, sync::Arc};

use api::{
    analytics::{
        AnswerMeta, Performance, PerformanceAnswer, PerformanceCoverage, PerformanceMeta, PerformanceParams,
        PropertyPerformanceParams, Scope, SeriesPoint, Tables,
    },
    models::{TableCoverage, Window},
    params::Echo,
    sharing::{SharedPerformanceAnswer, SharedPerformanceMeta},
};
use chrono::NaiveDate;
use futures_util::future::{OptionFuture, join_all, try_join};

use super::{
    Listed, WHOLE, explanation,
    question::{self, Settled, lacks},
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
    table_cap, total,
};
use crate::{
    analytics::{
        change,
        metrics::Metrics,
        series,
        table::{self, Listing},
    },
    error::Error,
    search_engine::{Aggregation, Dimension, LastFinal, Part, Plan, Reading},
    services::{
        access::{PropertyAccess, SharedProperty},
        properties::display_name,
    },
};

/// The breakdown tables, in the order of the answer.
const TABLES: [Dimension; 5] =
    [Dimension::Query, Dimension::Page, Dimension::Country, Dimension::Device, Dimension::SearchAppearance];

/// The readings of one window.
#[derive(Default)]
struct Readings {
    totals: Option<Arc<Reading>>,
    series: Option<Arc<Reading>>,
    tables: [Option<Arc<Reading>>; 5],
    /// Totals without query conditions: the divisor for the shares of all tables except the page table.
    whole: Option<Arc<Reading>>,
    /// The same totals, counted `byPage`.
    whole_by_page: Option<Arc<Reading>>,
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        [&self.totals, &self.series, &self.whole, &self.whole_by_page].into_iter().chain(&self.tables).flatten()
    }
}

/// Everything that an answer is computed from.
struct Material {
    current: Readings,
    previous: Option<Readings>,
    freshness: LastFinal,
}

impl Material {
    fn readings(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.current.all().chain(self.previous.iter().flat_map(Readings::all))
    }
}

/// Computes the performance of a property, with the explanation of its change if the caller wants it.
pub async fn performance(
    search: &SearchData,
    access: &PropertyAccess,
    params: &PropertyPerformanceParams,
) -> Result<Arc<RenderedAnswer<PerformanceAnswer>>, Error> {
    let (question, scope) = (&params.performance.question, params.performance.scope);
    let explained = params.explain.then(|| Box::pin(explanation::read(search, access, question, params.explain_limit)));
    let (reasons, (settled, material)) =
        tokio::try_join!(async { OptionFuture::from(explained).await.transpose() }, async {
            let settled = question::settle(search, access, question).await?;
            let material = read(search, &settled, scope).await?;
            Ok((settled, material))
        })?;
    let params = PropertyPerformanceParams { performance: understood(&params.performance, &settled), ..*params };
    // Annotations change without any reading.
    let notes = reasons.as_ref().map(|reasons| reasons.events.digest()).transpose()?;
    let events = params.include_system.then(|| search.system_annotations.overlapping(settled.window, settled.compare));
    let key = settled.key("performance", access, &(&params, notes, &events))?;
    let readings = material.readings().chain(reasons.iter().flat_map(explanation::Material::readings));
    let made_of = MadeOf::new(readings, material.freshness);
    let rendered = move || {
        let Answer { mut data, mut meta, coverage } = self::answer(&settled, &params.performance, &material);
        data.events = events;
        if let Some(reasons) = &reasons {
            let read_at = reasons.readings().map(|reading| reading.read_at);
            meta.cached_at = read_at.fold(meta.cached_at, Ord::min);
            data.explanation = Some(reasons.explanation());
        }
        PerformanceAnswer { data, meta: PerformanceMeta { answer: meta, question: Echo::of(&params), coverage } }
    };
    search.answers.rendered(key, made_of, rendered).await
}

/// Computes the performance for the reader of a share link.
pub async fn shared(
    search: &SearchData,
    shared: &SharedProperty,
    params: &PerformanceParams,
) -> Result<Arc<RenderedAnswer<SharedPerformanceAnswer>>, Error> {
    let settled = question::settle(search, shared, &params.question).await?;
    let material = read(search, &settled, params.scope).await?;
    let params = understood(params, &settled);
    let key = settled.key("shared", shared, &(&shared.name, shared.expires_at, &params))?;
    let made_of = MadeOf::new(material.readings(), material.freshness);
    let site = display_name(&shared.property().site_url).to_owned();
    let (link_name, link_expires_at) = (shared.name.clone(), shared.expires_at);
    let rendered = move || {
        let Answer { data, meta: answer, coverage } = self::answer(&settled, &params, &material);
        let question = Echo::of(&params);
        let meta = SharedPerformanceMeta { answer, question, coverage, site, link_name, link_expires_at };
        SharedPerformanceAnswer { data, meta }
    };
    search.answers.rendered(key, made_of, rendered).await
}

/// Returns the parameters as they were understood.
fn understood(params: &PerformanceParams, settled: &Settled) -> PerformanceParams {
    PerformanceParams { question: settled.question.clone(), ..*params }
}

/// The plans of a question.
struct Plans {
    own: Plan,
    /// The plan without the query conditions, for the divisors of coverage.
    whole: Plan,
}

/// The readings of a window that are wanted besides its totals.
#[derive(Clone, Copy)]
struct Wanted {
    series: bool,
    tables: bool,
    /// True to read the divisors of coverage.
    whole: bool,
}

/// Makes all readings in parallel.
async fn read(search: &SearchData, asked: &Settled, scope: Scope) -> Result<Material, Error> {
    let wanted = Wanted { series: scope.has_series(), tables: scope.has_tables(), whole: scope.has_tables() };
    let plans = Plans { own: asked.plan().await?, whole: asked.plan_without_queries().await? };
    let current = read_window(search, asked, &plans, asked.window, wanted);
    let without_coverage = Wanted { whole: false, ..wanted };
    let previous = asked.compare.map(|window| read_window(search, asked, &plans, window, without_coverage));
    let previous = OptionFuture::from(previous);
    let freshness = search.last_final(&asked.site);
    let windows = try_join(current, async { previous.await.transpose() });
    let ((current, previous), freshness) = try_join(windows, freshness).await?;
    Ok(Material { current, previous, freshness })
}

async fn read_window(
    search: &SearchData,
    asked: &Settled,
    plans: &Plans,
    window: Window,
    wanted: Wanted,
) -> Result<Readings, Error> {
    let read = |wanted: bool, part: Part, plan: &Plan| {
        let plan = plan.clone();
        OptionFuture::from(wanted.then_some(async move { search.read(&asked.site, &part, &plan).await }))
    };
    let by_page = Part { aggregation: Some(Aggregation::ByPage), ..asked.part(window, &[], 1) };
    // The series comes first: the reader then finds it in progress and uses its sum as the totals of the same plan.
    let singles = [
        read(wanted.series, asked.part(window, &[Dimension::Date], WHOLE), &plans.own),
        read(true, asked.part(window, &[], 1), &plans.own),
        read(wanted.whole, asked.part(window, &[], 1), &plans.whole),
        read(wanted.whole, by_page, &plans.whole),
    ];
    let tables = TABLES.map(|dimension| {
        let part = asked.part(window, &[dimension], table_cap(dimension));
        read(wanted.tables && asked.search_type.has(dimension), part, &plans.own)
    });
    let found = join_all(singles.into_iter().chain(tables)).await;
    let mut found = found.into_iter().map(Option::transpose);
    let mut next = || found.next().unwrap_or(Ok(None));
    Ok(Readings {
        series: next()?,
        totals: next()?,
        whole: next()?,
        whole_by_page: next()?,
        tables: [next()?, next()?, next()?, next()?, next()?],
    })
}

/// The parts of an answer that all readers get.
struct Answer {
    data: Performance,
    meta: AnswerMeta,
    coverage: Option<PerformanceCoverage>,
}

/// Computes the answer from the readings.
fn answer(asked: &Settled, params: &PerformanceParams, material: &Material) -> Answer {
    let totals = total_of(material.current.totals.as_deref());
    let (tables, coverage) = params.scope.has_tables().then(|| tables(asked, params, material)).unzip();
    let wants_series = params.scope.has_series();
    let previous = material.previous.as_ref().zip(asked.compare);
    let daily = |window: Window, readings: &Readings| daily(window, readings, material.freshness.last_final_date);
    let read_at = material.readings().map(|reading| reading.read_at).min();
    let data = Performance {
        totals: change::totals(&totals, previous.map(|(readings, _)| total_of(readings.totals.as_deref())).as_ref()),
        series: wants_series.then(|| daily(asked.window, &material.current)),
        previous_series: previous.filter(|_| wants_series).map(|(readings, window)| daily(window, readings)),
        tables,
        events: None,
        explanation: None,
    };
    let read_at = read_at.unwrap_or(material.freshness.read_at);
    Answer { data, meta: asked.meta(&material.freshness, read_at, totals.impressions > 0.0), coverage }
}

fn total_of(reading: Option<&Reading>) -> Metrics {
    reading.map_or_else(Metrics::zero, total)
}

/// Returns every day of the window up to the last final one.
fn daily(window: Window, readings: &Readings, last_final: NaiveDate) -> Vec<SeriesPoint> {
    let rows = readings.series.iter().flat_map(|reading| &reading.rows);
    let days: BTreeMap<NaiveDate, Metrics> =
        rows.filter_map(|row| Some((row.key().parse().ok()?, row.metrics))).collect();
    series::filled(&days, window.start_date, window.end_date.min(last_final))
}

fn tables(asked: &Settled, params: &PerformanceParams, material: &Material) -> (Tables, PerformanceCoverage) {
    let limits = [params.query_limit.0 as usize, params.page_limit.0 as usize, WHOLE, WHOLE, WHOLE];
    let mut made = TABLES.iter().zip(limits).enumerate().map(|(index, (dimension, limit))| {
        if !asked.search_type.has(*dimension) {
            return (None, table::unavailable(&lacks(asked.search_type, *dimension)));
        }
        let current = Listed::maybe(material.current.tables[index].as_deref());
        let previous = material.previous.as_ref().map(|readings| Listed::maybe(readings.tables[index].as_deref()));
        let rows = table::rows(current.listing(), previous.as_ref().map(Listed::listing), limit);
        (Some(rows), coverage(asked, material, *dimension, current.listing(), limit))
    });
    let mut next = || made.next().unwrap_or_else(|| (None, table::unavailable("not asked for")));
    let (queries, pages, countries, devices, appearances) = (next(), next(), next(), next(), next());
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

fn coverage(
    asked: &Settled,
    material: &Material,
    table: Dimension,
    listing: Listing<'_>,
    limit: usize,
) -> TableCoverage {
    let (aggregation, whole) = match table {
        Dimension::Page => (Aggregation::ByPage, &material.current.whole_by_page),
        Dimension::SearchAppearance => (Aggregation::ByPage, &None),
        _ => (asked.aggregation(), &material.current.whole),
    };
    let whole = whole.as_ref().map(|reading| total(reading).clicks);
    table::coverage(listing, limit, aggregation.into(), whole)
}
