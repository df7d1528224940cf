//! Reads the recent days of listed properties, as far as they come within the patience of a list.

use std::{cmp::Reverse, sync::Arc, time::Duration};

use search_engine::{Recent, RecentDays};
use tokio::time::{Instant, timeout_at};

use super::ListedProperty;
use crate::{
    error::Error,
    services::analyses::search_data::{SearchData, SearchSite},
};

/// The recent days of a property, or the reason why they are missing.
pub type ReadDays = Result<Arc<RecentDays>, Unread>;

/// The reason why a property's recent days are missing.
#[derive(Debug)]
pub enum Unread {
    /// They wait in this service's own queue, or the search engine has not answered yet.
    StillReading,
    /// They cannot be read.
    Refused(Error),
}

/// The number of properties that are not read, by the reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnreadCounts {
    /// They are still being read.
    pub still_reading: u64,
    /// The search engine refuses them, or is away.
    pub refused: u64,
    /// The owner's plan does not cover them.
    pub locked: u64,
    /// Their search account is disconnected.
    pub disconnected: u64,
}

impl UnreadCounts {
    /// Counts the properties that are not read.
    pub fn of<'a>(read: impl IntoIterator<Item = &'a ReadDays>) -> Self {
        let mut counts = Self::default();
        for unread in read.into_iter().filter_map(|days| days.as_ref().err()) {
            *match unread {
                Unread::StillReading => &mut counts.still_reading,
                Unread::Refused(Error::SubscriptionRequired { .. }) => &mut counts.locked,
                Unread::Refused(Error::SearchAccountDisconnected(_)) => &mut counts.disconnected,
                Unread::Refused(_) => &mut counts.refused,
            } += 1;
        }
        counts
    }
}

/// Returns the recent days of each property, `span` days up to today. Starts to read those that are not kept: favourites first, then what
/// was read longest ago. Waits for at most `patience`; reading goes on.
pub async fn read(search: &SearchData, listed: &[ListedProperty], span: u32, patience: Duration) -> Vec<ReadDays> {
    let deadline = Instant::now() + patience;
    let sites: Vec<Result<SearchSite, Error>> = listed.iter().map(|listed| site(search, listed)).collect();
    let mut order: Vec<usize> = (0..listed.len()).collect();
    order.sort_by_cached_key(|at| {
        let kept = sites[*at].as_ref().ok().and_then(|site| search.kept_recent(site, span));
        (Reverse(listed[*at].favorite), kept.map(|kept| kept.freshness.read_at))
    });
    let mut started: Vec<Option<Recent>> = listed.iter().map(|_| None).collect();
    for at in order {
        started[at] = sites[at].as_ref().ok().map(|site| search.recent(site, span));
    }
    let mut read = Vec::with_capacity(listed.len());
    for ((listed, site), started) in listed.iter().zip(sites).zip(started) {
        read.push(match (site, started) {
            (Ok(site), Some(started)) => awaited(search, listed, &site, started, deadline).await,
            (Err(error), _) => Err(Unread::Refused(error)),
            (Ok(_), None) => Err(Unread::StillReading),
        });
    }
    read
}

async fn awaited(
    search: &SearchData,
    listed: &ListedProperty,
    site: &SearchSite,
    started: Recent,
    deadline: Instant,
) -> ReadDays {
    match timeout_at(deadline, search.waiting.announced(started.read())).await {
        Ok(Ok(days)) => Ok(days),
        Ok(Err(error)) => Err(Unread::Refused(search.explain(site, error.into()).await)),
        Err(_) if search.reader.engine().trouble(listed.account.id).is_some() => {
            Err(Unread::Refused(search.unanswered(&listed.account)))
        }
        Err(_) => Err(Unread::StillReading),
    }
}

/// Returns the site of a property, if its owner's plan and search account open it.
pub fn site(search: &SearchData, listed: &ListedProperty) -> Result<SearchSite, Error> {
    let by = listed.responsible.clone();
    match listed.lack {
        Some(lack) => Err(Error::SubscriptionRequired { by, lack }),
        None => SearchSite::new(search, &listed.property, listed.account.clone(), by),
    }
}
