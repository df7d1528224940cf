//! Reads: asks a part of a question with every term of its plan, adds the answers up, caches them, and makes each once however
//! many ask.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::TimeDelta;
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
    reading::{ENGINE_CEILING, Part, Reading, added, reading_of},
    wire::{DataState, Filter, FilterGroup, QueryRequest, SiteUrl},
};
use crate::{clock::Clock, compute::beside};

/// How long an answer is kept that touches days which are not final.
const UNSETTLED_TTL: TimeDelta = TimeDelta::minutes(15);

/// Days before today that may not be final.
const UNSETTLED_DAYS: i64 = 3;

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
