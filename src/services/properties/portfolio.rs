//! Sums over the properties of a person.

use std::{cmp::Reverse, sync::Arc};

use analytics::change::{change, to_api};
use api::{
    models::{Comparison, Window},
    properties::{
        CoveredProperty, LateProperty, Movers, Portfolio, PortfolioAnswer, PortfolioCoverage, PortfolioMeta,
        PortfolioParams, PortfolioProperty, TagSum,
    },
};
use chrono::{NaiveDate, TimeDelta};
use common::{metrics::Metrics, names::sites};
use entity::tag;
use sea_orm::QueryOrder as _;
use search_engine::{RecentDays, UNSETTLED_DAYS, headline_span};
use uuid::Uuid;

use super::{
    ListedProperty,
    daily::Daily,
    overlap::covered_by,
    recent::{self, UnreadCounts},
    reference, visible,
};
use crate::{
    config::Config,
    error::Error,
    services::{
        analyses::{
            question,
            search_data::SearchData,
            warnings::data_incidents,
            windows::{last_days, named, oldest_day},
        },
        patience::TIMEOUT,
        users::Member,
    },
};

/// A property whose data ends more than this many days before the newest is left out.
const LATE_AFTER: TimeDelta = TimeDelta::days(7);

/// A property with its recent days.
struct ReadProperty {
    listed: ListedProperty,
    /// Its name among those of the portfolio.
    name: String,
    recent: Arc<RecentDays>,
}

impl ReadProperty {
    fn last_final(&self) -> NaiveDate {
        self.recent.freshness.last_final_date
    }

    fn total(&self, window: Window) -> Metrics {
        self.recent.total(window.start_date..=window.end_date)
    }
}

/// The windows of the sums.
#[derive(Clone, Copy)]
struct Windows {
    current: Window,
    previous: Window,
}

/// Returns the sums over the properties that a person can see and the filter leaves.
///
/// # Errors
/// The search engine does not keep the window to compare with.
pub async fn read(
    search: &SearchData,
    config: &Config,
    member: &Member,
    params: &PortfolioParams,
) -> Result<PortfolioAnswer, Error> {
    let listed = visible(&search.db, config, member, search.clock.now()).await?;
    let listed = reference::filtered(&search.db, member, listed, &params.filter).await?;
    let tags = tag::Entity::of_user(member.user.id)
        .order_by_asc(tag::Column::Position)
        .order_by_asc(tag::Column::NameKey)
        .all(&search.db)
        .await?;
    let (hidden, shown): (Vec<_>, Vec<_>) = listed.into_iter().partition(|listed| listed.hidden);
    let days = i64::from(params.days.0);
    let mut span = span(params, search.clock.pacific_today());
    let mut sorted = Sorted::read(search, shown.clone(), span).await;
    let windows = sorted.windows(search, params, days)?;
    // Final data may end so early that the days before the window are not read yet.
    if let Some(windows) = windows
        && sorted.summed.iter().any(|one| !one.recent.covers(windows.previous.start_date))
    {
        span = span.max(days_since(windows.previous, search.clock.pacific_today()));
        sorted = Sorted::read(search, shown, span).await;
    }
    let windows = sorted.windows(search, params, days)?;
    Ok(sorted.answer(search, windows, &tags, hidden.len(), params))
}

/// Returns the number of days to read, so that the comparison is covered if final data ends as usual.
fn span(params: &PortfolioParams, today: NaiveDate) -> u32 {
    let latest = last_days(today - TimeDelta::days(UNSETTLED_DAYS.into()), params.days.0.into());
    let previous = params.compare.before(latest).filter(|previous| previous.start_date >= oldest_day(today));
    previous.map_or(0, |previous| days_since(previous, today)).max(headline_span(params.days.0))
}

/// Returns the number of days from the first one of `window` to today.
fn days_since(window: Window, today: NaiveDate) -> u32 {
    Window { end_date: today, ..window }.length()
}

/// The properties of a portfolio, by what became of them.
#[derive(Default)]
struct Sorted {
    summed: Vec<ReadProperty>,
    /// Properties with the one in `summed` that covers each.
    covered: Vec<(ReadProperty, Uuid)>,
    late: Vec<ReadProperty>,
    unread: UnreadCounts,
}

