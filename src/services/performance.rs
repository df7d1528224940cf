//! The performance answer: which readings it needs, and what they say together.

use std::{collections::BTreeMap, ptr, sync::Arc};

use api::{
    analytics::{
        AnswerMeta, Performance, PerformanceAnswer, PerformanceCoverage, PerformanceMeta, PerformanceParams, Scope,
        SeriesPoint, Tables, Totals,
    },
    models::{AnalysisStatus, TableCoverage, Window},
};
use bytes::Bytes;
use chrono::NaiveDate;
use futures_util::future::{OptionFuture, join_all, try_join};

use super::{
    access::PropertyAccess,
    question::{self, Settled, freshness, lacks},
    search_data::{RenderedAnswer, SearchData},
};
use crate::{
    analytics::{
        change::{change, wire},
        metrics::Metrics,
        series,
        table::{self, Listing},
    },
    error::Error,
    search_engine::{Aggregation, Dimension, LastFinal, Part, Plan, Reading},
};

/// Query and page tables read this many rows, whatever the limit.
const FETCH_CEILING: usize = 5_000;

/// Tables whose rows are few by nature are read whole.
const WHOLE: usize = 25_000;

/// The breakdown tables, in the order of the answer.
const TABLES: [Dimension; 5] =
    [Dimension::Query, Dimension::Page, Dimension::Country, Dimension::Device, Dimension::SearchAppearance];

/// The readings of one window.
#[derive(Default)]
struct Readings {
    totals: Option<Arc<Reading>>,
    series: Option<Arc<Reading>>,
    tables: [Option<Arc<Reading>>; 5],
    /// Ungrouped, without query conditions: what the shares of all tables but the page table divide by.
    whole: Option<Arc<Reading>>,
    /// The same, counted `byPage`.
    whole_by_page: Option<Arc<Reading>>,
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        [&self.totals, &self.series, &self.whole, &self.whole_by_page].into_iter().chain(&self.tables).flatten()
    }
}

/// Everything that an answer is made of.
struct Material {
    current: Readings,
    previous: Option<Readings>,
    freshness: LastFinal,
}

impl Material {
    fn readings(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.current.all().chain(self.previous.iter().flat_map(Readings::all))
    }

    fn made(&self, answer: &RenderedAnswer) -> bool {
        let mut own = self.readings();
        let same =
            answer.readings.iter().all(|reading| own.next().is_some_and(|o| ptr::eq(Arc::as_ptr(o), reading.as_ptr())));
        same && own.next().is_none() && answer.freshness == self.freshness
    }
}

/// The performance of a property as JSON of [`PerformanceAnswer`].
pub async fn performance(
    search: &SearchData,
    access: &PropertyAccess,
    params: &PerformanceParams,
) -> Result<Arc<RenderedAnswer>, Error> {
    let asked = &params.question;
    let settled = question::settle(search, access, (&asked.window, &asked.comparison, &asked.slice)).await?;
    let material = read(search, &settled, params.scope).await?;
    let key = format!("{} {params:?}", access.property().id);
    let now = search.clock.now();
    if let Some(rendered) = search.rendered.get(&key, now).filter(|rendered| material.made(rendered)) {
        return Ok(rendered);
    }
    let body = Bytes::from(serde_json::to_vec(&answer(&settled, params, &material)).map_err(Error::internal)?);
    let readings = material.readings().map(Arc::downgrade).collect();
    let rendered = Arc::new(RenderedAnswer::new(readings, material.freshness, body));
    search.rendered.put(key, rendered.clone(), rendered.body.len(), now + chrono::TimeDelta::hours(6));
    Ok(rendered)
}

/// Reads everything side by side.
async fn read(search: &SearchData, asked: &Settled, scope: Scope) -> Result<Material, Error> {
    let plans = (&asked.plan()?, &asked.plan_without_queries()?);
    let current = read_window(search, asked, plans, scope, (asked.window, true));
    let previous = OptionFuture::from(asked.compare.map(|w| read_window(search, asked, plans, scope, (w, false))));
    let freshness = search.last_final(&asked.site);
    let windows = try_join(current, async { previous.await.transpose() });
    let ((current, previous), freshness) = try_join(windows, freshness).await?;
    Ok(Material { current, previous, freshness })
}

