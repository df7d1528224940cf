//! The list of properties with headline metrics. A property that cannot be read never fails the list: its entry states the problem.

use api::{
    models::{Role, Window},
    properties::{Headline, PropertyAccessState, TrackedProperty},
};
use chrono::TimeDelta;
use futures_util::future::{OptionFuture, join_all, try_join};

use super::{Listed, display_name, visible};
use crate::{
    analytics::{change::to_api, metrics::Metrics},
    config::Config,
    error::Error,
    search_engine::{DataState, Part, Plan, SearchType},
    services::{
        analyses::{
            search_data::{SearchData, SearchSite},
            windows::{last_days, oldest_day},
        },
        users::Member,
    },
};

/// Returns the tracked properties that a person can see. Each has the metrics of the last `days` final days and of as many days
/// before, if the search engine still keeps them.
pub async fn list(
    search: &SearchData,
    config: &Config,
    member: &Member,
    days: u32,
) -> Result<Vec<TrackedProperty>, Error> {
    let listed = visible(&search.db, config, member, search.clock.now()).await?;
    Ok(join_all(listed.into_iter().map(|listed| entry(search, listed, days))).await)
}

async fn entry(search: &SearchData, listed: Listed, days: u32) -> TrackedProperty {
    let found = headline(search, &listed, days).await;
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

async fn headline(search: &SearchData, listed: &Listed, days: u32) -> Result<Headline, Error> {
    let owner_must = listed.role != Role::Owner;
    if let Some(lack) = listed.lack {
        return Err(Error::SubscriptionRequired { owner_must, lack });
    }
    let site = SearchSite::new(search, &listed.property, listed.account.clone(), owner_must)?;
    let last = search.last_final(&site).await?.last_final_date;
    let window = last_days(last, days.into());
    let before = last_days(window.start_date - TimeDelta::days(1), days.into());
    let kept = before.start_date >= oldest_day(search.clock.pacific_today());
    let previous = OptionFuture::from(kept.then(|| total(search, &site, before)));
    let (current, previous) = try_join(total(search, &site, window), async { previous.await.transpose() }).await?;
    Ok(Headline { window, current: to_api(&current), previous: previous.as_ref().map(to_api) })
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
