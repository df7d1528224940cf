//! The recent days of a site. One request by day gives the freshness of the site's data and its headline metrics.
//!
//! Recent days are kept for as long as other readings. When they are older than [`REREAD_AFTER`] and someone asks, the kept ones are the
//! answer, and they are read again in the background.

use std::{ops::RangeInclusive, sync::Arc};

use api::models::{SearchType, parse_day};
use chrono::{DateTime, Months, NaiveDate, TimeDelta, Utc};
use common::{
    byte_cache::{ByteCache, CacheUse},
    clock::{Clock, Moment},
    metrics::Metrics,
    places::Places,
    single_flight::{Locked, SharedResult, SingleFlight},
};
use telemetry::traces::Current;
use uuid::Uuid;

use super::{
    client::SearchEngine,
    error::SearchEngineError,
    pace::{Asker, Lane},
    reading::{Reading, Row, reading_of, row_limit},
    settings::{Account, scopes_of},
    shared_readings::{Known, SharedReadings},
    wire::{DataState, Dimension, HISTORY_MONTHS, QueryRequest, SiteUrl},
};

/// The number of newest days that may not be final. Older days usually are.
pub const UNSETTLED_DAYS: u32 = 10;

/// The days of the usual headline. Shorter ones come from the same request.
const USUAL_HEADLINE: u32 = 28;

/// The usual maximum age of the newest final data, in days, from experience.
const USUAL_LAG_DAYS: i64 = 3;

/// The age at which recent days are read again.
const REREAD_AFTER: TimeDelta = TimeDelta::hours(1);

/// The most sites of one account whose recent days are read at once in the background. The other sites wait here, outside the pace, so
/// that the queue of the pace stays short.
const IN_BACKGROUND: usize = 16;

/// Estimated bytes of a day.
const DAY_BYTES: usize = size_of::<Metrics>();

/// The days before a headline that say what is usual for its days.
const HISTORY_DAYS: u32 = 56;

/// Returns the span of a headline of `days` days and the days before them that it is compared with, wherever final data ends among the
/// newest days.
#[must_use]
pub fn headline_span(days: u32) -> u32 {
    let days = days.max(USUAL_HEADLINE);
    days + days.max(HISTORY_DAYS) + UNSETTLED_DAYS
}

/// The freshness of a site's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastFinal {
    /// The last day whose numbers no longer change.
    pub last_final_date: NaiveDate,
    /// The first day whose data is incomplete.
    pub first_incomplete_date: Option<NaiveDate>,
    /// The time of the reading.
    pub read_at: DateTime<Utc>,
}

/// The metrics of a site by day, up to the day they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct RecentDays {
    /// The freshness of the site's data.
    pub freshness: LastFinal,
    read_at: Moment,
    span: u32,
    first: NaiveDate,
    days: Vec<Metrics>,
}

impl RecentDays {
    /// Converts a reading by day from `first` to `today`, which includes incomplete days. The last final day is the day before the first
    /// incomplete one. If the search engine does not name that day, it is the later of the last day with data and today minus three.
    fn of(reading: &Reading, span: u32, first: NaiveDate, today: NaiveDate, now: Moment) -> Self {
        let mut days: Vec<Metrics> =
            first.iter_days().take_while(|day| *day <= today).map(|_| Metrics::zero()).collect();
        let mut last = None;
        for row in &reading.rows {
            let Ok(date) = parse_day(row.key()) else { continue };
            last = last.max(Some(date));
            if let Some(day) = usize::try_from((date - first).num_days()).ok().and_then(|day| days.get_mut(day)) {
                *day += row.metrics;
            }
        }
        let usual = today - TimeDelta::days(USUAL_LAG_DAYS);
        let last_final_date = match reading.first_incomplete_date {
            Some(first_incomplete) => first_incomplete - TimeDelta::days(1),
            None => last.map_or(usual, |last| last.max(usual)),
        };
        let freshness = LastFinal {
            last_final_date,
            first_incomplete_date: reading.first_incomplete_date,
            read_at: reading.read_at,
        };
        Self { freshness, read_at: now.back_at(reading.read_at), span, first, days }
    }

