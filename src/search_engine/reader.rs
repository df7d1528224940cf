//! Readings: a part of a question, asked with every term of its plan, added up, cached, and made once however many ask.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, try_join_all},
};

use super::{
    cache::{ByteCache, CacheUse},
    client::{Account, SearchEngine},
    error::{ReadError, SearchEngineError},
    pace::Lane,
    planner::Plan,
    wire::{Aggregation, DataState, Dimension, Filter, FilterGroup, QueryRequest, QueryResponse, SearchType, SiteUrl},
};
use crate::{analytics::metrics::Metrics, clock::Clock, compute::beside};

/// How long an answer is kept that touches days which are not final.
const UNSETTLED_TTL: TimeDelta = TimeDelta::minutes(15);

/// Days before today that may not be final.
const UNSETTLED_DAYS: i64 = 3;

/// The most rows that the search engine exposes.
pub const ENGINE_CEILING: usize = 50_000;

/// One part of a question: what is grouped, over which days, counted how.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Grouping; empty for totals.
    pub dimensions: Vec<Dimension>,
    /// First day.
    pub start: NaiveDate,
    /// Last day, included.
    pub end: NaiveDate,
    /// The kind of search.
    pub search_type: SearchType,
    /// `None`: as the search engine chooses.
    pub aggregation: Option<Aggregation>,
    /// Final days or all.
    pub data_state: DataState,
    /// Rows wanted at most.
    pub cap: usize,
}

/// A row of a reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The values of the part's dimensions.
    pub keys: Box<[Box<str>]>,
    /// Its metrics.
    pub metrics: Metrics,
}

impl Row {
    /// The value of the first dimension; empty in a row of totals.
    #[must_use]
    pub fn key(&self) -> &str {
        self.keys.first().map_or("", |key| key)
    }
}

/// What the search engine says to a part of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// By clicks, impressions and keys, best first; by date where the date is grouped first.
    pub rows: Vec<Row>,
    /// Whether the list was cut at its cap, so that there may be more rows.
    pub capped: bool,
    /// When its oldest part was read upstream.
    pub read_at: DateTime<Utc>,
    /// The first day that is still being counted, where the search engine says so.
    pub first_incomplete_date: Option<NaiveDate>,
}

type Running = Shared<BoxFuture<'static, Result<Arc<Reading>, SearchEngineError>>>;

/// By the lane they wait in.
type InFlight = Mutex<HashMap<(Lane, String), Running>>;

/// Takes a reading out of those in flight when it ends, however it ends and whoever still waits: what failed must not be
/// handed to a later question.
struct Landing {
    key: (Lane, String),
    in_flight: Arc<InFlight>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        lock(&self.in_flight).remove(&self.key);
    }
}

fn lock(in_flight: &InFlight) -> MutexGuard<'_, HashMap<(Lane, String), Running>> {
    in_flight.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads through the cache.
#[derive(Clone)]
pub struct Reader {
    engine: Arc<SearchEngine>,
    cache: Arc<ByteCache<Arc<Reading>>>,
    in_flight: Arc<InFlight>,
    clock: Clock,
    ttl: TimeDelta,
    lane: Lane,
}

impl Reader {
    /// Caches readings of together `max_bytes` for `ttl`.
    #[must_use]
    pub fn new(engine: Arc<SearchEngine>, clock: Clock, max_bytes: usize, ttl: TimeDelta) -> Self {
        Self {
            engine,
            cache: Arc::new(ByteCache::new(max_bytes)),
            in_flight: Arc::default(),
            clock,
            ttl,
            lane: Lane::Own,
        }
    }

    /// The same reader with the same cache, which asks on behalf of `lane`.
    #[must_use]
    pub fn of_lane(&self, lane: Lane) -> Self {
        Self { lane, ..self.clone() }
    }

    /// The client underneath.
    #[must_use]
    pub fn engine(&self) -> &Arc<SearchEngine> {
        &self.engine
    }

