//! The analyses of search data: the readings that each needs, and the answers computed from them.
//!
//! Each analysis settles its question (`Asked::settle`), makes its readings in parallel, and passes the rows to the pure functions
//! of [`crate::analytics`].

pub mod branded_traffic;
pub mod cannibalization;
pub mod countries;
pub mod csv;
mod daily;
pub mod explanation;
pub mod export;
pub mod growth;
pub mod own_queries;
pub mod performance;
pub mod predicate;
pub mod query_count;
pub mod query_insights;
pub mod question;
pub mod rendered;
pub mod search_data;
pub mod sparklines;
pub mod weeks;
pub mod windows;

use std::sync::Arc;

use api::{
    analytics::AnswerMeta,
    models::{Classification, Question, Slice, TableCoverage, Window},
};
use chrono::{DateTime, Utc};
use uuid::Uuid;

use self::{
    question::{Settled, lacks},
    search_data::SearchData,
};
use super::access::ReadableProperty;
use crate::{
    analytics::{
        metrics::Metrics,
        table::{self, Listing},
    },
    error::Error,
    search_engine::{
        Aggregation, Condition, Dimension, ENGINE_CEILING, Expression, LastFinal, Part, Plan, Predicate, Reading,
        SearchType,
    },
};

/// The number of rows read for query and page tables, regardless of the limit requested.
const FETCH_CEILING: usize = 5_000;

/// The row limit for tables with few rows by nature, which are read completely.
const WHOLE: usize = 25_000;

/// Returns the maximum number of rows that a breakdown table reads.
fn table_cap(table: Dimension) -> usize {
    if matches!(table, Dimension::Query | Dimension::Page) { FETCH_CEILING } else { WHOLE }
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

    /// Returns the window without its days that are not final yet.
    fn final_days(&self, window: Window) -> Window {
        Window { end_date: window.end_date.min(self.freshness.last_final_date), ..window }
    }

    /// Reads one part of the question with `plan`.
    async fn read(
        &self,
        window: Window,
        dimensions: &[Dimension],
        cap: usize,
        plan: &Plan,
    ) -> Result<Arc<Reading>, Error> {
        let part = self.settled.part(window, dimensions, cap);
        // An answer awaits many readings at once. Boxing them keeps its future small.
        Box::pin(self.search.read(&self.settled.site, &part, plan)).await
    }

    /// Reads all rows by `dimensions` that the search engine returns.
    async fn read_all(&self, window: Window, dimensions: &[Dimension], plan: &Plan) -> Result<Arc<Reading>, Error> {
        self.read(window, dimensions, ENGINE_CEILING, plan).await
    }

    /// Reads the totals without query conditions, the divisor for shares of clicks.
    async fn read_whole(&self, by_page: bool) -> Result<Arc<Reading>, Error> {
        let plan = self.settled.plan_without_queries().await?;
        let part = self.settled.part(self.settled.window, &[], 1);
        let part = if by_page { Part { aggregation: Some(Aggregation::ByPage), ..part } } else { part };
        Box::pin(self.search.read(&self.settled.site, &part, &plan)).await
    }

    /// Returns the metadata that every answer has. `read_at` are the times of its readings.
    fn meta(&self, read_at: impl IntoIterator<Item = DateTime<Utc>>, analysed: bool) -> AnswerMeta {
        let oldest = read_at.into_iter().min();
        self.settled.meta(&self.freshness, oldest.unwrap_or(self.freshness.read_at), analysed)
    }

    /// Returns the coverage of an analysis that uses all rows of a listing.
    fn coverage(&self, rows: &Listed<'_>, by_page: bool, whole: &Reading) -> TableCoverage {
        let aggregation = if by_page { Aggregation::ByPage } else { self.settled.aggregation() };
        table::coverage(rows.listing(), usize::MAX, aggregation.into(), Some(total(whole).clicks))
    }
}

/// Fails if the search type lacks `dimension`, which `parameter` asks for.
fn check_has(search_type: SearchType, dimension: Dimension, parameter: &str) -> Result<(), Error> {
    if search_type.has(dimension) {
        return Ok(());
    }
    Err(Error::NotAvailableForSearchType(format!("{parameter}: {}", lacks(search_type, dimension))))
}

/// Fails if the search type has no queries. For analyses of queries.
fn check_has_queries(slice: &Slice) -> Result<(), Error> {
    check_has(SearchType::from(slice.search_type), Dimension::Query, "searchType")
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
    narrowed.0.push(Expression(vec![vec![condition]]));
    narrowed
}

/// Returns the plan for a predicate with one more condition.
async fn plan_with(predicate: &Predicate, condition: Condition) -> Result<Plan, Error> {
    question::planned(narrowed(predicate, condition)).await
}

/// Returns the sum of a reading's rows.
fn total(reading: &Reading) -> Metrics {
    reading.rows.iter().map(|row| row.metrics).sum()
}

/// The rows of a reading, with borrowed keys.
struct Listed<'r> {
    rows: Vec<(&'r str, Metrics)>,
    capped: bool,
}

impl<'r> Listed<'r> {
    fn of(reading: &'r Reading) -> Self {
        Self { rows: reading.rows.iter().map(|row| (row.key(), row.metrics)).collect(), capped: reading.capped }
    }

    /// Returns an empty listing if there is no reading.
    fn maybe(reading: Option<&'r Reading>) -> Self {
        reading.map_or(Self { rows: Vec::new(), capped: false }, Self::of)
    }

    fn listing(&self) -> Listing<'_> {
        Listing { rows: &self.rows, capped: self.capped }
    }
}