    /// The metrics of each of these days. Days without data have no impressions.
    pub fn days(&self, days: RangeInclusive<NaiveDate>) -> impl Iterator<Item = (NaiveDate, Metrics)> {
        let (start, end) = (*days.start(), *days.end());
        let metrics = move |date: NaiveDate| {
            let day = usize::try_from((date - self.first).num_days()).ok();
            day.and_then(|day| self.days.get(day)).copied().unwrap_or_else(Metrics::zero)
        };
        start.iter_days().take_while(move |date| *date <= end).map(move |date| (date, metrics(date)))
    }

    /// These days as a reading by day.
    #[must_use]
    pub fn reading(&self, days: RangeInclusive<NaiveDate>) -> Reading {
        let counted = self.days(days).filter(|(_, metrics)| metrics.impressions > 0.0);
        let row = |(day, metrics): (NaiveDate, Metrics)| Row { keys: [day.to_string().into()].into(), metrics };
        let (rows, read_at) = (counted.map(row).collect(), self.freshness.read_at);
        Reading { rows, capped: false, read_at, first_incomplete_date: None }
    }

    /// The end of the time for which they are kept.
    #[must_use]
    pub fn end_of(&self, ttl: TimeDelta) -> Moment {
        self.read_at + ttl
    }

    /// Returns whether it holds `date` and the days after it.
    #[must_use]
    pub fn covers(&self, date: NaiveDate) -> bool {
        self.first <= date
    }

    /// The sum of these days. It equals the search engine's total for them, because the search engine counts by day.
    #[must_use]
    pub fn total(&self, days: RangeInclusive<NaiveDate>) -> Metrics {
        self.days(days).map(|(_, metrics)| metrics).sum()
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.days.len() * DAY_BYTES
    }
}

/// The recent days of a site, as far as they are known.
pub enum Recent {
    /// They are kept.
    Kept(Arc<RecentDays>),
    /// They are being read. The reading goes on when nobody waits for it.
    UnderWay(SharedResult<Arc<RecentDays>, SearchEngineError>),
}

impl Recent {
    /// Waits for the days.
    ///
    /// # Errors
    /// Reading them failed.
    pub async fn read(self) -> Result<Arc<RecentDays>, SearchEngineError> {
        match self {
            Self::Kept(days) => Ok(days),
            Self::UnderWay(reading) => reading.await,
        }
    }
}

/// A reading under way: its lane, its span and the cache key of the site.
type Key = (Lane, u32, String);

/// Reads the recent days of sites.
#[derive(Clone)]
pub struct RecentReader {
    engine: Arc<SearchEngine>,
    kept: Arc<ByteCache<Arc<RecentDays>>>,
    under_way: SingleFlight<Key, Arc<RecentDays>, SearchEngineError>,
    in_background: Places<Uuid>,
    shared: SharedReadings,
    clock: Clock,
    ttl: TimeDelta,
}

impl RecentReader {
    /// Keeps at most `max_bytes` for `ttl`, and shares readings with other replicas.
    pub(super) fn new(
        engine: Arc<SearchEngine>,
        clock: Clock,
        max_bytes: usize,
        ttl: TimeDelta,
        shared: SharedReadings,
    ) -> Self {
        let (kept, under_way) = (Arc::new(ByteCache::new(max_bytes)), SingleFlight::lasting());
        Self { engine, kept, under_way, in_background: Places::new(IN_BACKGROUND), shared, clock, ttl }
    }

    /// Returns the kept days of a site, unless they have expired. Reads nothing.
    #[must_use]
    pub fn kept(&self, account: &Account, site: &SiteUrl, span: u32) -> Option<Arc<RecentDays>> {
        self.kept.get_if(&key(account, site), self.clock.moment(), |kept| kept.span >= span)
    }

    /// Returns the kept days of a site, or starts to read them: `span` days up to today, as far as the search engine keeps them, and more
    /// where final data ends earlier than [`UNSETTLED_DAYS`] ago.
    #[must_use]
    pub fn ask(&self, account: &Account, site: &SiteUrl, span: u32, lane: Lane) -> Recent {
        let under_way = self.under_way.lock();
        let Some(kept) = self.kept(account, site, span) else {
            return Recent::UnderWay(self.start(under_way, account, site, span, lane));
        };
        if self.clock.moment().since(kept.read_at) >= REREAD_AFTER.min(self.ttl) {
            drop(self.start(under_way, account, site, kept.span, lane.max(Lane::Refresh)));
        }
        Recent::Kept(kept)
    }

