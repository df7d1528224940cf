//! Rate limits of callers, counted by all replicas together where they share Redis.
//!
//! This process always counts, too. Its count decides while Redis is away: then each replica allows a caller the whole rate, and none
//! allows more.

use std::sync::{Arc, Mutex, PoisonError};

use common::{
    clock::Clock,
    rate_limit::{LimitState, Rate, RateLimits},
};

/// The counters of all callers.
#[derive(Clone)]
pub struct CallerLimits {
    own: Arc<RateLimits>,
    shared: Option<replicas::Limits>,
}

impl CallerLimits {
    /// Creates the counters.
    #[must_use]
    pub fn new(clock: Clock, shared: Option<replicas::Limits>) -> Self {
        Self { own: Arc::new(RateLimits::new(clock)), shared }
    }

    /// Counts one request of `key`.
    pub async fn count(&self, key: &str, rate: Rate) -> LimitState {
        let own = self.own.count(key, rate);
        let counted = match &self.shared {
            Some(shared) => shared.count(key, rate.interval(), rate.burst()).await,
            None => None,
        };
        let standing = counted.map_or(own, |all| LimitState::of(rate, all.now, all.full_at, all.wait));
        let retry_after = standing.retry_after.map(|soonest| self.own.spread(key, rate, soonest));
        LimitState { retry_after, ..standing }
    }

    /// Returns what this process knows of the remaining requests of `key`, and counts nothing.
    #[must_use]
    pub fn look(&self, key: &str, rate: Rate) -> LimitState {
        self.own.look(key, rate)
    }

    /// The counters of this process.
    #[must_use]
    pub fn own(&self) -> &RateLimits {
        &self.own
    }
}

impl std::fmt::Debug for CallerLimits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallerLimits")
    }
}

/// A count that is made later, if at all. The layer that finds the limit notes it, and the page counts it once it waits for the search engine.
#[derive(Debug, Clone, Default)]
pub struct LaterCount(Arc<Mutex<Option<(String, Rate)>>>);

impl LaterCount {
    /// Notes the caller and the rate that the request counts for.
    pub fn note(&self, key: String, rate: Rate) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, rate));
    }

    /// Counts the request once. `None` if there is nothing to count, or nothing left.
    pub async fn count(&self, limits: &CallerLimits) -> Option<LimitState> {
        let noted = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (key, rate) = noted?;
        Some(limits.count(&key, rate).await)
    }
}
