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
use futures_util::future::try_join_all;
use shared::Readings;
use uuid::Uuid;

use super::{
    client::SearchEngine,
    elsewhere::{Elsewhere, Known},
    error::{ReadError, SearchEngineError},
    pace::{Asker, Lane},
    planner::Plan,
    reading::{ENGINE_CEILING, Part, Reading, added, reading_of, row_limit},
    recent::{LastFinal, RecentReader, headline_span},
    settings::{Account, scopes_of},
    wire::{DataState, Dimension, Filter, FilterGroup, QueryRequest, SiteUrl},
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

/// One upstream request, page after page.
struct Request {
    account: Account,
    site: SiteUrl,
    query: QueryRequest,
}

impl Request {
    /// The cache key of the request. It begins with the account's scope.
    fn key(&self) -> Result<String, SearchEngineError> {
        let body = serde_json::to_string(&self.query).map_err(|e| SearchEngineError::InvalidRequest(e.to_string()))?;
        Ok(format!("{} {} {body}", self.account.scope(), self.site))
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
        Some(Self { account: self.account.clone(), site: self.site.clone(), query })
    }
}

/// Reads data through the cache.
#[derive(Clone)]
pub struct Reader {
    engine: Arc<SearchEngine>,
    cache: Arc<ByteCache<Arc<Reading>>>,
    /// The requests under way. Each ends when nobody waits for it.
    requests: SingleFlight<Key, Arc<Reading>, SearchEngineError>,
    recent: RecentReader,
    elsewhere: Elsewhere,
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
        let elsewhere = Elsewhere(shared);
        Self {
            cache: Arc::new(ByteCache::new(max_bytes - for_recent)),
            requests: SingleFlight::while_wanted(),
            recent: RecentReader::new(engine.clone(), clock.clone(), for_recent, ttl, elsewhere.clone()),
            elsewhere,
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
        if let Some(shared) = self.elsewhere.0.clone() {
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
        let Some(uses) = self.elsewhere.0.as_ref().map(Readings::uses) else { return Vec::new() };
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
        let sum = beside(move || added(weights.into_iter().zip(readings.iter().map(Arc::as_ref)), &part, now));
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
        self.made_once(Request { account: account.clone(), site: site.clone(), query }).await
    }

    /// Returns the reading from the cache, from an identical request under way, from the daily series that it sums up, or
    /// from a new request. A caller never waits for a request in a slower lane.
    async fn made_once(&self, request: Request) -> Result<Arc<Reading>, SearchEngineError> {
        let (key, now) = (request.key()?, self.clock.moment());
        let outcome = {
            let mut requests = self.requests.lock();
            if let Some(outcome) = self.under_way(&requests, &key) {
                outcome
            } else if let Some(reading) = self.cache.get(&key, now) {
                return Ok(reading);
            } else {
                let by_day = request.by_day().map(|by_day| by_day.key()).transpose()?;
                if let Some(total) = by_day.as_ref().and_then(|by_day| self.sum_of(by_day, &key, now)) {
                    return Ok(total);
                }
                let days = by_day.and_then(|key| self.under_way(&requests, &key));
                let reader = self.clone();
                requests.start((self.asker.lane, key.clone()), move |running| async move {
                    if let Some(total) = reader.summed(&request, &key, days, &running).await? {
                        return Ok(total);
                    }
                    let reading = Arc::new(reader.once(&request, &key).await?);
                    running.keep(|| reader.keep(key, &reading, &request));
                    Ok(reading)
                })
            }
        };
        outcome.await
    }

    /// Returns the request under way with this key, if its lane is no slower than this reader's.
    fn under_way(&self, requests: &Locked<'_, Key, Arc<Reading>, SearchEngineError>, key: &str) -> Option<UnderWay> {
        [Lane::Own, self.asker.lane].into_iter().find_map(|lane| requests.get(&(lane, key.to_owned())))
    }

    /// Returns the sum of the days that are cached under `by_day`, if it is exact. It is cached under `key` for as long as they are.
    fn sum_of(&self, by_day: &str, key: &str, now: Moment) -> Option<Arc<Reading>> {
        let (days, expires_at) = self.cache.get_expiring(by_day, now)?;
        let total = Arc::new(days.total()?);
        self.cache.put(key.to_owned(), total.clone(), total.bytes(), expires_at);
        Some(total)
    }

    /// Returns the sum of the days under way, or of those that another replica has, which are kept here. Returns `None` if there are no days
    /// or their sum is not exact.
    async fn summed(
        &self,
        request: &Request,
        key: &str,
        under_way: Option<UnderWay>,
        running: &Running<Key, Arc<Reading>, SearchEngineError>,
    ) -> Result<Option<Arc<Reading>>, SearchEngineError> {
        let Some(by_day) = request.by_day() else { return Ok(None) };
        let by_day_key = by_day.key()?;
        let days = if let Some(days) = under_way {
            days.await?
        } else {
            let known = Known { account: &by_day.account, request: of_site(&by_day_key), lane: self.asker.lane };
            let Some(days) = self.elsewhere.get(known).await.map(Arc::new) else { return Ok(None) };
            running.keep(|| self.keep(by_day_key.clone(), &days, &by_day));
            days
        };
        let mut kept = None;
        running.keep(|| kept = self.sum_of(&by_day_key, key, self.clock.moment()));
        Ok(kept.or_else(|| days.total().map(Arc::new)))
    }

    /// Returns the reading that another replica has or makes, or makes it for all.
    async fn once(&self, request: &Request, key: &str) -> Result<Reading, SearchEngineError> {
        let known = Known { account: &request.account, request: of_site(key), lane: self.asker.lane };
        let expires_at = |reading: &Reading| reading.read_at + self.ttl_of(request);
        self.elsewhere.once(known, expires_at, || self.fetched(request)).await
    }

    async fn fetched(&self, request: &Request) -> Result<Reading, SearchEngineError> {
        let Request { account, site, query } = request;
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
        let Request { account, site, query } = request;
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
