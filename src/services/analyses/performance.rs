//! The performance answer: its readings, and the numbers computed from them.

use std::{array::from_fn, sync::Arc};

use analytics::{
    change,
    coverage::{self, Known, Whole},
    page::{Page, Shown},
    series::{self, Span},
};
use api::{
    analytics::{
        AnswerMeta, Performance, PerformanceAnswer, PerformanceCoverage, PerformanceMeta, PerformanceParams,
        PropertyPerformanceParams, Scope, SeriesPoint, Tables,
    },
    models::{Offset, TableCoverage},
    params::Echo,
    sharing::SharedPart,
};
use common::metrics::Metrics;
use futures_util::{
    FutureExt as _,
    future::{OptionFuture, join_all, try_join},
};
use search_engine::{Aggregation, Dimension, LastFinal, Part, Plan, Reading};
use serde::Serialize;

use super::{
    Listed, WHOLE, by_time,
    compared::Days,
    explanation, hours,
    listed::labelled,
    page_of_table,
    per_window::PerWindow,
    prepared::{MadeOf, Prepared},
    question::{self, Settled},
    requests::Requests,
    search_data::SearchData,
    table_cap, total,
};
use crate::{
    error::Error,
    services::access::{PropertyAccess, ReadableProperty},
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
    /// Totals of the property and of the slice: the divisors for the shares of all tables except the page table.
    wholes: [Option<Arc<Reading>>; 2],
    /// The same totals, counted `byPage`.
    wholes_by_page: [Option<Arc<Reading>>; 2],
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        let wholes = self.wholes.iter().chain(&self.wholes_by_page);
        [&self.totals, &self.series].into_iter().chain(wholes).chain(&self.tables).flatten()
    }
}

/// Everything that an answer is computed from.
struct Material {
    windows: PerWindow<Readings>,
    freshness: LastFinal,
}

