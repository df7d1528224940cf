//! The list of properties with headline metrics. A property that cannot be read never fails the list: its entry states the problem.

use analytics::{
    change::{change, to_api},
    metrics::Metrics,
};
use api::{
    models::Window,
    properties::{
        Headline, PropertyAccessState, PropertyAnswer, PropertyListAnswer, PropertyListMeta, PropertyListParams,
        PropertyMeta, TrackedProperty,
    },
};
use chrono::TimeDelta;
use futures_util::future::{OptionFuture, try_join};
use search_engine::{DataState, LastFinal, Part, Plan, SearchType};
use uuid::Uuid;

use super::{ListedProperty, display_name, reference, visible};
use crate::{
    config::Config,
    error::Error,
    services::{
        analyses::{
            question,
            search_data::{SearchData, SearchSite},
            warnings::data_incidents,
            windows::{last_days, oldest_day},
        },
        patience::{self, PATIENCE},
        users::Member,
    },
};

/// Returns a page of the tracked properties that a person can see, or of those that the person searches for. Each has the metrics of the
/// last `days` final days and of as many days before, if the search engine still keeps them.
pub async fn list(
    search: &SearchData,
    config: &Config,
    member: &Member,
    params: &PropertyListParams,
) -> Result<PropertyListAnswer, Error> {
    let mut listed = visible(&search.db, config, member, search.clock.now()).await?;
    if let Some(text) = &params.search {
        listed = reference::matching(&search.db, member, listed, &text.0).await?;
    }
    let (page, list) = params.paging.page(listed);
    let (data, meta) = entries(search, page, params.headline.days.0).await;
    let (freshness, warnings) = meta.map(|meta| (meta.freshness, meta.warnings)).unzip();
    Ok(PropertyListAnswer { data, meta: PropertyListMeta { list, freshness, warnings: warnings.flatten() } })
}

/// Returns one of the tracked properties that a person can see, as [`list`] does.
pub async fn one(
    search: &SearchData,
    config: &Config,
    member: &Member,
    id: Uuid,
    days: u32,
) -> Result<PropertyAnswer, Error> {
    let visible = visible(&search.db, config, member, search.clock.now()).await?;
    let listed = visible.into_iter().find(|listed| listed.property.id == id).ok_or(Error::NotFound)?;
    let (mut data, meta) = entries(search, vec![listed], days).await;
    Ok(PropertyAnswer { data: data.pop().ok_or(Error::NotFound)?, meta })
}

/// Reads the headlines of properties. The metadata has the freshness of the one whose data ends first.
async fn entries(
    search: &SearchData,
    listed: Vec<ListedProperty>,
    days: u32,
) -> (Vec<TrackedProperty>, Option<PropertyMeta>) {
    let tasks = listed.iter().map(|listed| {
        let (search, listed) = (search.clone(), listed.clone());
        async move { headline(&search, &listed, days).await }
    });
    let found = patience::answers(PATIENCE, tasks.collect::<Vec<_>>()).await;
    let mut fresh = Vec::new();
    let entries = listed.into_iter().zip(found).map(|(listed, found)| {
        let found = found.unwrap_or_else(|| Err(search.unanswered(&listed.account)));
        entry(
            listed,
            found.map(|(headline, freshness)| {
                fresh.push(freshness);
                headline
            }),
        )
    });
    let data: Vec<TrackedProperty> = entries.collect();
    let windows = data.iter().filter_map(|entry| entry.headline.as_ref()).flat_map(windows);
    let incidents = data_incidents(&search.system_annotations, &windows.collect::<Vec<_>>());
    let least = fresh.iter().min_by_key(|found| found.last_final_date);
    let meta = least.map(|found| PropertyMeta {
        freshness: question::freshness(found),
        warnings: (!incidents.is_empty()).then_some(incidents),
    });
    (data, meta)
}

/// Returns the windows that a headline counts.
fn windows(headline: &Headline) -> impl Iterator<Item = Window> {
    let Window { start_date, end_date } = headline.window;
    let days = (end_date - start_date).num_days() + 1;
    let before = headline.previous.is_some().then(|| last_days(start_date - TimeDelta::days(1), days));
    [headline.window].into_iter().chain(before)
}

fn entry(listed: ListedProperty, found: Result<Headline, Error>) -> TrackedProperty {
    let (access, hint, headline) = match found {
        Ok(headline) => (PropertyAccessState::Ok, None, Some(headline)),
        Err(error) => (state(&error), error.hint().map(std::borrow::Cow::into_owned), None),
    };
    let hint = if access == PropertyAccessState::Lost { Some(LOST.to_owned()) } else { hint };
    TrackedProperty {
        id: listed.property.id,
        name: display_name(&listed.property.site_url).to_owned(),
        site_url: listed.property.site_url,
        role: listed.role,
        favorite: listed.favorite,
        hidden: listed.hidden,
        tag_ids: listed.tag_ids,
        access,
        hint,
        headline,
    }
}

const LOST: &str = "The search account no longer has this site; add it again at the search engine, then sync.";

fn state(error: &Error) -> PropertyAccessState {
    match error {
        Error::SubscriptionRequired { .. } => PropertyAccessState::SubscriptionRequired,
        Error::SearchAccountDisconnected(_) => PropertyAccessState::SearchAccountDisconnected,
        Error::NotFound | Error::SearchSiteRefused { .. } => PropertyAccessState::Lost,
        other => {
            tracing::warn!(%other, "a headline is missing");
            PropertyAccessState::SearchEngineUnavailable
        }
    }
}

async fn headline(search: &SearchData, listed: &ListedProperty, days: u32) -> Result<(Headline, LastFinal), Error> {
    let by = listed.responsible.clone();
    if let Some(lack) = listed.lack {
        return Err(Error::SubscriptionRequired { by, lack });
    }
    let site = SearchSite::new(search, &listed.property, listed.account.clone(), by)?;
    let freshness = search.last_final(&site).await?;
    let window = last_days(freshness.last_final_date, days.into());
    let before = last_days(window.start_date - TimeDelta::days(1), days.into());
    let oldest = oldest_day(search.clock.pacific_today());
    let kept = before.start_date >= oldest;
    let previous = OptionFuture::from(kept.then(|| total(search, &site, before)));
    let (current, previous) = try_join(total(search, &site, window), async { previous.await.transpose() }).await?;
    let reason =
        format!("The days before begin on {}, and the search engine has data since {oldest}.", before.start_date);
    let headline = Headline {
        window,
        current: to_api(&current),
        previous: previous.as_ref().map(to_api),
        previous_reason: (!kept).then_some(reason),
        change: previous.as_ref().map(|previous| change(&current, previous)),
    };
    Ok((headline, freshness))
}

async fn total(search: &SearchData, site: &SearchSite, window: Window) -> Result<Metrics, Error> {
    let part = Part {
        dimensions: Vec::new(),
        start: window.start_date,
        end: window.end_date,
        search_type: SearchType::Web,
        aggregation: None,
        data_state: DataState::Final,
        cap: 1,
    };
    let reading = search.read(site, &part, &Plan::everything()).await?;
    Ok(reading.rows.iter().map(|row| row.metrics).sum())
}
