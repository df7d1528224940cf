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

/// On whose behalf a site is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The owner's, the team's and the service's own: the whole pace.
    Own,
    /// That of readers of share links, who may be anyone: a part of the pace, so that the rest is always left to the owner.
    Shared,
}

/// Readers of share links together have one in so many of the requests in flight. A part as small as this still answers a
/// dashboard in three rounds.
const SHARED_IN_FLIGHT: u32 = 4;

/// They have one in so many of the requests a second and of the burst. It is more than their part of those in flight, because it
/// binds only where answers come fast.
const SHARED_RATE: u32 = 2;

/// So many requests at once, and so many a second.
struct Gate {
    in_flight: Arc<Semaphore>,
    bucket: RateLimiter<NotKeyed, InMemoryState, DefaultClock>,
}

impl Gate {
    fn new(pace: Pace) -> Self {
        let at_least_one = |n: u32| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
        let quota = Quota::per_second(at_least_one(pace.refill_per_second)).allow_burst(at_least_one(pace.bucket));
        Self {
            in_flight: Arc::new(Semaphore::new(pace.max_in_flight.max(1) as usize)),
            bucket: RateLimiter::direct(quota),
        }
    }

    async fn pass(&self) -> Option<OwnedSemaphorePermit> {
        let permit = self.in_flight.clone().acquire_owned().await.ok()?;
        while let Err(not_until) = self.bucket.check() {
            tokio::time::sleep(not_until.wait_time_from(DefaultClock::default().now())).await;
        }
        Some(permit)
    }
}

/// The gates of one site. Readers of share links pass their own first, and then that of all.
struct Site {
    all: Gate,
    shared: Gate,
}

/// A request in flight, until it is dropped.
pub struct Permit {
    _all: Option<OwnedSemaphorePermit>,
    _shared: Option<OwnedSemaphorePermit>,
}

/// The pace of each site.
pub struct Pacer {
    pace: Pace,
    sites: Mutex<HashMap<SiteUrl, Arc<Site>>>,
}

impl Pacer {
    /// No site has been asked yet.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        Self { pace, sites: Mutex::default() }
    }

    /// Waits until a request about `site` may start; it is in flight as long as the permit lives.
    pub async fn start(&self, site: &SiteUrl, lane: Lane) -> Permit {
        let site = self.site(site);
        let shared = match lane {
            Lane::Own => None,
            Lane::Shared => site.shared.pass().await,
        };
        Permit { _all: site.all.pass().await, _shared: shared }
    }

    fn site(&self, site: &SiteUrl) -> Arc<Site> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = sites.get(site) {
            return site.clone();
        }
        let Pace { max_in_flight, bucket, refill_per_second } = self.pace;
        let part = Pace {
            max_in_flight: max_in_flight / SHARED_IN_FLIGHT,
            bucket: bucket / SHARED_RATE,
            refill_per_second: refill_per_second / SHARED_RATE,
        };
        let made = Arc::new(Site { all: Gate::new(self.pace), shared: Gate::new(part) });
        sites.insert(site.clone(), made.clone());
        made
    }
}