impl Material {
    fn readings(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.windows.all().flat_map(Readings::all)
    }
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
    let settled = question::settle(search, access, question).await?.by(granularity, search.clock.pacific_today())?;
    let plans = Plans::of(&settled, scope, explained.as_ref()).await?;
    let reasons = OptionFuture::from(explained.map(|planned| Box::pin(planned.read(search, access))));
    // The explanation reads longer lists of the same rows, so it comes first: the tables are the beginning of them.
    let (reasons, material) =
        tokio::try_join!(async { reasons.await.transpose() }, read(search, &settled, &plans, scope))?;
    let params = PropertyPerformanceParams { performance: understood(&params.performance, &settled), ..params.clone() };
    // Annotations change without any reading.
    let notes = reasons.as_ref().map(|reasons| reasons.events.digest()).transpose()?;
    let has_events = params.include_system && access.view().is_none_or(|view| view.shows(SharedPart::Notes));
    let events = has_events.then(|| search.system_annotations.overlapping(settled.window, settled.compare));
    let key = settled.key(kind.analysis, access, &(kind.about, &params, notes, &events))?;
    let readings = material.readings().chain(reasons.iter().flat_map(explanation::Material::readings));
    let made_of = MadeOf::new(readings, material.freshness);
    let compute = move || {
        let mut answer = self::answer(&settled, scope, &pages, &material);
        answer.data.events = events;
        if let Some(reasons) = &reasons {
            let read_at = reasons.readings().map(|reading| reading.read_at.into());
            answer.meta.cached_at = read_at.fold(answer.meta.cached_at, Ord::min);
            answer.data.explanation = Some(reasons.explanation());
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
    let [queries, urls, countries, devices, appearances] = TABLES;
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

/// The plans of a question.
struct Plans {
    own: Plan,
    /// The plans of the property and of the slice, for the divisors of coverage.
    wholes: [Plan; 2],
}

impl Plans {
    /// Plans all readings, except the explanation's.
    ///
    /// # Errors
    /// [`Error::FilterTooComplex`] if they take too many requests.
    async fn of(asked: &Settled, scope: Scope, explained: Option<&explanation::Planned>) -> Result<Self, Error> {
        let plans =
            Self { own: asked.plan().await?, wholes: [asked.whole.clone(), asked.plan_without_queries().await?] };
        let mut requests = Requests::of(asked);
        for days in asked.all_days() {
            let parts = plans.parts(asked, days, scope);
            parts.into_iter().flatten().for_each(|(part, plan)| requests.part(part, plan));
        }
        if let Some(planned) = explained {
            planned.count(&mut requests);
        }
        requests.check()?;
        Ok(plans)
    }

    /// The parts of the answer for a window that `scope` wants, each with its plan: series and totals, the four divisors of coverage, and the
    /// tables. The series comes first: the reader then finds it in progress and uses its sum as the totals of the same days.
    fn parts(&self, asked: &Settled, days: Days, scope: Scope) -> [Option<(Part, &Plan)>; 11] {
        let totals = days.counted.map(|window| asked.part(window, &[], 1));
        let by_page = totals.clone().map(|totals| Part { aggregation: Some(Aggregation::ByPage), ..totals });
        let [property, slice] = &self.wholes;
        let of = |wanted: bool, part: &Option<Part>, plan| part.clone().filter(|_| wanted).zip(Some(plan));
        let series = Some(asked.part(days.series, &[asked.time()], WHOLE));
        let divides = scope.has_tables() && days == asked.days();
        let [queries, pages, countries, devices, appearances] = TABLES.map(|dimension| {
            let part = days.counted.map(|window| asked.part(window, &[dimension], table_cap(dimension)));
            of(scope.has_tables() && asked.has(dimension), &part, &self.own)
        });
        [
            of(scope.has_series(), &series, &self.own),
            of(true, &totals, &self.own),
            of(divides, &totals, property),
            of(divides, &totals, slice),
            of(divides, &by_page, property),
            of(divides, &by_page, slice),
            queries,
            pages,
            countries,
            devices,
            appearances,
        ]
    }
}

/// Makes all readings in parallel.
async fn read(search: &SearchData, asked: &Settled, plans: &Plans, scope: Scope) -> Result<Material, Error> {
    let windows = PerWindow::read(asked, |days| read_window(search, asked, plans.parts(asked, days, scope)));
    let (windows, freshness) = try_join(windows, search.last_final(&asked.site)).await?;
    Ok(Material { windows, freshness })
}

async fn read_window(
    search: &SearchData,
    asked: &Settled,
    parts: [Option<(Part, &Plan)>; 11],
) -> Result<Readings, Error> {
    let read = |part: Option<(Part, &Plan)>| {
        let part = part.map(|(part, plan)| (part, plan.clone()));
        // Boxed, because so many of them are awaited at once.
        OptionFuture::from(part.map(|(part, plan)| async move { search.read(&asked.site, &part, &plan).await }.boxed()))
    };
    let found = join_all(parts.into_iter().map(read)).await;
    let mut found = found.into_iter().map(Option::transpose);
    let mut next = || found.next().unwrap_or(Ok(None));
    Ok(Readings {
        series: next()?,
        totals: next()?,
        wholes: [next()?, next()?],
        wholes_by_page: [next()?, next()?],
        tables: [next()?, next()?, next()?, next()?, next()?],
    })
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
    let totals = material.windows.map(|readings| total_of(readings.totals.as_deref()));
    let (tables, coverage) = scope.has_tables().then(|| tables(asked, pages, material)).unzip();
    let wants_series = scope.has_series();
    let last_final = material.freshness.last_final_date;
    let previous = material.windows.previous.as_ref().zip(asked.compared);
    let read_at = material.readings().map(|reading| reading.read_at).min();
    let is_counted = asked.is_counted(last_final);
    let data = Performance {
        totals: is_counted.then(|| change::totals(&totals.current, totals.previous.as_ref())),
        series: wants_series.then(|| periods(asked.span(asked.window, last_final), &material.windows.current)),
        previous_series: previous
            .filter(|_| wants_series)
            .map(|(readings, compared)| periods(asked.span(compared.previous, last_final), readings)),
        tables,
        events: None,
        explanation: None,
    };
    let read_at = read_at.unwrap_or(material.freshness.read_at);
    Answer { data, meta: asked.meta(&material.freshness, read_at, totals.current.impressions > 0.0), coverage }
}

fn total_of(reading: Option<&Reading>) -> Metrics {
    reading.map_or_else(Metrics::zero, total)
}

/// Returns every period of a series.
fn periods(span: Span, readings: &Readings) -> Vec<SeriesPoint> {
    let rows = readings.series.as_deref().map(|reading| by_time(reading, span)).unwrap_or_default();
    series::filled(&rows, span)
}

fn tables(asked: &Settled, pages: &[Page; 5], material: &Material) -> (Tables, PerformanceCoverage) {
    let [queries, pages, countries, devices, appearances] = from_fn(|index| {
        let (dimension, page) = (TABLES[index], &pages[index]);
        if !asked.has(dimension) {
            return (None, coverage::unavailable(&asked.lacks(dimension)));
        }
        let listed = material.windows.map(|readings| Listed::maybe(readings.tables[index].as_deref()));
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
    let readings = &material.windows.current;
    let wholes = match table {
        Dimension::Page => Some(&readings.wholes_by_page),
        Dimension::SearchAppearance => None,
        _ => Some(&readings.wholes),
    };
    let clicks = |reading: &Option<Arc<Reading>>| Some(total(reading.as_deref()?).clicks);
    let whole = wholes.and_then(|[property, slice]| Some(Whole { property: clicks(property)?, slice: clicks(slice)? }));
    coverage::coverage(known, table_cap(table), Some(shown), asked.aggregation_by(&[table]).into(), whole)
}
