//! Pauses of holders whose requests a provider refused for their rate. Replicas that share Redis tell each other.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use shared::News;

use super::SeoError;

type All = HashMap<String, DateTime<Utc>>;

/// A pause that replicas tell each other of.
#[derive(Serialize, Deserialize)]
struct Pause {
    holder: String,
    until: DateTime<Utc>,
}

/// The pauses of all holders. Clones share them.
#[derive(Clone)]
pub(super) struct Pauses {
    all: Arc<Mutex<All>>,
    news: Option<News>,
}

impl Pauses {
    /// Pauses that are told to other replicas through `news`, and heard of them.
    pub fn sharing(news: Option<News>) -> Self {
        let all: Arc<Mutex<All>> = Arc::default();
        if let Some(news) = &news {
            let heard = Arc::downgrade(&all);
            news.listen(move |pause| {
                let Some(all) = heard.upgrade() else { return false };
                if let Ok(Pause { holder, until }) = serde_json::from_slice(pause) {
                    begin(&mut lock(&all), holder, until);
                }
                true
            });
        }
        Self { all, news }
    }

    /// Leaves the provider alone for a holder until a time.
    pub fn begin(&self, holder: String, until: DateTime<Utc>, now: DateTime<Utc>) {
        let mut all = lock(&self.all);
        all.retain(|_, end| *end > now);
        begin(&mut all, holder.clone(), until);
        drop(all);
        if let Some(news) = &self.news
            && let Ok(pause) = serde_json::to_vec(&Pause { holder, until })
        {
            news.tell(&pause);
        }
    }

    /// Fails while the provider is left alone.
    pub fn check(&self, holder: &str, now: DateTime<Utc>) -> Result<(), SeoError> {
        let until = lock(&self.all).get(holder).copied();
        match until.map(|until| (until - now).num_seconds()) {
            Some(seconds) if seconds > 0 => {
                Err(SeoError::RateLimited { retry_after: u64::try_from(seconds).unwrap_or(1) })
            }
            _ => Ok(()),
        }
    }

    /// Drops the pauses of holders that begin with `start`.
    pub fn forget(&self, start: &str) {
        lock(&self.all).retain(|holder, _| !holder.starts_with(start));
    }
}

/// Begins a pause, unless a longer one is known.
fn begin(all: &mut All, holder: String, until: DateTime<Utc>) {
    let known = all.entry(holder).or_insert(until);
    *known = until.max(*known);
}

fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}
