//! The analyses of search data: the readings that each needs, and the answers computed from them.
//!
//! Each analysis settles its question (`Asked::settle`), makes its readings in parallel, and passes the rows to the pure functions
//! of [`analytics`].

pub mod answers;
pub mod appearances;
pub mod brand_suggestions;
pub mod branded_traffic;
pub mod breakdown;
pub mod cannibalization;
pub mod compared;
pub mod countries;
pub mod csv;
mod daily;
pub mod explanation;
pub mod export;
pub mod growth;
mod hours;
mod listed;
pub mod own_queries;
mod parts;
pub mod per_window;
pub mod performance;
pub mod predicate;
pub mod prepared;
pub mod preview;
pub mod query_count;
pub mod query_insights;
pub mod question;
pub mod requests;
pub mod search_data;
pub mod shared;
pub mod sparklines;
mod usual;
pub mod warnings;
pub mod weeks;
pub mod windows;

use std::{collections::BTreeMap, sync::Arc};

use analytics::{
    coverage::{self, Known, Whole},
    page::{Page, Shown},
    series::{Slot, Span},
};
use api::{
    analytics::AnswerMeta,
    models::{
        self, Aggregation, Classification, Granularity, Offset, OrderParams, Question, SearchType, Slice,
        TableCoverage, Window,
    },
    params::{MetricFilter, Sort},
};
use chrono::{DateTime, Utc};
use common::metrics::Metrics;
use search_engine::{
    Condition, Dimension, ENGINE_CEILING, Expression, LastFinal, Plan, Predicate, Reading, SHORT_LIST,
};
use uuid::Uuid;

use self::{
    listed::Listed,
    parts::{PartId, Parts, Readings, Wholes},
    question::{Settled, lacks},
    search_data::SearchData,
};
use super::access::ReadableProperty;
use crate::error::Error;

/// The row limit for tables with few rows by nature, which are read completely.
const WHOLE: usize = 25_000;

/// Returns the maximum number of rows that a breakdown table reads.
fn table_cap(table: Dimension) -> usize {
    if matches!(table, Dimension::Query | Dimension::Page) { SHORT_LIST } else { WHOLE }
}

/// A settled question with everything needed to read it.
#[derive(Clone)]
struct Asked {
    search: SearchData,
    settled: Settled,
    freshness: LastFinal,
    /// The holder of the permits for weeks of rows.
    person: Uuid,
}

impl Asked {
    /// Settles a question.
    async fn settle(search: &SearchData, access: &ReadableProperty, asked: &Question) -> Result<Self, Error> {
        let settled = question::settle(search, access, asked).await?;
        let freshness = search.last_final(&settled.site).await?;
        // All readers of a share link count as one person.
        let person = access.reader().unwrap_or(access.property().id);
        Ok(Self { search: search.clone(), settled, freshness, person })
    }

    /// Settles a question whose series have periods of this length.
    async fn settle_by(
        search: &SearchData,
        access: &ReadableProperty,
        asked: &Question,
        granularity: Granularity,
    ) -> Result<Self, Error> {
        let asked = hours::dated(search, access, asked, granularity).await?;
        Self::settle(search, access, &asked).await?.by(granularity)
    }

    /// Sets the length of the periods of its series.
    fn by(self, granularity: Granularity) -> Result<Self, Error> {
        let today = self.search.clock.pacific_today();
        Ok(Self { settled: self.settled.by(granularity, today)?, ..self })
    }

    /// Returns the days of the window that the search engine has counted.
    fn days_of_series(&self, window: Window) -> Window {
        let span = self.span(window);
        Window { start_date: span.start, end_date: span.end }
    }

    /// Returns whether any day of the window is counted.
    fn is_counted(&self) -> bool {
        self.settled.is_counted(self.freshness.last_final_date)
    }

    /// Returns the days of a series over the window.
    fn span(&self, window: Window) -> Span {
        self.settled.span(window, self.freshness.last_final_date)
    }

    /// Reads one part of the question with `plan`. Without days the reading is empty.
    async fn read(
        &self,
        days: impl Into<Option<Window>>,
        dimensions: &[Dimension],
        cap: usize,
        plan: &Plan,
    ) -> Result<Arc<Reading>, Error> {
        let Some(window) = days.into() else { return Ok(Arc::new(Reading::empty(self.freshness.read_at))) };
        let part = self.settled.part(window, dimensions, cap);
        // An answer awaits many readings at once. Boxing them keeps its future small.
        Box::pin(self.search.read(&self.settled.site, &part, plan)).await
    }

    /// Reads all rows by `dimensions` that the search engine returns.
    async fn read_all(
        &self,
        days: impl Into<Option<Window>>,
        dimensions: &[Dimension],
        plan: &Plan,
    ) -> Result<Arc<Reading>, Error> {
        self.read(days, dimensions, ENGINE_CEILING, plan).await
    }

    /// Declares no parts yet.
    fn parts(&self) -> Parts<'_> {
        Parts::of(&self.search, &self.settled)
    }

    /// Returns the metadata that every answer has. `read_at` are the times of its readings.
    fn meta(&self, read_at: impl IntoIterator<Item = DateTime<Utc>>, analysed: bool) -> AnswerMeta {
        let oldest = read_at.into_iter().min();
        self.settled.meta(&self.freshness, oldest.unwrap_or(self.freshness.read_at), analysed)
    }

    /// Returns the coverage of an analysis that uses all rows known, which are read up to a ceiling, and shows some, or none.
    fn coverage(
        &self,
        (known, ceiling): (Known, usize),
        shown: Option<Shown>,
        by_page: bool,
        whole: Whole,
    ) -> TableCoverage {
        let aggregation = if by_page { Aggregation::ByPage } else { self.settled.aggregation() };
        coverage::coverage(known, ceiling, shown, aggregation, self.is_counted().then_some(whole))
    }
}

