//! Reads a part of a question: runs every term of its plan, adds the results, caches them, and shares identical requests in
//! flight.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use chrono::{DateTime, TimeDelta, Utc};
use common::byte_cache::{ByteCache, CacheUse};
use common::compute::Died;
use common::{clock::Clock, compute::beside};
use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, try_join_all},
};
use tokio::task::AbortHandle;
use uuid::Uuid;

use super::{
    client::SearchEngine,
    error::{ReadError, SearchEngineError},
    pace::{Asker, Lane},
    planner::Plan,
    reading::{ENGINE_CEILING, Part, Reading, added, reading_of, row_limit},
    settings::Account,
    wire::{DataState, Dimension, Filter, FilterGroup, QueryRequest, SiteUrl},
};

/// Time to cache a response that includes days that are not final.
const UNSETTLED_TTL: TimeDelta = TimeDelta::minutes(15);

/// Days before today that may not be final.
const UNSETTLED_DAYS: i64 = 3;

/// A request in flight. It ends when nobody waits for it.
struct Running {
    outcome: Shared<BoxFuture<'static, Result<Arc<Reading>, SearchEngineError>>>,
    task: AbortHandle,
}

impl Running {
    async fn wait(&self) -> Result<Arc<Reading>, SearchEngineError> {
        self.outcome.clone().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The number of times that the readings of each account were dropped.
type Drops = Arc<Mutex<HashMap<Uuid, u64>>>;

/// Requests in flight, by lane and key. The waiting callers own them.
type Flights = HashMap<(Lane, String), (Flight, Weak<Running>)>;
type InFlight = Mutex<Flights>;

/// The number of a request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Flight(u64);

impl Flight {
    fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Removes a reading from the map when it ends, successfully or not, even if callers still wait for it. A later question
/// must not receive a failed reading. One that ended unfinished may have been replaced already.
struct Landing {
    key: (Lane, String),
    flight: Flight,
    in_flight: Arc<InFlight>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut in_flight = lock(&self.in_flight);
        if in_flight.get(&self.key).is_some_and(|(flight, _)| *flight == self.flight) {
            in_flight.remove(&self.key);
        }
    }
}

fn lock(in_flight: &InFlight) -> MutexGuard<'_, Flights> {
    in_flight.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One upstream request, page after page.
struct Request {
    account: Account,
    site: SiteUrl,
    query: QueryRequest,
    /// The number of times that the account's readings had been dropped when the request began.
    drops: u64,
}

impl Request {
    /// The cache key of the request. It begins with [`prefix`].
    fn key(&self) -> Result<String, SearchEngineError> {
        let body = serde_json::to_string(&self.query).map_err(|e| SearchEngineError::InvalidRequest(e.to_string()))?;
        Ok(format!("{}{} {body}", prefix(self.account.id), self.site))
    }

    /// Returns the daily series whose sum equals the totals that this requests. If that series is cached or in flight, no
    /// request for totals is made. The search engine counts by day, so the days of a window neither overlap nor leave
    /// anything out, under any filters and aggregation. [`Reading::total`] checks that the sum is exact.
    ///
    /// Returns `None` if some days are not final, because they change between two requests. Rows of another grouping do not
    /// add up to the totals: queries omit the anonymised ones, pages count each URL, search appearances overlap, and lists
    /// are truncated.
    fn by_day(&self) -> Option<Self> {
        if !self.query.dimensions.is_empty() || self.query.data_state != DataState::Final {
            return None;
        }
        let dimensions = vec![Dimension::Date];
        let row_limit = row_limit(&dimensions).unwrap_or(self.query.row_limit);
        let query = QueryRequest { dimensions, row_limit, ..self.query.clone() };
        Some(Self { account: self.account.clone(), site: self.site.clone(), query, drops: self.drops })
    }
}

/// Reads data through the cache.
#[derive(Clone)]
pub struct Reader {
    engine: Arc<SearchEngine>,
    cache: Arc<ByteCache<Arc<Reading>>>,
    in_flight: Arc<InFlight>,
    drops: Drops,
    clock: Clock,
    ttl: TimeDelta,
    asker: Asker,
}

impl Reader {
    /// Caches readings of at most `max_bytes` in total for `ttl`.
    #[must_use]
    pub fn new(engine: Arc<SearchEngine>, clock: Clock, max_bytes: usize, ttl: TimeDelta) -> Self {
        Self {
            engine,
            cache: Arc::new(ByteCache::new(max_bytes)),
            in_flight: Arc::default(),
            drops: Arc::default(),
            clock,
            ttl,
            asker: Asker::new(Lane::Own),
        }
    }

    /// Returns the same reader, with the same cache, on behalf of `asker`.
    #[must_use]
    pub fn asking_for(&self, asker: Asker) -> Self {
        Self { asker, ..self.clone() }
    }

    /// The client underneath.
    #[must_use]
    pub fn engine(&self) -> &Arc<SearchEngine> {
        &self.engine
    }

    /// Drops all readings of an account, also readings in flight when they arrive, and the client's notes about it.
    pub fn forget_account(&self, account: Uuid) {
        *self.drops.lock().unwrap_or_else(PoisonError::into_inner).entry(account).or_default() += 1;
        let start = prefix(account);
        self.cache.remove_all(|key| key.starts_with(&start));
        self.engine.forget_account(account);
    }

    fn drops_of(&self, account: Uuid) -> u64 {
        self.drops.lock().unwrap_or_else(PoisonError::into_inner).get(&account).copied().unwrap_or_default()
    }

    /// The current use of the cache.
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        self.cache.usage()
    }

    /// Returns the reading of `part` under `plan`. A plan of one term returns the response unchanged. Otherwise all terms
    /// are read concurrently, in full, and added.
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
        let row_limit = row_limit(&part.dimensions).unwrap_or(part.cap);
        let query = QueryRequest {
            start_date: part.start,
            end_date: part.end,
            dimensions: part.dimensions,
            search_type: part.search_type,
            dimension_filter_groups: FilterGroup::all_of(filters),
            aggregation_type: part.aggregation,
            row_limit,
            start_row: 0,
            data_state: part.data_state,
        };
        let drops = self.drops_of(account.id);
        self.made_once(Request { account: account.clone(), site: site.clone(), query, drops }).await
    }

