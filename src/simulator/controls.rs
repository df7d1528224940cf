//! Knobs and counters of a running simulator, for tests and demonstrations.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::fault::{Fault, FaultKind};
use super::settings::Settings;
use super::world::rng::{child, unit};

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// The list of sites.
    Sites,
    /// One site.
    Site,
    /// Search analytics.
    Query,
    /// The authorization page.
    Authorize,
    /// The token endpoint.
    Token,
    /// The revocation endpoint.
    Revoke,
    /// The account's profile.
    Userinfo,
    /// Anything else.
    Unknown,
}

/// Changes a running simulator and counts what it served.
#[derive(Debug)]
pub struct Controls {
    seed: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    latency: Duration,
    faults: Vec<Fault>,
    withheld: Vec<String>,
    requests: HashMap<Endpoint, u64>,
    draws: HashMap<FaultKind, u64>,
}

impl Controls {
    pub(super) fn new(settings: &Settings) -> Self {
        let state = State { latency: settings.latency, faults: settings.faults.clone(), ..State::default() };
        Self { seed: settings.seed, state: Mutex::new(state) }
    }

    /// Holds every answer back by `latency` from now on.
    pub fn set_latency(&self, latency: Duration) {
        self.state().latency = latency;
    }

    /// Makes exactly this trouble from now on. The draws of each kind start anew, so that the same faults hit the same requests.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        let mut state = self.state();
        state.faults = faults;
        state.draws.clear();
    }

    /// Leaves these scopes out of grants made from now on, as if the person had unticked them.
    pub fn withhold_scopes(&self, scopes: Vec<String>) {
        self.state().withheld = scopes;
    }

    /// How many requests to `endpoint` were served since the start or [`Self::reset`].
    #[must_use]
    pub fn requests(&self, endpoint: Endpoint) -> u64 {
        self.state().requests.get(&endpoint).copied().unwrap_or_default()
    }

    /// No latency, no faults, nothing withheld, all counts zero.
    pub fn reset(&self) {
        *self.state() = State::default();
    }

    pub(super) fn latency(&self) -> Duration {
        self.state().latency
    }

    pub(super) fn withholds(&self, scope: &str) -> bool {
        self.state().withheld.iter().any(|withheld| withheld == scope)
    }

    pub(super) fn count(&self, endpoint: Endpoint) {
        *self.state().requests.entry(endpoint).or_default() += 1;
    }

    /// Whether trouble of `kind` befalls the next request. The n-th draw of a kind depends on the seed and n alone.
    pub(super) fn strikes(&self, kind: FaultKind) -> bool {
        let mut state = self.state();
        let Some(rate) = state.faults.iter().find(|fault| fault.kind == kind).map(|fault| fault.rate) else {
            return false;
        };
        let draw = state.draws.entry(kind).or_default();
        *draw += 1;
        unit(child(child(self.seed, kind as u64), *draw)) < rate
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