/// Returns one page of the only list of an answer, whose rows are by `table`.
///
/// # Errors
/// [`Error::InvalidRequest`] for an order by changes, or a condition on them, without a comparison, and for conditions on other rows.
fn page(
    order: &OrderParams,
    table: models::Dimension,
    offset: Offset,
    limit: usize,
    compares: bool,
) -> Result<Page, Error> {
    let other = order.metric_filters.iter().flat_map(|filters| &filters.0).find(|filter| !filter.is_on(table));
    if let Some(filter) = other {
        let (own, named) = (table.table(), filter.table.map_or("queries and pages", models::Dimension::table));
        let mended = MetricFilter { table: Some(table), ..*filter };
        return Err(Error::invalid(format!(
            "metricFilters: {filter} is a condition on {named}, and this answer lists {own}; use {mended}, or leave it out"
        )));
    }
    page_of_table(order, table, offset, limit, compares)
}

/// Returns one page of one of an answer's tables.
///
/// # Errors
/// [`Error::InvalidRequest`] for an order by changes, or a condition on them, without a comparison.
fn page_of_table(
    order: &OrderParams,
    table: models::Dimension,
    offset: Offset,
    limit: usize,
    compares: bool,
) -> Result<Page, Error> {
    check_order(order, compares)?;
    let filters = order.metric_filters.as_ref().map(|filters| filters.on(table)).unwrap_or_default();
    Ok(Page { sort: order.sort, filters, offset: offset.0 as usize, limit })
}

/// Fails for an order by changes, and for conditions on changes, without a comparison.
fn check_order(order: &OrderParams, compares: bool) -> Result<(), Error> {
    if compares {
        return Ok(());
    }
    if order.sort.is_some_and(Sort::needs_comparison) {
        return Err(Error::invalid(
            "sort: a change needs a window to compare with; send compare, or compareStart and compareEnd, or sort by a metric",
        ));
    }
    let mut filters = order.metric_filters.iter().flat_map(|filters| &filters.0);
    match filters.find(|filter| filter.rows.needs_comparison()) {
        Some(filter) => Err(Error::invalid(format!(
            "metricFilters: {filter} needs a window to compare with; send compare, or compareStart and compareEnd, or leave it out"
        ))),
        None => Ok(()),
    }
}

/// Fails if the search type lacks `dimension`, which `parameter` asks for.
fn check_has(search_type: SearchType, dimension: Dimension, parameter: &str) -> Result<(), Error> {
    if dimension.is_in(search_type) {
        return Ok(());
    }
    Err(Error::NotAvailableForSearchType(format!("{parameter}: {}", lacks(search_type, dimension))))
}

/// Fails if the search type has no queries. For analyses of queries.
fn check_has_queries(slice: &Slice) -> Result<(), Error> {
    check_has(slice.search_type, Dimension::Query, "searchType")
}

/// Excludes branded queries from a question, unless the caller wants them or the property has no branded keywords. Returns whether
/// they were excluded.
async fn leave_brand_out(
    asked: &mut Asked,
    access: &ReadableProperty,
    slice: &Slice,
    include: bool,
) -> Result<bool, Error> {
    if include || slice.classification == Some(Classification::Branded) {
        return Ok(false);
    }
    let Some(brand) = predicate::brand(&asked.search.db, access).await? else { return Ok(false) };
    asked.settled.predicate = narrowed(&asked.settled.predicate, Condition::NonBranded(brand));
    Ok(true)
}

/// Returns a predicate that requires both `predicate` and `condition`.
fn narrowed(predicate: &Predicate, condition: Condition) -> Predicate {
    let mut narrowed = predicate.clone();
    narrowed.expressions.push(Expression(vec![vec![condition]]));
    narrowed
}

/// Returns the plan for a predicate with one more condition.
async fn plan_with(predicate: &Predicate, condition: Condition) -> Result<Plan, Error> {
    question::planned(narrowed(predicate, condition)).await
}

/// Returns the rows of a reading by time that the series counts.
fn by_time(reading: &Reading, span: Span) -> BTreeMap<Slot, Metrics> {
    let mut rows = BTreeMap::new();
    for row in &reading.rows {
        if let Some(slot) = Slot::parse(row.key()).filter(|slot| span.holds(*slot)) {
            *rows.entry(slot).or_insert_with(Metrics::zero) += row.metrics;
        }
    }
    rows
}

/// Returns the rows of a reading by the second of its dimensions, then by time.
fn by_key_and_time(reading: &Reading, span: Span) -> BTreeMap<&str, BTreeMap<Slot, Metrics>> {
    let mut found: BTreeMap<&str, BTreeMap<Slot, Metrics>> = BTreeMap::new();
    for row in &reading.rows {
        if let Some(slot) = Slot::parse(row.key()).filter(|slot| span.holds(*slot)) {
            *found.entry(&row.keys[1]).or_default().entry(slot).or_insert_with(Metrics::zero) += row.metrics;
        }
    }
    found
}

/// Returns an upper bound of the number of times in a window.
fn times(window: Window) -> usize {
    // An hour more where the clocks change.
    const HOURS: usize = 25;
    HOURS * window.length() as usize
}

/// Returns the sum of a reading's rows.
fn total(reading: &Reading) -> Metrics {
    reading.rows.iter().map(|row| row.metrics).sum()
}
