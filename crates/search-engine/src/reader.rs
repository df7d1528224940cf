//! Reads a part of a question: runs every term of its plan, adds the results, caches them, and shares identical requests in
//! flight.

use std::sync::{Arc, atomic::Ordering};

use chrono::TimeDelta;
use common::{
    byte_cache::{ByteCache, CacheUse},
    clock::{Clock, Moment},
    compute::beside,
    single_flight::{Locked, Running, SharedResult, SingleFlight},
};
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, ready, try_join_all},
};
use replicas::Readings;
use telemetry::traces::Current;
use uuid::Uuid;

use super::{
    client::SearchEngine,
    error::{ReadError, SearchEngineError},
    pace::{Asker, Lane},
    planner::Plan,
    reading::{ENGINE_CEILING, Part, Reading, added, reading_of, row_limit},
    recent::{LastFinal, RecentReader, headline_span},
    request::Request,
    settings::{Account, scopes_of},
    shared_readings::{Known, SharedReadings},
    wire::{DataState, Filter, FilterGroup, QueryRequest, SiteUrl},
};

/// Time to cache a response that includes days that are not final.
const UNSETTLED_TTL: TimeDelta = TimeDelta::minutes(15);

/// Days before today that may not be final, where the search engine has not said which ones are.
const USUALLY_UNSETTLED: i64 = 3;

/// The divisor of the cache's budget for recent days. Other readings take the rest.
const RECENT_SHARE: usize = 8;

/// A request under way: its lane and its cache key.
type Key = (Lane, String);

type UnderWay = SharedResult<Arc<Reading>, SearchEngineError>;

/// Reads data through the cache.
#[derive(Clone)]
pub struct Reader {
    engine: Arc<SearchEngine>,
    cache: Arc<ByteCache<Arc<Reading>>>,
    /// The requests under way. Each ends when nobody waits for it.
    requests: SingleFlight<Key, Arc<Reading>, SearchEngineError>,
    recent: RecentReader,
    shared: SharedReadings,
    clock: Clock,
    ttl: TimeDelta,
    asker: Asker,
}

