//! Knobs and counters of a running simulator, for tests and demonstrations.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

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
    /// Queries whose body contains this text wait.
    hold: watch::Sender<Option<String>>,
    /// Queries that wait.
    held: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    latency: Duration,
    faults: Vec<Fault>,
    withheld: Vec<String>,
    requests: HashMap<Endpoint, u64>,
    draws: HashMap<FaultKind, u64>,
}

/// A query that is held, until it is answered or whoever asked has left.
struct Held<'a>(&'a watch::Sender<usize>);

impl<'a> Held<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|held| *held += 1);
        Self(count)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|held| *held -= 1);
    }
}

impl Controls {
    pub(super) fn new(settings: &Settings) -> Self {
        let state = State { latency: settings.latency, faults: settings.faults.clone(), ..State::default() };
        Self {
            seed: settings.seed,
            state: Mutex::new(state),
            hold: watch::Sender::default(),
            held: watch::Sender::default(),
        }
    }

    /// Holds queries whose body contains `text`, until [`Self::release`].
    pub fn hold(&self, text: &str) {
        self.hold.send_replace(Some(text.to_owned()));
    }

    /// Answers the queries that were held, and holds no more.
    pub fn release(&self) {
        self.hold.send_replace(None);
    }

    /// How many queries are held.
    #[must_use]
    pub fn held(&self) -> usize {
        *self.held.borrow()
    }

    /// Waits until `count` queries are held at once.
    pub async fn wait_until_held(&self, count: usize) {
        let _ = self.held.subscribe().wait_for(|held| *held >= count).await;
    }

    /// Returns once a query with this body may be answered.
    pub(super) async fn pass(&self, body: &[u8]) {
        let body = String::from_utf8_lossy(body);
        let free = |text: &Option<String>| !text.as_ref().is_some_and(|text| body.contains(text));
        if !free(&self.hold.borrow()) {
            let _held = Held::new(&self.held);
            let _ = self.hold.subscribe().wait_for(free).await;
        }
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

    /// No latency, no faults, nothing withheld or held, all counts zero.
    pub fn reset(&self) {
        self.release();
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