async fn read_window(
    search: &SearchData,
    asked: &Settled,
    (plan, whole): (&Plan, &Plan),
    scope: Scope,
    (window, with_coverage): (Window, bool),
) -> Result<Readings, Error> {
    let (wants_series, wants_tables) = (scope != Scope::Tables, scope != Scope::Series);
    let read = |wanted: bool, part: Part, plan: &Plan| {
        let plan = plan.clone();
        OptionFuture::from(wanted.then_some(async move { search.read(&asked.site, &part, &plan).await }))
    };
    let by_page = Part { aggregation: Some(Aggregation::ByPage), ..asked.part(window, &[], 1) };
    let singles = [
        read(true, asked.part(window, &[], 1), plan),
        read(wants_series, asked.part(window, &[Dimension::Date], WHOLE), plan),
        read(wants_tables && with_coverage, asked.part(window, &[], 1), whole),
        read(wants_tables && with_coverage, by_page, whole),
    ];
    let tables = TABLES.map(|dimension| {
        let cap = if matches!(dimension, Dimension::Query | Dimension::Page) { FETCH_CEILING } else { WHOLE };
        read(wants_tables && asked.search_type.has(dimension), asked.part(window, &[dimension], cap), plan)
    });
    let found = join_all(singles.into_iter().chain(tables)).await;
    let mut found = found.into_iter().map(Option::transpose);
    let mut next = || found.next().unwrap_or(Ok(None));
    Ok(Readings {
        totals: next()?,
        series: next()?,
        whole: next()?,
        whole_by_page: next()?,
        tables: [next()?, next()?, next()?, next()?, next()?],
    })
}

/// What the readings say together.
fn answer(asked: &Settled, params: &PerformanceParams, material: &Material) -> PerformanceAnswer {
    let totals = total(material.current.totals.as_deref());
    let (tables, coverage) = if params.scope == Scope::Series {
        (None, None)
    } else {
        let (tables, coverage) = tables(asked, params, material);
        (Some(tables), Some(coverage))
    };
    let wants_series = params.scope != Scope::Tables;
    let previous = material.previous.as_ref().zip(asked.compare);
    let daily = |window: Window, readings: &Readings| daily(window, readings, material.freshness.last_final_date);
    let read_at = material.readings().map(|reading| reading.read_at).min();
    PerformanceAnswer {
        data: Performance {
            totals: joined_totals(&totals, previous.map(|(readings, _)| total(readings.totals.as_deref()))),
            series: wants_series.then(|| daily(asked.window, &material.current)),
            previous_series: previous.filter(|_| wants_series).map(|(readings, window)| daily(window, readings)),
            tables,
        },
        meta: PerformanceMeta {
            answer: AnswerMeta {
                window: asked.window,
                compare_window: asked.compare,
                search_type: asked.search_type.into(),
                aggregation: asked.aggregation().into(),
                freshness: freshness(&material.freshness),
                cached_at: read_at.unwrap_or(material.freshness.read_at),
                status: if totals.impressions > 0.0 { AnalysisStatus::Analysed } else { AnalysisStatus::NoSearchData },
            },
            coverage,
        },
    }
}

fn total(reading: Option<&Reading>) -> Metrics {
    reading.iter().flat_map(|reading| &reading.rows).map(|row| row.metrics).sum()
}

fn joined_totals(current: &Metrics, previous: Option<Metrics>) -> Totals {
    let now = wire(current);
    Totals {
        clicks: now.clicks,
        impressions: now.impressions,
        ctr: now.ctr,
        position: now.position,
        previous: previous.as_ref().map(wire),
        change: previous.as_ref().map(|previous| change(current, previous)),
    }
}

/// Every day of the window up to the last final one.
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
        let current = listed(material.current.tables[index].as_deref());
        let previous = material.previous.as_ref().map(|readings| listed(readings.tables[index].as_deref()));
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
    let whole = whole.as_ref().map(|reading| total(Some(reading)).clicks);
    table::coverage(listing, limit, aggregation.into(), whole)
}

/// A reading as a listing of borrowed keys.
struct Listed<'r> {
    rows: Vec<(&'r str, Metrics)>,
    capped: bool,
}

impl Listed<'_> {
    fn listing(&self) -> Listing<'_> {
        Listing { rows: &self.rows, capped: self.capped }
    }
}

fn listed(reading: Option<&Reading>) -> Listed<'_> {
    let rows = reading.iter().flat_map(|reading| &reading.rows).map(|row| (row.key(), row.metrics)).collect();
    Listed { rows, capped: reading.is_some_and(|reading| reading.capped) }
}