impl Reader {
    /// Caches readings of at most `max_bytes` in total for `ttl`, and shares them with other replicas.
    #[must_use]
    pub fn new(
        engine: Arc<SearchEngine>,
        clock: Clock,
        max_bytes: usize,
        ttl: TimeDelta,
        shared: Option<Readings>,
    ) -> Self {
        let for_recent = max_bytes / RECENT_SHARE;
        let shared = SharedReadings(shared);
        Self {
            cache: Arc::new(ByteCache::new(max_bytes - for_recent)),
            requests: SingleFlight::while_wanted(),
            recent: RecentReader::new(engine.clone(), clock.clone(), for_recent, ttl, shared.clone()),
            shared,
            engine,
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

    /// The reader of recent days.
    #[must_use]
    pub fn recent(&self) -> &RecentReader {
        &self.recent
    }

    /// Returns the freshness of a site's data, from its recent days.
    pub async fn last_final(&self, account: &Account, site: &SiteUrl) -> Result<LastFinal, SearchEngineError> {
        let recent = self.recent.ask(account, site, headline_span(0), self.asker.lane).read().await?;
        Ok(recent.freshness)
    }

    /// Drops all readings of an account, also readings in flight when they arrive, and the client's notes about it. Those that replicas
    /// share are deleted in the background.
    pub fn forget_account(&self, account: Uuid) {
        if let Some(shared) = self.shared.0.clone() {
            tokio::spawn(async move { shared.forget(&account.to_string()).await });
        }
        let start = scopes_of(account);
        self.requests.lock().forget(|(_, key)| key.starts_with(&start));
        self.cache.remove_all(|key| key.starts_with(&start));
        self.recent.forget_account(account);
        self.engine.forget_account(account);
    }

    /// What came of readings that were wanted of other replicas: taken, waited for, claimed, taken over, and too late.
    #[must_use]
    pub fn shared_uses(&self) -> Vec<(&'static str, u64)> {
        let Some(uses) = self.shared.0.as_ref().map(Readings::uses) else { return Vec::new() };
        let all = [
            ("taken", &uses.taken),
            ("waited", &uses.waited),
            ("claimed", &uses.won),
            ("taken_over", &uses.taken_over),
            ("late", &uses.fenced),
        ];
        all.into_iter().map(|(what, count)| (what, count.load(Ordering::Relaxed))).collect()
    }

    /// The current use of the caches, together.
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        let (own, recent) = (self.cache.usage(), self.recent.cache_use());
        CacheUse {
            entries: own.entries + recent.entries,
            bytes: own.bytes + recent.bytes,
            max_bytes: own.max_bytes + recent.max_bytes,
            hits: own.hits + recent.hits,
            insertions: own.insertions + recent.insertions,
        }
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
        let sum = beside(move || {
            let weighted = weights.into_iter().zip(readings.iter().map(Arc::as_ref));
            added(weighted, &part.dimensions, part.cap, now)
        });
        Ok(Arc::new(sum.await.map_err(SearchEngineError::from)?))
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
        self.made_once(Request { account: account.clone(), site: site.clone(), query, among: part.among }).await
    }

    /// Returns the reading from the cache, from an identical request under way, as a part of a wider one, or from a new request. A caller
    /// never waits for a request in a slower lane.
    async fn made_once(&self, request: Request) -> Result<Arc<Reading>, SearchEngineError> {
        let (key, now) = (request.key()?, self.clock.moment());
        let outcome = {
            let mut requests = self.requests.lock();
            if let Some(outcome) = self.under_way(&requests, &key) {
                outcome
            } else if let Some(reading) = self.cache.get(&key, now) {
                return Ok(reading);
            } else {
                let wider = self.wider(&requests, &request)?;
                let reader = self.clone();
                let trace = Current::get();
                requests.start((self.asker.lane, key.clone()), move |running| {
                    trace.around(async move {
                        if let Some(part) = reader.part(&request, &key, wider, &running).await? {
                            return Ok(part);
                        }
                        let reading = Arc::new(reader.once(&request, &key).await?);
                        running.keep(|| reader.keep(key, &reading, &request));
                        Ok(reading)
                    })
                })
            }
        };
        outcome.await
    }

    /// Returns the request under way with this key, if its lane is no slower than this reader's.
    fn under_way(&self, requests: &Locked<'_, Key, Arc<Reading>, SearchEngineError>, key: &str) -> Option<UnderWay> {
        [Lane::Own, self.asker.lane].into_iter().find_map(|lane| requests.get(&(lane, key.to_owned())))
    }

    /// Returns a wider reading that is cached or under way, if there is one.
    fn wider(
        &self,
        requests: &Locked<'_, Key, Arc<Reading>, SearchEngineError>,
        request: &Request,
    ) -> Result<Option<(Request, UnderWay)>, SearchEngineError> {
        for wider in request.wider() {
            let key = wider.key()?;
            let cached = self.cache.get(&key, self.clock.moment()).map(|reading| ready(Ok(reading)).boxed().shared());
            if let Some(reading) = cached.or_else(|| self.under_way(requests, &key)) {
                return Ok(Some((wider, reading)));
            }
        }
        Ok(None)
    }

    /// Returns the reading as a part of a wider one: of recent days, of one that is there or under way, of the days that another replica has,
    /// or of all days that are asked about, which are read for it. `None` if there is none, or if a part of it is not exact.
    async fn part(
        &self,
        request: &Request,
        key: &str,
        wider: Option<(Request, UnderWay)>,
        running: &Running<Key, Arc<Reading>, SearchEngineError>,
    ) -> Result<Option<Arc<Reading>>, SearchEngineError> {
        if let Some((reading, expires_at)) = self.of_recent_days(request) {
            running.keep(|| self.cache.put(key.to_owned(), reading.clone(), reading.bytes(), expires_at));
            return Ok(Some(reading));
        }
        let known = match wider {
            Some((wider, reading)) => Some((wider, reading.await?)),
            None => self.elsewhere_by_day(request, running).await?,
        };
        let (wider, reading) = if let Some(known) = known {
            known
        } else if let Some(wider) = request.among_days() {
            let reading = self.clone().wider_made(wider.clone()).await?;
            (wider, reading)
        } else {
            return Ok(None);
        };
        let (own, wide) = (request.clone(), wider.query.clone());
        let part = beside(move || own.part_of(&wide, &reading)).await.map_err(SearchEngineError::from)?;
        let Some(part) = part.map(Arc::new) else { return Ok(None) };
        // It is cached for as long as what it is a part of.
        if let Some((_, expires_at)) = self.cache.get_expiring(&wider.key()?, self.clock.moment()) {
            running.keep(|| self.cache.put(key.to_owned(), part.clone(), part.bytes(), expires_at));
        }
        Ok(Some(part))
    }

    /// Returns the reading of a wider request. Its type is named, because it is awaited by [`Self::made_once`] itself.
    fn wider_made(self, wider: Request) -> BoxFuture<'static, Result<Arc<Reading>, SearchEngineError>> {
        async move { self.made_once(wider).await }.boxed()
    }

