//! The list of properties with headline metrics. A property that cannot be read never fails the list: its entry states the problem.

use std::borrow::Cow;

use analytics::change::{change, to_api};
use api::{
    models::Window,
    properties::{
        Headline, HeadlineParams, PropertyAccessState, PropertyAnswer, PropertyListAnswer, PropertyListMeta,
        PropertyListParams, PropertyMeta, PropertyParams, PropertySort, ReadingProgress, TrackedProperty,
    },
};
use chrono::TimeDelta;
use common::names::sites;
use search_engine::{LastFinal, RecentDays, SiteUrl, headline_span};

use super::{
    ListedProperty,
    daily::Daily,
    order,
    recent::{self, ReadDays, Unread, UnreadCounts},
    reference, visible,
};
use crate::{
    config::Config,
    error::{Error, Responsible},
    services::{
        access::PropertyAccess,
        analyses::{
            question,
            search_data::SearchData,
            warnings::data_incidents,
            windows::{last_days, oldest_day},
        },
        patience::TIMEOUT,
        users::Member,
    },
};

/// The days of the daily values of a headline.
const SERIES_DAYS: i64 = 28;

/// The seconds up to which a wait is a matter of a few seconds.
const SOON: u64 = 10;

/// Returns a page of the tracked properties that a person can see and the filter leaves. Each has the metrics of the last `days` final
/// days and of as many days before, if the search engine still keeps them.
pub async fn list(
    search: &SearchData,
    config: &Config,
    member: &Member,
    params: &PropertyListParams,
) -> Result<PropertyListAnswer, Error> {
    let listed = visible(&search.db, config, member, search.clock.now()).await?;
    let mut listed = reference::filtered(&search.db, member, listed, &params.filter).await?;
    listed.retain(|listed| params.hidden.is_none_or(|hidden| listed.hidden == hidden));
    let by_metric = match params.sort {
        Some(PropertySort::Metric(_)) if !params.headline => {
            return Err(Error::invalid("sort: needs headlines; sort by name, or leave headline=false out"));
        }
        Some(PropertySort::Metric(sort)) => Some(sort),
        Some(PropertySort::Name { descending }) => {
            order::by_name(&mut listed, descending);
            None
        }
        None => None,
    };
    if !params.headline {
        let (page, list) = params.paging.page(listed);
        let data = page.into_iter().map(|listed| unread_entry(search, listed)).collect();
        let meta = PropertyListMeta { list, progress: None, freshness: None, warnings: None };
        return Ok(PropertyListAnswer { data, meta });
    }
    let (entries, list) = if let Some(sort) = by_metric {
        let mut all = Entries::read(search, listed, params.metrics).await;
        order::by_metric(&mut all.data, sort);
        let (page, list) = params.paging.page(std::mem::take(&mut all.data));
        (Entries { data: page, ..all }, list)
    } else {
        let (page, list) = params.paging.page(listed);
        (Entries::read(search, page, params.metrics).await, list)
    };
    let (freshness, warnings) = entries.meta(search).map(|meta| (meta.freshness, meta.warnings)).unzip();
    let meta = PropertyListMeta { list, progress: Some(entries.progress), freshness, warnings: warnings.flatten() };
    Ok(PropertyListAnswer { data: entries.data, meta })
}

/// Returns one of the tracked properties that a person can see, as [`list`] does.
pub async fn one(
    search: &SearchData,
    access: &PropertyAccess,
    params: &PropertyParams,
) -> Result<PropertyAnswer, Error> {
    answer(search, ListedProperty::admitted(&search.db, access).await?, params).await
}

/// Returns one of the tracked properties that a person can see, without the person's marks and tags. Executes no statement.
pub async fn unmarked(
    search: &SearchData,
    access: &PropertyAccess,
    params: &PropertyParams,
) -> Result<PropertyAnswer, Error> {
    answer(search, ListedProperty::unmarked(access), params).await
}

async fn answer(search: &SearchData, listed: ListedProperty, params: &PropertyParams) -> Result<PropertyAnswer, Error> {
    if !params.headline {
        return Ok(PropertyAnswer { data: unread_entry(search, listed), meta: None });
    }
    let mut entries = Entries::read(search, vec![listed], params.metrics).await;
    let meta = entries.meta(search).map(|meta| PropertyMeta { ignored: params.ignored.names(), ..meta });
    Ok(PropertyAnswer { data: entries.data.pop().ok_or(Error::NotFound)?, meta })
}

/// The entries of properties, and what was learned from reading them.
struct Entries {
    data: Vec<TrackedProperty>,
    progress: ReadingProgress,
    /// The freshness of the property whose data ends first.
    least: Option<LastFinal>,
}

impl Entries {
    /// Reads the headlines of properties.
    async fn read(search: &SearchData, listed: Vec<ListedProperty>, params: HeadlineParams) -> Self {
        let read = recent::read(search, &listed, headline_span(params.days.0), TIMEOUT).await;
        let UnreadCounts { still_reading, refused, locked, disconnected } = UnreadCounts::of(&read);
        let progress = ReadingProgress {
            read: read.iter().flatten().count() as u64,
            still_reading,
            refused,
            locked,
            disconnected,
        };
        let fresh = read.iter().flatten().map(|recent| recent.freshness);
        let least = fresh.min_by_key(|freshness| freshness.last_final_date);
        let data = listed.into_iter().zip(read).map(|(listed, read)| entry(search, listed, read, params));
        Self { data: data.collect(), progress, least }
    }