    /// Joins a reading under way in `lane` or a faster one, or starts one.
    fn start(
        &self,
        mut under_way: Locked<'_, Key, Arc<RecentDays>, SearchEngineError>,
        account: &Account,
        site: &SiteUrl,
        span: u32,
        lane: Lane,
    ) -> SharedResult<Arc<RecentDays>, SearchEngineError> {
        let key = key(account, site);
        let mut faster = Lane::ALL.into_iter().take_while(|other| *other <= lane);
        if let Some(reading) = faster.find_map(|lane| under_way.get(&(lane, span, key.clone()))) {
            return reading;
        }
        let (reader, account, site) = (self.clone(), account.clone(), site.clone());
        let trace = Current::get();
        under_way.start((lane, span, key.clone()), move |running| {
            trace.around(async move {
                let asked_at = reader.clock.moment();
                let place = lane.is_background().then(|| reader.in_background.of(account.id));
                // Cannot fail, because places are never closed.
                let _place = match place {
                    Some(places) => places.acquire_owned().await.ok(),
                    None => None,
                };
                let now = reader.clock.moment();
                let is_new = |kept: &RecentDays| now.since(kept.read_at) <= now.since(asked_at);
                if let Some(meanwhile) = reader.kept.get_if(&key, now, |kept| kept.span >= span && is_new(kept)) {
                    return Ok(meanwhile);
                }
                let recent = Arc::new(reader.fetch(&account, &site, span, lane).await?);
                running.keep(|| reader.kept.put(key, recent.clone(), recent.bytes(), recent.read_at + reader.ttl));
                Ok(recent)
            })
        })
    }

    async fn fetch(
        &self,
        account: &Account,
        site: &SiteUrl,
        span: u32,
        lane: Lane,
    ) -> Result<RecentDays, SearchEngineError> {
        let today = self.clock.pacific_today();
        let oldest = today - Months::new(HISTORY_MONTHS);
        let first = (today - TimeDelta::days(i64::from(span) - 1)).max(oldest);
        let recent = self.fetch_from(account, site, span, first, lane).await?;
        let behind = today - recent.freshness.last_final_date - TimeDelta::days(UNSETTLED_DAYS.into());
        if behind <= TimeDelta::zero() || first == oldest {
            return Ok(recent);
        }
        self.fetch_from(account, site, span, (first - behind).max(oldest), lane).await
    }

    async fn fetch_from(
        &self,
        account: &Account,
        site: &SiteUrl,
        span: u32,
        first: NaiveDate,
        lane: Lane,
    ) -> Result<RecentDays, SearchEngineError> {
        let today = self.clock.pacific_today();
        let dimensions = vec![Dimension::Date];
        let cap = row_limit(&dimensions).unwrap_or_default();
        let query = QueryRequest {
            start_date: first,
            end_date: today,
            dimensions: dimensions.clone(),
            search_type: SearchType::Web,
            dimension_filter_groups: Vec::new(),
            aggregation_type: None,
            row_limit: cap,
            start_row: 0,
            data_state: DataState::All,
        };
        let body =
            serde_json::to_string(&query).map_err(|error| SearchEngineError::InvalidRequest(error.to_string()))?;
        let request = format!("{site} {body}");
        let known = Known { account, request: &request, lane };
        let expires_at = |reading: &Reading| reading.read_at + self.ttl;
        let fetch = || async {
            let answer = self.engine.query(account, site, Asker::new(lane), &query, cap).await?;
            Ok(reading_of(answer, &dimensions, cap, self.clock.now()))
        };
        let reading = if lane >= Lane::Refresh {
            self.shared.again(known, self.clock.now(), expires_at, fetch).await?
        } else {
            self.shared.once(known, expires_at, fetch).await?
        };
        Ok(RecentDays::of(&reading, span, first, today, self.clock.moment()))
    }

    /// Drops the days of an account, also days under way when they arrive.
    pub(super) fn forget_account(&self, account: Uuid) {
        let start = scopes_of(account);
        self.under_way.lock().forget(|(_, _, key)| key.starts_with(&start));
        self.kept.remove_all(|key| key.starts_with(&start));
    }

    /// The current use of the cache.
    pub(super) fn cache_use(&self) -> CacheUse {
        self.kept.usage()
    }
}

/// The cache key. It holds no date, so that kept days answer after midnight, too.
fn key(account: &Account, site: &SiteUrl) -> String {
    format!("{} {site}", account.scope())
}