    /// Returns the days whose sum is this request's answer, if another replica has them. They are kept here.
    async fn elsewhere_by_day(
        &self,
        request: &Request,
        running: &Running<Key, Arc<Reading>, SearchEngineError>,
    ) -> Result<Option<(Request, Arc<Reading>)>, SearchEngineError> {
        let Some(by_day) = request.by_day() else { return Ok(None) };
        let key = by_day.key()?;
        let known = Known { account: &by_day.account, request: of_site(&key), lane: self.asker.lane };
        let Some(days) = self.shared.get(known).await.map(Arc::new) else { return Ok(None) };
        running.keep(|| self.keep(key.clone(), &days, &by_day));
        Ok(Some((by_day, days)))
    }

    /// Returns the days or the totals of a site without conditions from its recent days, if all of them are final there.
    fn of_recent_days(&self, request: &Request) -> Option<(Arc<Reading>, Moment)> {
        if !request.is_of_recent_days() {
            return None;
        }
        let QueryRequest { start_date, end_date, dimensions, .. } = &request.query;
        let recent = self.recent.kept(&request.account, &request.site, headline_span(0))?;
        let is_final = recent.freshness.first_incomplete_date.is_some_and(|first| *end_date < first);
        if !is_final || !recent.covers(*start_date) {
            return None;
        }
        let days = recent.reading(*start_date..=*end_date);
        let reading = if dimensions.is_empty() { days.total()? } else { days };
        Some((Arc::new(reading), recent.end_of(self.ttl)))
    }

    /// Returns the reading that another replica has or makes, or makes it for all.
    async fn once(&self, request: &Request, key: &str) -> Result<Reading, SearchEngineError> {
        let known = Known { account: &request.account, request: of_site(key), lane: self.asker.lane };
        let expires_at = |reading: &Reading| reading.read_at + self.ttl_of(request);
        self.shared.once(known, expires_at, || self.fetched(request)).await
    }

    async fn fetched(&self, request: &Request) -> Result<Reading, SearchEngineError> {
        let Request { account, site, query, .. } = request;
        let answer = self.engine.query(account, site, self.asker, query, query.row_limit).await?;
        let (dimensions, cap, now) = (query.dimensions.clone(), query.row_limit, self.clock.now());
        Ok(beside(move || reading_of(answer, &dimensions, cap, now)).await?)
    }

    fn keep(&self, key: String, reading: &Arc<Reading>, request: &Request) {
        let expires_at = self.clock.moment().end_of(reading.read_at, self.ttl_of(request));
        self.cache.put(key, reading.clone(), reading.bytes(), expires_at);
    }

    /// The time to cache the response. Days before the first incomplete one, as the search engine named it last, are final.
    fn ttl_of(&self, request: &Request) -> TimeDelta {
        let Request { account, site, query, .. } = request;
        let recent = self.recent.kept(account, site, headline_span(0));
        let named = recent.and_then(|recent| recent.freshness.first_incomplete_date);
        let usually = self.clock.pacific_today() - TimeDelta::days(USUALLY_UNSETTLED);
        let settled = named.is_some_and(|first| query.end_date < first)
            || (query.data_state == DataState::Final && query.end_date < usually);
        if settled { self.ttl } else { self.ttl.min(UNSETTLED_TTL) }
    }
}

/// The part of a cache key after the account.
fn of_site(key: &str) -> &str {
    key.split_once(' ').map_or(key, |(_, request)| request)
}
