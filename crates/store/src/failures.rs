//! When a statement last failed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::{Duration, Instant};

/// Records when a statement of a pool last failed. Its reason may concern all connections of the pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Failures(Arc<Mutex<Option<Instant>>>);

impl Failures {
    /// Records a failure.
    pub fn note(&self) {
        *self.last() = Some(Instant::now());
    }

    /// Returns the time since the last failure, if there was one.
    pub fn age(&self) -> Option<Duration> {
        self.last().map(|last| last.elapsed())
    }

    fn last(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
