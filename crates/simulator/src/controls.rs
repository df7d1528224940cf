//! Controls and request counters of a running simulator, for tests and demonstrations.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::fault::{Fault, FaultKind};
use super::providers::calls::{ProviderA, ProviderB};
use super::settings::Settings;
use super::world::rng::{child, unit};

/// The endpoint that a request addresses.
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
    /// The page of granted permissions.
    Permissions,
    /// The token endpoint.
    Token,
    /// The revocation endpoint.
    Revoke,
    /// The account's profile.
    Userinfo,
    /// An endpoint of provider A.
    ProviderA(ProviderA),
    /// An endpoint of provider B.
    ProviderB(ProviderB),
    /// Any other path.
    Unknown,
}

/// Changes a running simulator and counts the requests it served.
#[derive(Debug)]
pub struct Controls {
    seed: u64,
    state: Mutex<State>,
    /// Queries and requests to providers that contain this text are held back.
    hold: watch::Sender<Option<String>>,
    /// The number of queries being held back.
    held: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct State {
    latency: Duration,
    faults: Vec<Fault>,
    withheld: Vec<String>,
    replaces_grants: bool,
    /// Texts of the search engine's answers, as JSON, and their replacements.
    planted: Vec<(String, String)>,
    requests: HashMap<Endpoint, u64>,
    /// Queries by each account.
    queries: HashMap<&'static str, u64>,
    draws: HashMap<FaultKind, u64>,
    /// Credit used up by each account of a provider.
    spent: HashMap<&'static str, u64>,
}

/// A query that is held back. The count drops when it continues or its client disconnects.
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

    /// Holds back queries whose body contains `text`, and requests to providers whose URL or body does, until
    /// [`Self::release`].
    pub fn hold(&self, text: &str) {
        self.hold.send_replace(Some(text.to_owned()));
    }

    /// Releases all held queries and stops holding new ones.
    pub fn release(&self) {
        self.hold.send_replace(None);
    }

    /// The number of queries being held back.
    #[must_use]
    pub fn held(&self) -> usize {
        *self.held.borrow()
    }

    /// Waits until `count` queries are held back at once.
    pub async fn wait_until_held(&self, count: usize) {
        let _ = self.held.subscribe().wait_for(|held| *held >= count).await;
    }

    /// Returns when a query with this body may continue.
    pub(super) async fn pass(&self, body: &[u8]) {
        let body = String::from_utf8_lossy(body);
        let free = |text: &Option<String>| !text.as_ref().is_some_and(|text| body.contains(text));
        if !free(&self.hold.borrow()) {
            let _held = Held::new(&self.held);
            let _ = self.hold.subscribe().wait_for(free).await;
        }
    }

    /// Holds every response back until `latency` after its request, from now on.
    pub fn set_latency(&self, latency: Duration) {
        self.state().latency = latency;
    }

    /// Replaces the injected faults. The random sequence of each kind restarts, so that the same faults affect the same
    /// requests.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        let mut state = self.state();
        state.faults = faults;
        state.draws.clear();
    }

    /// Removes these scopes from future grants, as if the person had unticked them.
    pub fn withhold_scopes(&self, scopes: Vec<String>) {
        self.state().withheld = scopes;
    }

    /// Replaces the refresh token at each refresh from now on. Presenting a replaced one ends all grants of its account and client.
    pub fn replace_grants(&self) {
        self.state().replaces_grants = true;
    }

    pub(super) fn replaces_grants(&self) -> bool {
        self.state().replaces_grants
    }

    /// Puts `text` in the place of the query or page `old` in answers, from now on. Filters still know the old text.
    pub fn plant(&self, old: &str, text: &str) {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        self.state().planted.push((quoted(old), quoted(text)));
    }

    /// Returns `answer` with the planted texts.
    pub(super) fn planted(&self, answer: String) -> String {
        let state = self.state();
        state.planted.iter().fold(answer, |answer, (old, text)| answer.replace(old, text))
    }

    /// The number of requests to `endpoint` since the start or the last [`Self::reset`].
    #[must_use]
    pub fn requests(&self, endpoint: Endpoint) -> u64 {
        self.state().requests.get(&endpoint).copied().unwrap_or_default()
    }

    /// The number of queries by an account since the start or the last [`Self::reset`].
    #[must_use]
    pub fn queries_by(&self, account: &str) -> u64 {
        self.state().queries.get(account).copied().unwrap_or_default()
    }

    pub(super) fn count_query(&self, account: &'static str) {
        *self.state().queries.entry(account).or_default() += 1;
    }

    /// The credit that an account of a provider has used up: millionths of a US dollar of a login of provider A, units of a
    /// key of provider B.
    #[must_use]
    pub fn spent(&self, account: &str) -> u64 {
        self.state().spent.get(account).copied().unwrap_or_default()
    }

    /// Uses up `cost` of an account that began with `credit`. Returns false, and leaves it as it is, if there is less left.
    pub(super) fn spend(&self, account: &'static str, cost: u64, credit: u64) -> bool {
        let mut state = self.state();
        let spent = state.spent.entry(account).or_default();
        let enough = spent.saturating_add(cost) <= credit;
        if enough {
            *spent += cost;
        }
        enough
    }

    /// Removes latency, faults, withheld scopes, planted texts and held queries, keeps refresh tokens, gives accounts of providers their credit back, and sets all
    /// counts to zero.
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

    /// Returns whether a fault of `kind` affects the next request. The n-th draw of a kind depends on the seed and n only.
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
