//! How fast one site is asked: requests in flight, and a bucket that refills. Bursts hit the search engine's per-second
//! quota long before its documented per-minute one.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
    state::{InMemoryState, NotKeyed},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::wire::SiteUrl;

/// The settings of one site's pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Requests in flight at once.
    pub max_in_flight: u32,
    /// Requests that may start in one burst.
    pub bucket: u32,
    /// Requests a second at which the bucket refills.
    pub refill_per_second: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self { max_in_flight: 16, bucket: 20, refill_per_second: 10 }
    }
}

struct Lane {
    in_flight: Arc<Semaphore>,
    bucket: RateLimiter<NotKeyed, InMemoryState, DefaultClock>,
}

/// One lane per site.
pub struct Pacer {
    pace: Pace,
    lanes: Mutex<HashMap<SiteUrl, Arc<Lane>>>,
}

impl Pacer {
    /// No site has been asked yet.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        Self { pace, lanes: Mutex::default() }
    }

    /// Waits until a request about `site` may start; it is in flight as long as the permit lives.
    pub async fn start(&self, site: &SiteUrl) -> Option<OwnedSemaphorePermit> {
        let lane = self.lane(site);
        let permit = lane.in_flight.clone().acquire_owned().await.ok()?;
        while let Err(not_until) = lane.bucket.check() {
            tokio::time::sleep(not_until.wait_time_from(DefaultClock::default().now())).await;
        }
        Some(permit)
    }

    fn lane(&self, site: &SiteUrl) -> Arc<Lane> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = lanes.get(site) {
            return lane.clone();
        }
        let at_least_one = |n: u32| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
        let quota =
            Quota::per_second(at_least_one(self.pace.refill_per_second)).allow_burst(at_least_one(self.pace.bucket));
        let lane = Arc::new(Lane {
            in_flight: Arc::new(Semaphore::new(self.pace.max_in_flight.max(1) as usize)),
            bucket: RateLimiter::direct(quota),
        });
        lanes.insert(site.clone(), lane.clone());
        lane
    }
}