    /// What the cache holds.
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        self.cache.usage()
    }

    /// What the search engine says to `part` of the question that `plan` answers. A plan of one term is served as it was
    /// read; otherwise all terms are read side by side, whole, and added.
    pub async fn read(
        &self,
        account: &Account,
        site: &SiteUrl,
        part: &Part,
        plan: &Plan,
    ) -> Result<Arc<Reading>, ReadError> {
        if let [only] = plan.terms.as_slice()
            && only.counts_once()
        {
            return Ok(self.read_term(account, site, part.clone(), &only.filters).await?);
        }
        let whole = Part { cap: part.cap.max(ENGINE_CEILING), ..part.clone() };
        let terms = plan.terms.iter().map(|term| self.read_term(account, site, whole.clone(), &term.filters));
        let readings = try_join_all(terms).await?;
        if readings.iter().any(|reading| reading.capped) {
            return Err(ReadError::TooComplex(
                "filters: alternatives can only be combined where the search engine lists every row; narrow the filters \
                 or the window"
                    .to_owned(),
            ));
        }
        let weights: Vec<f64> = plan.terms.iter().map(|term| term.weight).collect();
        let (part, now) = (part.clone(), self.clock.now());
        let sum = beside(move || added(weights.into_iter().zip(readings.iter().map(Arc::as_ref)), &part, now));
        Ok(Arc::new(sum.await.map_err(|error| died(&error))?))
    }

    async fn read_term(
        &self,
        account: &Account,
        site: &SiteUrl,
        part: Part,
        filters: &[Filter],
    ) -> Result<Arc<Reading>, SearchEngineError> {
        let request = QueryRequest {
            start_date: part.start,
            end_date: part.end,
            dimensions: part.dimensions,
            search_type: part.search_type,
            dimension_filter_groups: FilterGroup::all_of(filters),
            aggregation_type: part.aggregation,
            row_limit: part.cap,
            start_row: 0,
            data_state: part.data_state,
        };
        let body = serde_json::to_string(&request).map_err(|e| SearchEngineError::InvalidRequest(e.to_string()))?;
        self.made_once(format!("{} {site} {body}", account.id), account, site, request).await
    }

    /// From the cache, from the identical request in flight, or by making it. Nobody waits for one in a slower lane. It runs in a task of its own, so that it is not
    /// lost when the one who asked first goes away.
    async fn made_once(
        &self,
        key: String,
        account: &Account,
        site: &SiteUrl,
        request: QueryRequest,
    ) -> Result<Arc<Reading>, SearchEngineError> {
        let running = {
            let mut in_flight = lock(&self.in_flight);
            let lanes = [Lane::Own, self.lane].into_iter();
            let running = lanes.map(|lane| (lane, key.clone())).find_map(|key| in_flight.get(&key).cloned());
            if let Some(running) = running {
                running
            } else if let Some(reading) = self.cache.get(&key, self.clock.now()) {
                return Ok(reading);
            } else {
                let (reader, account, site, own_key) = (self.clone(), account.clone(), site.clone(), key.clone());
                let task = tokio::spawn(async move {
                    let _landing = Landing { key: (reader.lane, own_key.clone()), in_flight: reader.in_flight.clone() };
                    reader.fetch(own_key, &account, &site, request).await
                });
                let outcome = task.map(|joined| {
                    joined
                        .unwrap_or_else(|error| Err(SearchEngineError::unavailable(format!("a reading died: {error}"))))
                });
                let running = outcome.boxed().shared();
                in_flight.insert((self.lane, key), running.clone());
                running
            }
        };
        running.await
    }

    async fn fetch(
        &self,
        key: String,
        account: &Account,
        site: &SiteUrl,
        request: QueryRequest,
    ) -> Result<Arc<Reading>, SearchEngineError> {
        let cap = request.row_limit;
        let answer = self.engine.query(account, (site, self.lane), &request, cap).await?;
        let now = self.clock.now();
        let expires_at = now + self.ttl_of(&request);
        let reading = Arc::new(
            beside(move || reading_of(answer, &request.dimensions, cap, now)).await.map_err(|error| died(&error))?,
        );
        self.cache.put(key, reading.clone(), reading.bytes(), expires_at);
        Ok(reading)
    }

    fn ttl_of(&self, request: &QueryRequest) -> TimeDelta {
        let settled_until = self.clock.pacific_today() - TimeDelta::days(UNSETTLED_DAYS);
        let settled = request.data_state == DataState::Final && request.end_date < settled_until;
        if settled { self.ttl } else { self.ttl.min(UNSETTLED_TTL) }
    }
}