    /// Returns the reading from the cache, from an identical request in flight, from the daily series that it sums up, or
    /// from a new request. A caller never waits for a request in a slower lane. The request runs in its own task, so that it
    /// continues if the first caller leaves, and ends if all have left.
    async fn made_once(&self, request: Request) -> Result<Arc<Reading>, SearchEngineError> {
        let (key, now) = (request.key()?, self.clock.now());
        if let Some(reading) = self.cached(&key, now) {
            return Ok(reading);
        }
        let by_day = request.by_day().map(|by_day| by_day.key()).transpose()?;
        let running = {
            let mut in_flight = lock(&self.in_flight);
            if let Some(running) = self.running(&in_flight, &key) {
                running
            } else if let Some(reading) = self.cache.get(&key, now) {
                return Ok(reading);
            } else if let Some(total) = by_day.as_ref().and_then(|key| self.cache.get(key, now)?.total()) {
                return Ok(self.kept(key, total, &request));
            } else {
                let days = by_day.and_then(|key| self.running(&in_flight, &key));
                let (flight, running) = self.started(key.clone(), request, days);
                in_flight.insert((self.asker.lane, key), (flight, Arc::downgrade(&running)));
                running
            }
        };
        running.wait().await
    }

    /// Starts a request in a task of its own.
    fn started(&self, key: String, request: Request, days: Option<Arc<Running>>) -> (Flight, Arc<Running>) {
        let (reader, flight) = (self.clone(), Flight::unique());
        let landing = Landing { key: (self.asker.lane, key.clone()), flight, in_flight: self.in_flight.clone() };
        let task = tokio::spawn(async move {
            let _landing = landing;
            reader.summed_or_fetched(key, request, days).await
        });
        let abort = task.abort_handle();
        let outcome = task.map(|joined| {
            joined.unwrap_or_else(|error| Err(SearchEngineError::unavailable(format!("a reading died: {error}"))))
        });
        (flight, Arc::new(Running { outcome: outcome.boxed().shared(), task: abort }))
    }

    /// Returns the cached reading, unless an identical request is in flight: that one reads anew.
    fn cached(&self, key: &str, now: DateTime<Utc>) -> Option<Arc<Reading>> {
        let in_flight = lock(&self.in_flight);
        if self.running(&in_flight, key).is_some() {
            return None;
        }
        self.cache.get(&key.to_owned(), now)
    }

    /// Returns the request in flight with this key, if its lane is no slower than this reader's.
    fn running(&self, in_flight: &Flights, key: &str) -> Option<Arc<Running>> {
        let lanes = [Lane::Own, self.asker.lane].into_iter();
        lanes.map(|lane| (lane, key.to_owned())).find_map(|key| in_flight.get(&key)?.1.upgrade())
    }

    /// Returns the sum of `days`, or fetches the totals if there are no days or their sum is not exact.
    async fn summed_or_fetched(
        &self,
        key: String,
        request: Request,
        days: Option<Arc<Running>>,
    ) -> Result<Arc<Reading>, SearchEngineError> {
        if let Some(days) = days
            && let Some(total) = days.wait().await?.total()
        {
            return Ok(self.kept(key, total, &request));
        }
        let Request { account, site, query, .. } = &request;
        let answer = self.engine.query(account, site, self.asker, query, query.row_limit).await?;
        let (dimensions, cap, now) = (query.dimensions.clone(), query.row_limit, self.clock.now());
        let reading = beside(move || reading_of(answer, &dimensions, cap, now)).await.map_err(|error| died(&error))?;
        Ok(self.kept(key, reading, &request))
    }

    /// Stores a reading in the cache, unless the account's readings were dropped since its request began.
    fn kept(&self, key: String, reading: Reading, request: &Request) -> Arc<Reading> {
        let (bytes, expires_at) = (reading.bytes(), reading.read_at + self.ttl_of(&request.query));
        let reading = Arc::new(reading);
        if self.drops_of(request.account.id) == request.drops {
            self.cache.put(key, reading.clone(), bytes, expires_at);
        }
        reading
    }

    fn ttl_of(&self, query: &QueryRequest) -> TimeDelta {
        let settled_until = self.clock.pacific_today() - TimeDelta::days(UNSETTLED_DAYS);
        let settled = query.data_state == DataState::Final && query.end_date < settled_until;
        if settled { self.ttl } else { self.ttl.min(UNSETTLED_TTL) }
    }
}

/// The start of the cache keys of an account.
fn prefix(account: Uuid) -> String {
    format!("{account} ")
}

fn died(error: &Died) -> SearchEngineError {
    SearchEngineError::unavailable(format!("a reading died: {error}"))
}