impl Sorted {
    async fn read(search: &SearchData, listed: Vec<ListedProperty>, span: u32) -> Self {
        let days = recent::read(search, &listed, span, TIMEOUT).await;
        let addresses: Vec<&str> = listed.iter().map(|listed| listed.property.site_url.as_str()).collect();
        let names = sites::among(&addresses);
        let mut sorted = Self { unread: UnreadCounts::of(&days), ..Self::default() };
        let read = listed.into_iter().zip(days).zip(names);
        let read = read.filter_map(|((listed, days), name)| Some((listed, name.to_string(), days.ok()?)));
        let read: Vec<ReadProperty> =
            read.map(|(listed, name, recent)| ReadProperty { listed, name, recent }).collect();
        let newest = read.iter().map(ReadProperty::last_final).max();
        let is_late = |one: &ReadProperty| newest.is_some_and(|newest| newest - one.last_final() > LATE_AFTER);
        let (late, current): (Vec<_>, Vec<_>) = read.into_iter().partition(is_late);
        sorted.late = late;
        let covering = covering(&current);
        let ids: Vec<Uuid> = current.iter().map(|one| one.listed.property.id).collect();
        for (one, by) in current.into_iter().zip(covering) {
            match by {
                Some(by) => sorted.covered.push((one, ids[by])),
                None => sorted.summed.push(one),
            }
        }
        sorted
    }

    /// The windows of the sums: the last days that all properties in them have. `None` without any property.
    fn windows(&self, search: &SearchData, params: &PortfolioParams, days: i64) -> Result<Option<Windows>, Error> {
        let Some(end) = self.summed.iter().map(ReadProperty::last_final).min() else { return Ok(None) };
        let current = last_days(end, days);
        let comparison = Comparison { compare: Some(params.compare), ..Comparison::default() };
        let previous = named(&comparison, current, search.clock.pacific_today())?;
        Ok(previous.map(|previous| Windows { current, previous }))
    }

    fn answer(
        self,
        search: &SearchData,
        windows: Option<Windows>,
        tags: &[tag::Model],
        hidden: usize,
        params: &PortfolioParams,
    ) -> PortfolioAnswer {
        let least = self.summed.iter().map(|one| one.recent.freshness).min_by_key(|found| found.last_final_date);
        let read_at = self.summed.iter().map(|one| one.recent.freshness.read_at).min();
        let asked: Vec<Window> = windows.iter().flat_map(|windows| [windows.current, windows.previous]).collect();
        let incidents = data_incidents(&search.system_annotations, &asked);
        let meta = PortfolioMeta {
            window: windows.map(|windows| windows.current),
            compare_window: windows.map(|windows| windows.previous),
            coverage: self.coverage(windows, hidden),
            overlaps: self.covered.iter().map(|(one, by)| covered(one, *by)).collect(),
            late: self.late.iter().map(late).collect(),
            freshness: least.as_ref().map(question::freshness),
            cached_at: read_at.map(Into::into),
            warnings: (!incidents.is_empty()).then_some(incidents),
        };
        PortfolioAnswer { data: self.sums(search, windows, tags, params), meta }
    }

    fn sums(
        &self,
        search: &SearchData,
        windows: Option<Windows>,
        tags: &[tag::Model],
        params: &PortfolioParams,
    ) -> Portfolio {
        let all: Vec<&ReadProperty> = self.summed.iter().collect();
        let Some(windows) = windows else { return nothing(params) };
        let (totals, previous) = totals(&all, windows);
        let daily = Daily::of(all.iter().map(|one| &*one.recent));
        let usual = params.usual.then(|| daily.usual(search, windows.current));
        Portfolio {
            totals: Some(to_api(&totals)),
            previous: Some(to_api(&previous)),
            change: Some(change(&totals, &previous)),
            series: params.series.then(|| daily.series(windows.current, usual.as_ref())),
            previous_series: params.series.then(|| daily.series(windows.previous, None)),
            unusual: usual.as_ref().and_then(|usual| daily.unusual(windows.current, usual)),
            movers: movers(&all, windows, params.movers.0 as usize),
            tags: tags.iter().filter_map(|tag| self.tag_sum(tag, windows)).collect(),
        }
    }

