//! What is read from the issuer and kept. There is one reading at a time, in a task of its own, so that a caller who hangs up ends it
//! for nobody else; and a failure is remembered, so that an issuer that is away is not asked for each request.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use tokio::{task::AbortHandle, time::timeout};

use super::IssuerUnavailable;
use crate::clock::Clock;

/// How long somebody waits who cannot be answered without the issuer.
pub(super) const SHORT_WAIT: Duration = Duration::from_secs(3);
/// How long a reading may take for which nobody waits.
pub(super) const LONG_WAIT: Duration = Duration::from_secs(10);
/// How long a failure is remembered once it has ended; as long as a 503 asks callers to wait.
const RETRY_INTERVAL: TimeDelta = TimeDelta::seconds(5);

/// What a reading comes to, for as many as wait for it.
pub(super) type Outcome<T> = Shared<BoxFuture<'static, Result<Arc<T>, IssuerUnavailable>>>;

/// A document of the issuer.
pub(super) struct Reading<T> {
    clock: Clock,
    state: Arc<Mutex<State<T>>>,
}

struct State<T> {
    kept: Option<(DateTime<Utc>, Arc<T>)>,
    failure: Option<(DateTime<Utc>, IssuerUnavailable)>,
    under_way: Option<(AbortHandle, Outcome<T>)>,
}

/// How a wish to read was met.
pub(super) enum Attempt<T> {
    /// This caller's wish began a reading.
    Begun(Outcome<T>),
    /// Another's reading is under way.
    UnderWay(Outcome<T>),
    /// The last reading has just failed, and the next has to wait.
    Failed(IssuerUnavailable),
}

impl<T: Send + Sync + 'static> Reading<T> {
    /// Nothing is read yet.
    pub fn new(clock: Clock) -> Self {
        Self { clock, state: Arc::new(Mutex::new(State { kept: None, failure: None, under_way: None })) }
    }

    /// What was read last, and how long ago.
    pub fn kept(&self) -> Option<(TimeDelta, Arc<T>)> {
        let now = self.clock.now();
        self.state().kept.as_ref().map(|(read_at, document)| (now - *read_at, document.clone()))
    }

    /// Whether the last reading failed.
    pub fn has_failed(&self) -> bool {
        self.state().failure.is_some()
    }

    /// Begins a reading that may take as long as `limit`, unless one is under way or has just failed.
    pub fn begin(
        &self,
        limit: Duration,
        read: impl Future<Output = Result<T, IssuerUnavailable>> + Send + 'static,
    ) -> Attempt<T> {
        let (mut state, now) = (self.state(), self.clock.now());
        if let Some((_, outcome)) = state.under_way.as_ref().filter(|(task, _)| !task.is_finished()) {
            return Attempt::UnderWay(outcome.clone());
        }
        if let Some((_, error)) = state.failure.as_ref().filter(|(ended_at, _)| now - *ended_at < RETRY_INTERVAL) {
            return Attempt::Failed(error.clone());
        }
        let reading = self.clone();
        let task = tokio::spawn(async move {
            let late = |_| Err(IssuerUnavailable(format!("no answer in {} seconds", limit.as_secs())));
            let document = timeout(limit, read).await.unwrap_or_else(late).map(Arc::new);
            reading.keep(now, &document);
            document
        });
        let handle = task.abort_handle();
        let ended = |error: tokio::task::JoinError| Err(IssuerUnavailable(error.to_string()));
        let outcome = async move { task.await.unwrap_or_else(ended) }.boxed().shared();
        state.under_way = Some((handle, outcome.clone()));
        Attempt::Begun(outcome)
    }

    fn keep(&self, began_at: DateTime<Utc>, document: &Result<Arc<T>, IssuerUnavailable>) {
        let (mut state, now) = (self.state(), self.clock.now());
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

// By hand: the document itself is not copied.
impl<T> Clone for Reading<T> {
    fn clone(&self) -> Self {
        Self { clock: self.clock.clone(), state: self.state.clone() }
    }
}
