//! Cached documents of the issuer. One fetch runs at a time, in its own task, so that a client that disconnects does not end
//! it for others. A failure is cached for a short time, so that an unavailable issuer is not asked for each request.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::TimeDelta;
use common::{
    clock::{Clock, Moment},
    single_flight::{self, SingleFlight},
};
use tokio::time::timeout;

use super::IssuerUnavailable;

/// Timeout of a fetch that a caller has to wait for.
pub(super) const SHORT_WAIT: Duration = Duration::from_secs(3);
/// Timeout of a fetch that no caller waits for.
pub(super) const LONG_WAIT: Duration = Duration::from_secs(10);
/// Time to cache a failure. A 503 asks callers to wait as long.
pub(super) const RETRY_INTERVAL: TimeDelta = TimeDelta::seconds(5);

/// The shared result of a fetch.
pub(super) type SharedFetch<T> = single_flight::SharedResult<Arc<T>, IssuerUnavailable>;

/// A cached document of the issuer.
pub(super) struct Reading<T> {
    clock: Clock,
    state: Arc<Mutex<State<T>>>,
    fetch: SingleFlight<(), Arc<T>, IssuerUnavailable>,
}

struct State<T> {
    kept: Option<(Moment, Arc<T>)>,
    failure: Option<(Moment, IssuerUnavailable)>,
}

/// The result of asking for a fetch.
pub(super) enum Attempt<T> {
    /// This call started a fetch.
    Begun(SharedFetch<T>),
    /// A fetch was already running.
    UnderWay(SharedFetch<T>),
    /// The last fetch has just failed, and the next one has to wait.
    Failed(IssuerUnavailable),
}

impl<T: Send + Sync + 'static> Reading<T> {
    /// Creates an empty cache.
    pub fn new(clock: Clock) -> Self {
        let state = State { kept: None, failure: None };
        Self { clock, state: Arc::new(Mutex::new(state)), fetch: SingleFlight::lasting() }
    }

    /// Returns the cached document and its age.
    pub fn kept(&self) -> Option<(TimeDelta, Arc<T>)> {
        let (state, now) = (self.state(), self.clock.moment());
        state.kept.as_ref().map(|(read_at, document)| (now.since(*read_at), document.clone()))
    }

    /// Returns whether the last fetch failed.
    pub fn has_failed(&self) -> bool {
        self.state().failure.is_some()
    }

    /// Starts a fetch with the timeout `limit`, unless one is running or has just failed.
    pub fn begin(
        &self,
        limit: Duration,
        read: impl Future<Output = Result<T, IssuerUnavailable>> + Send + 'static,
    ) -> Attempt<T> {
        let (state, mut fetch, now) = (self.state(), self.fetch.lock(), self.clock.moment());
        if let Some(outcome) = fetch.get(&()) {
            return Attempt::UnderWay(outcome);
        }
        if let Some((_, error)) = state.failure.as_ref().filter(|(ended_at, _)| now.since(*ended_at) < RETRY_INTERVAL) {
            return Attempt::Failed(error.clone());
        }
        let reading = self.clone();
        Attempt::Begun(fetch.start((), move |_| async move {
            let late = |_| Err(IssuerUnavailable(format!("no answer in {} seconds", limit.as_secs())));
            let document = timeout(limit, read).await.unwrap_or_else(late).map(Arc::new);
            reading.keep(now, &document);
            document
        }))
    }

    fn keep(&self, began_at: Moment, document: &Result<Arc<T>, IssuerUnavailable>) {
        let (mut state, now) = (self.state(), self.clock.moment());
        match document {
            Ok(document) => {
                state.kept = Some((began_at, document.clone()));
                state.failure = None;
            }
            Err(error) => {
                tracing::warn!(%error, "the issuer could not be read");
                state.failure = Some((now, error.clone()));
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Implemented by hand, because the derive would require `T: Clone`.
impl<T> Clone for Reading<T> {
    fn clone(&self) -> Self {
        Self { clock: self.clock.clone(), state: self.state.clone(), fetch: self.fetch.clone() }
    }
}
