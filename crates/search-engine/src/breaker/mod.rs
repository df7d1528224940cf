//! The breakers of a host of the search engine: one for all of its requests, and one for each site that fails alone (docs/design/search-engine.md).

mod one;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use common::clock::{Clock, Moment};
use tokio::{sync::watch, time::timeout};

use self::one::{Admission, Breaker, FIRST_PAUSE};
use super::wire::SiteUrl;

/// The breaker of the host opens only if so many sites fail, so a site that fails alone shuts itself alone.
const SITES_OF_HOST: usize = 3;

/// The most sites with a breaker of their own. Beyond, all of them are closed.
const MOST_SITES: usize = 10_000;

/// The breakers of a host.
#[derive(Clone)]
pub struct Breakers {
    /// The host, for the log.
    name: &'static str,
    state: Arc<Mutex<State>>,
    /// Tells that a breaker has opened or closed, or that a probe has ended.
    changes: Arc<watch::Sender<()>>,
    clock: Clock,
    /// The time for which a request waits for the outcome of a probe.
    patience: Duration,
}

/// The breakers. Time is an argument.
struct State {
    host: Breaker,
    /// The sites whose last request failed.
    sites: HashMap<SiteUrl, Breaker>,
}

/// The probes that a request is.
#[derive(Clone, Copy)]
struct Probes {
    host: bool,
    site: bool,
}

/// A request that may be sent. Dropping it without [`Self::note`] means that its outcome is not known.
pub struct Pass {
    breakers: Breakers,
    site: Option<SiteUrl>,
    probes: Probes,
}

impl Breakers {
    /// Closed breakers. `name` is the name of the host in the log, and `patience` is the time for which a request waits for the outcome of a
    /// probe.
    pub fn new(name: &'static str, clock: Clock, patience: Duration) -> Self {
        let state = State { host: Breaker::of(SITES_OF_HOST), sites: HashMap::new() };
        Self { name, state: Arc::new(Mutex::new(state)), changes: Arc::default(), clock, patience }
    }

    /// Returns when a request may be sent. Waits for the outcome of a probe that is under way.
    ///
    /// # Errors
    /// The time until the next probe, if the request may not be sent.
    pub async fn pass(&self, site: Option<&SiteUrl>) -> Result<Pass, Duration> {
        let mut changes = self.changes.subscribe();
        let passes = async {
            loop {
                match self.with(|state, now| state.admit(site, now)) {
                    Ok(probes) => return Ok(Pass { breakers: self.clone(), site: site.cloned(), probes }),
                    Err(Admission::Refused(wait)) => return Err(wait),
                    Err(_) => drop(changes.changed().await),
                }
            }
        };
        let undecided = Err(FIRST_PAUSE.to_std().unwrap_or_default());
        timeout(self.patience, passes).await.unwrap_or(undecided)
    }

    /// Returns the time until the next probe as soon as requests are refused.
    pub async fn refusal(&self, site: Option<&SiteUrl>) -> Duration {
        let mut changes = self.changes.subscribe();
        loop {
            if let Admission::Refused(wait) = self.with(|state, now| state.admission(site, now)) {
                return wait;
            }
            // Cannot fail while `self` is there.
            drop(changes.changed().await);
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut State, Moment) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        act(&mut state, self.clock.moment())
    }

    fn answered(&self, site: Option<&SiteUrl>) {
        if self.with(|state, _| state.answered(site)) {
            tracing::info!(
                host = self.name,
                site = site.map(tracing::field::display),
                "the search engine answers again"
            );
            self.changes.send_replace(());
        }
    }

    fn failed(&self, site: Option<&SiteUrl>, probes: Probes) {
        let (of_host, of_site) = self.with(|state, now| state.failed(site, probes, now));
        let name = self.name;
        if let Some(seconds) = of_host {
            tracing::warn!(host = name, seconds, "the search engine fails, so it is not asked for a while");
        } else if let (Some(seconds), Some(site)) = (of_site, site) {
            tracing::warn!(host = name, %site, seconds, "the search engine fails for a site, so it is not asked about it for a while");
        }
        if of_host.or(of_site).is_some() {
            self.changes.send_replace(());
        }
    }
}

impl State {
    fn admission(&self, site: Option<&SiteUrl>, now: Moment) -> Admission {
        let own = site.and_then(|site| self.sites.get(site)).map(|breaker| breaker.admission(now));
        own.max(Some(self.host.admission(now))).unwrap_or(Admission::Sent)
    }

    /// Lets a request be sent, and notes of which breakers it is the probe.
    fn admit(&mut self, site: Option<&SiteUrl>, now: Moment) -> Result<Probes, Admission> {
        let admission = self.admission(site, now);
        if admission > Admission::Probe {
            return Err(admission);
        }
        let probe = |breaker: &mut Breaker| {
            let probes = breaker.admission(now) == Admission::Probe;
            if probes {
                breaker.begin_probe();
            }
            probes
        };
        let own = site.and_then(|site| self.sites.get_mut(site));
        Ok(Probes { site: own.is_some_and(probe), host: probe(&mut self.host) })
    }

    /// Returns true if that closed a breaker.
    fn answered(&mut self, site: Option<&SiteUrl>) -> bool {
        let own = site.and_then(|site| self.sites.remove(site));
        let closed = own.is_some_and(|mut own| own.answered());
        if self.host.answered() {
            // They failed with the host.
            self.sites.clear();
            return true;
        }
        closed
    }

    /// Returns the seconds for which the breakers of the host and of the site are open from now on.
    fn failed(&mut self, site: Option<&SiteUrl>, probes: Probes, now: Moment) -> (Option<i64>, Option<i64>) {
        let of_host = self.host.failed(probes.host, site, now);
        if self.sites.len() >= MOST_SITES {
            self.sites.clear();
        }
        let of_site = site.and_then(|site| {
            let own = self.sites.entry(site.clone()).or_insert_with(|| Breaker::of(1));
            own.failed(probes.site, Some(site), now)
        });
        (of_host.map(|pause| pause.num_seconds()), of_site.map(|pause| pause.num_seconds()))
    }

    fn end(&mut self, site: Option<&SiteUrl>, probes: Probes, now: Moment) {
        if probes.host {
            self.host.end_probe(now);
        }
        if let Some(own) = site.filter(|_| probes.site).and_then(|site| self.sites.get_mut(site)) {
            own.end_probe(now);
        }
    }
}

impl Pass {
    /// Notes the outcome: a failure of the search engine, or an answer.
    pub fn note(mut self, failed: bool) {
        let (site, probes) =
            (self.site.take(), std::mem::replace(&mut self.probes, Probes { host: false, site: false }));
        if failed {
            self.breakers.failed(site.as_ref(), probes);
        } else {
            self.breakers.answered(site.as_ref());
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        if self.probes.host || self.probes.site {
            self.breakers.with(|state, now| state.end(self.site.as_ref(), self.probes, now));
            self.breakers.changes.send_replace(());
        }
    }
}