fn died(error: &crate::error::Error) -> SearchEngineError {
    SearchEngineError::unavailable(format!("a reading died: {error}"))
}

/// The rows of an answer, in order.
fn reading_of(answer: QueryResponse, dimensions: &[Dimension], cap: usize, read_at: DateTime<Utc>) -> Reading {
    let rows = answer
        .rows
        .into_iter()
        .map(|row| Row { metrics: Metrics::of_row(row.clicks, row.impressions, row.position), keys: row.keys.into() });
    let mut rows: Vec<Row> = rows.collect();
    sort(&mut rows, dimensions);
    let capped = is_cut(&rows, dimensions, cap);
    Reading { rows, capped, read_at, first_incomplete_date: answer.metadata.first_incomplete_date }
}

impl Reading {
    /// About how much memory it takes.
    fn bytes(&self) -> usize {
        let keys: usize = self.rows.iter().flat_map(|row| row.keys.iter()).map(|key| key.len() + 32).sum();
        keys + self.rows.len() * (size_of::<Row>() + 16)
    }
}

/// The signed sum of readings, row by row. Rows without impressions are none.
fn added<'r>(weighted: impl Iterator<Item = (f64, &'r Reading)>, part: &Part, now: DateTime<Utc>) -> Reading {
    let mut sums: HashMap<&[Box<str>], Metrics> = HashMap::new();
    let mut read_at = now;
    for (weight, reading) in weighted {
        read_at = read_at.min(reading.read_at);
        for row in &reading.rows {
            *sums.entry(&row.keys).or_insert_with(Metrics::zero) += row.metrics * weight;
        }
    }
    let present = sums.into_iter().filter(|(_, metrics)| metrics.impressions > 0.5);
    let mut rows: Vec<Row> = present.map(|(keys, metrics)| Row { keys: keys.into(), metrics }).collect();
    sort(&mut rows, &part.dimensions);
    let capped = !part.dimensions.is_empty() && rows.len() >= part.cap;
    rows.truncate(part.cap);
    Reading { rows, capped, read_at, first_incomplete_date: None }
}

/// Whether there may be more rows than these, which are in order: they reach the cap, or those of one day reach what the search
/// engine gives for a day.
fn is_cut(rows: &[Row], dimensions: &[Dimension], cap: usize) -> bool {
    match dimensions {
        [] => false,
        _ if rows.len() >= cap => true,
        [Dimension::Date, _, ..] => rows.chunk_by(|a, b| a.key() == b.key()).any(|day| day.len() >= ENGINE_CEILING),
        _ => false,
    }
}

/// A total order, so that the same question gives the same bytes.
fn sort(rows: &mut [Row], dimensions: &[Dimension]) {
    if dimensions.first() == Some(&Dimension::Date) {
        return rows.sort_by(|a, b| a.keys.cmp(&b.keys));
    }
    rows.sort_by(|a, b| {
        let by_size = b.metrics.clicks.total_cmp(&a.metrics.clicks);
        by_size.then(b.metrics.impressions.total_cmp(&a.metrics.impressions)).then_with(|| a.keys.cmp(&b.keys))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(days: &[(&str, usize)]) -> Vec<Row> {
        let row = |day: &str| Row { keys: [day.into(), "q".into()].into(), metrics: Metrics::zero() };
        days.iter().flat_map(|(day, count)| std::iter::repeat_with(|| row(day)).take(*count)).collect()
    }

    #[test]
    fn a_list_is_cut_at_its_cap_and_by_day_at_the_ceiling_of_a_day() {
        use Dimension::{Date, Query};
        let by_day = rows(&[("2026-11-01", ENGINE_CEILING - 1), ("2026-11-02", 3)]);
        assert!(!is_cut(&by_day, &[Date, Query], 7 * ENGINE_CEILING));
        assert!(is_cut(&by_day, &[Date, Query], ENGINE_CEILING + 2));
        let full_day = rows(&[("2026-11-01", 3), ("2026-11-02", ENGINE_CEILING)]);
        assert!(is_cut(&full_day, &[Date, Query], 7 * ENGINE_CEILING));
        assert!(!is_cut(&rows(&[("", 1)]), &[], 1), "totals are one row");
    }
}
