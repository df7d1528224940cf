//! Pauses of holders whose requests a provider refused for their rate. Replicas that share Redis tell each other.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use shared::News;

use super::SeoError;

type All = HashMap<String, Pause>;

/// A pause that replicas tell each other of.
#[derive(Serialize, Deserialize)]
struct Pause {
    holder: String,
    /// The time of the refusal. Absent from a replica of an earlier version.
    #[serde(default)]
    since: DateTime<Utc>,
    until: DateTime<Utc>,
}

impl Pause {
    /// Returns whether it lasts. One that begins later is from before the clock was set back.
    fn lasts(&self, now: DateTime<Utc>) -> bool {
        self.since <= now && now < self.until
    }
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
                if let Ok(pause) = serde_json::from_slice(pause) {
                    begin(&mut lock(&all), pause);
                }
                true
            });
        }
        Self { all, news }
    }

    /// Leaves the provider alone for a holder until a time.
    pub fn begin(&self, holder: String, until: DateTime<Utc>, now: DateTime<Utc>) {
        let pause = Pause { holder, since: now, until };
        if let Some(news) = &self.news
            && let Ok(pause) = serde_json::to_vec(&pause)
        {
            news.tell(&pause);
        }
        let mut all = lock(&self.all);
        all.retain(|_, known| known.lasts(now));
        begin(&mut all, pause);
    }

    /// Fails while the provider is left alone.
    pub fn check(&self, holder: &str, now: DateTime<Utc>) -> Result<(), SeoError> {
        let all = lock(&self.all);
        let left = all.get(holder).filter(|pause| pause.lasts(now)).map(|pause| (pause.until - now).num_seconds());
        match left {
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
fn begin(all: &mut All, pause: Pause) {
    if all.get(&pause.holder).is_none_or(|known| known.until < pause.until) {
        all.insert(pause.holder.clone(), pause);
    }
}

fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}