    /// Returns the sum of the properties with a tag. Covered ones count if none of those that cover them has the tag.
    fn tag_sum(&self, tag: &tag::Model, windows: Windows) -> Option<TagSum> {
        let current = self.summed.iter().chain(self.covered.iter().map(|(one, _)| one));
        let tagged: Vec<&ReadProperty> = current.filter(|one| one.listed.tag_ids.contains(&tag.id)).collect();
        let sites: Vec<&str> = tagged.iter().map(|one| one.listed.property.site_url.as_str()).collect();
        let counted: Vec<&ReadProperty> =
            tagged.iter().zip(covered_by(&sites)).filter(|(_, by)| by.is_none()).map(|(one, _)| *one).collect();
        let (current, previous) = totals(&counted, windows);
        (!counted.is_empty()).then(|| TagSum {
            tag_id: tag.id,
            name: tag.name.clone(),
            properties: counted.len() as u64,
            current: to_api(&current),
            previous: to_api(&previous),
            change: change(&current, &previous),
        })
    }

    fn coverage(&self, windows: Option<Windows>, hidden: usize) -> PortfolioCoverage {
        let clicks = |properties: &[ReadProperty], window| -> f64 {
            properties.iter().map(|one| one.total(window).clicks).sum()
        };
        let share = |window| {
            let (summed, late) = (clicks(&self.summed, window), clicks(&self.late, window));
            (summed + late > 0.0).then(|| summed / (summed + late))
        };
        let UnreadCounts { still_reading, refused, locked, disconnected } = self.unread;
        PortfolioCoverage {
            in_sum: self.summed.len() as u64,
            covered: self.covered.len() as u64,
            late: self.late.len() as u64,
            still_reading,
            refused,
            locked,
            disconnected,
            hidden: hidden as u64,
            clicks_share: windows.filter(|_| still_reading == 0).and_then(|windows| share(windows.current)),
        }
    }
}

/// The answer without a property in the sums. What is not counted is null.
fn nothing(params: &PortfolioParams) -> Portfolio {
    Portfolio {
        totals: None,
        previous: None,
        change: None,
        series: params.series.then(Vec::new),
        previous_series: params.series.then(Vec::new),
        unusual: None,
        movers: Movers { up: Vec::new(), down: Vec::new() },
        tags: Vec::new(),
    }
}

/// For each property, returns the index of the one that covers it.
fn covering(read: &[ReadProperty]) -> Vec<Option<usize>> {
    let sites: Vec<&str> = read.iter().map(|one| one.listed.property.site_url.as_str()).collect();
    covered_by(&sites)
}

fn totals(properties: &[&ReadProperty], windows: Windows) -> (Metrics, Metrics) {
    let sum = |window| properties.iter().map(|one| one.total(window)).sum();
    (sum(windows.current), sum(windows.previous))
}

fn movers(properties: &[&ReadProperty], windows: Windows, most: usize) -> Movers {
    let moved = properties.iter().map(|one| {
        let (current, previous) = (one.total(windows.current), one.total(windows.previous));
        PortfolioProperty {
            id: one.listed.property.id,
            name: one.name.clone(),
            current: to_api(&current),
            previous: to_api(&previous),
            change: change(&current, &previous),
        }
    });
    let clicks = |one: &PortfolioProperty| one.change.clicks.absolute.unwrap_or_default();
    let (mut up, rest): (Vec<_>, Vec<_>) = moved.partition(|one| clicks(one) > 0);
    let mut down: Vec<_> = rest.into_iter().filter(|one| clicks(one) < 0).collect();
    up.sort_by_cached_key(|one| (Reverse(clicks(one)), one.name.clone(), one.id));
    down.sort_by_cached_key(|one| (clicks(one), one.name.clone(), one.id));
    up.truncate(most);
    down.truncate(most);
    Movers { up, down }
}

fn covered(one: &ReadProperty, covered_by: Uuid) -> CoveredProperty {
    CoveredProperty { id: one.listed.property.id, name: one.name.clone(), covered_by }
}

fn late(one: &ReadProperty) -> LateProperty {
    LateProperty { id: one.listed.property.id, name: one.name.clone(), last_final_date: one.last_final() }
}