    /// Returns the metadata, if there is a headline.
    fn meta(&self, search: &SearchData) -> Option<PropertyMeta> {
        let windows: Vec<Window> =
            self.data.iter().filter_map(|entry| entry.headline.as_ref()).flat_map(windows).collect();
        let incidents = data_incidents(&search.system_annotations, &windows);
        self.least.map(|least| PropertyMeta {
            freshness: question::freshness(&least),
            warnings: (!incidents.is_empty()).then_some(incidents),
            ignored: None,
        })
    }
}

/// Returns the windows that a headline counts.
fn windows(headline: &Headline) -> impl Iterator<Item = Window> {
    let window = headline.window;
    let length = window.length().into();
    let before = headline.previous.is_some().then(|| last_days(window.start_date - TimeDelta::days(1), length));
    [window].into_iter().chain(before)
}

fn entry(search: &SearchData, listed: ListedProperty, read: ReadDays, params: HeadlineParams) -> TrackedProperty {
    match read {
        Ok(recent) => shown(listed, PropertyAccessState::Ok, None, Some(headline(search, &recent, params))),
        Err(Unread::StillReading) => shown(listed, PropertyAccessState::StillReading, Some(when_read(search)), None),
        Err(Unread::Refused(error)) => refused(listed, &error),
    }
}

/// Advises when to ask again for a headline that is still being read.
fn when_read(search: &SearchData) -> String {
    match search.reader.engine().quota_wait().as_secs() {
        0..SOON => "The headline is being read; ask again in a few seconds.".to_owned(),
        wait => format!("This service has used up its quota at the search engine; ask again in {wait} seconds."),
    }
}

/// Returns the entry of a property whose headline is not asked for.
fn unread_entry(search: &SearchData, listed: ListedProperty) -> TrackedProperty {
    let site = SiteUrl(listed.property.site_url.clone());
    if let Err(error) = recent::site(search, &listed) {
        return refused(listed, &error);
    }
    match search.reader.engine().refused(listed.account.id, &site) {
        Some(_) => refused(listed, &Error::NotFound),
        None => shown(listed, PropertyAccessState::Ok, None, None),
    }
}

fn refused(listed: ListedProperty, error: &Error) -> TrackedProperty {
    let hint = hint(error, &listed.responsible);
    shown(listed, state(error), hint, None)
}

fn shown(
    listed: ListedProperty,
    access: PropertyAccessState,
    hint: Option<String>,
    headline: Option<Headline>,
) -> TrackedProperty {
    TrackedProperty {
        id: listed.property.id,
        name: sites::name(&listed.property.site_url),
        site_url: listed.property.site_url,
        role: listed.role,
        owner_name: listed.owner_name,
        owner_email: listed.owner_email,
        favorite: listed.favorite,
        hidden: listed.hidden,
        tag_ids: listed.tag_ids,
        access,
        hint,
        headline,
    }
}

/// Returns the advice for a person whose property cannot be read. Only the owner can mend a refused site.
fn hint(error: &Error, responsible: &Responsible) -> Option<String> {
    match (error, responsible) {
        (Error::NotFound, Responsible::Owner(_)) => {
            Some(format!("{}.", responsible.must("give the search account access to this site again, and sync")))
        }
        (Error::NotFound, Responsible::Caller) => {
            Some("The search account cannot read this site; give it access at the search engine, then sync.".to_owned())
        }
        _ => error.hint().map(Cow::into_owned),
    }
}

fn state(error: &Error) -> PropertyAccessState {
    match error {
        Error::SubscriptionRequired { .. } => PropertyAccessState::SubscriptionRequired,
        Error::SearchAccountDisconnected(_) => PropertyAccessState::SearchAccountDisconnected,
        Error::NotFound | Error::SearchSiteRefused { .. } => PropertyAccessState::Lost,
        other => {
            tracing::debug!(%other, "a headline is missing");
            PropertyAccessState::SearchEngineUnavailable
        }
    }
}

fn headline(search: &SearchData, recent: &RecentDays, params: HeadlineParams) -> Headline {
    let days = i64::from(params.days.0);
    let window = last_days(recent.freshness.last_final_date, days);
    let before = last_days(window.start_date - TimeDelta::days(1), days);
    let oldest = oldest_day(search.clock.pacific_today());
    let current = recent.total(window.start_date..=window.end_date);
    let kept = before.start_date >= oldest;
    let previous = kept.then(|| recent.total(before.start_date..=before.end_date));
    let reason =
        format!("The days before begin on {}, and the search engine has data since {oldest}.", before.start_date);
    let daily = Daily::of([recent]);
    let usual = params.usual.then(|| daily.usual(search, window));
    Headline {
        window,
        current: to_api(&current),
        previous: previous.as_ref().map(to_api),
        previous_reason: (!kept).then_some(reason),
        change: previous.as_ref().map(|previous| change(&current, previous)),
        unusual: usual.as_ref().and_then(|usual| daily.unusual(window, usual)),
        series: params.series.then(|| daily.series(last_days(window.end_date, SERIES_DAYS), usual.as_ref())),
        cached_at: recent.freshness.read_at.into(),
    }
}
