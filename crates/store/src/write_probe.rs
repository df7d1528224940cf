//! Whether the database takes writes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};
use tokio::time::{Duration, Instant, timeout};

use crate::failures::Failures;

/// Changes one row. Nobody reads it, and each sweep of attempts deletes it.
const WRITE: &str = "INSERT INTO attempt (key, full_at) VALUES ('write probe', 0) \
                     ON CONFLICT (key) DO UPDATE SET full_at = 1 - attempt.full_at";

/// The time between two probes while all statements succeed.
const INTERVAL: Duration = Duration::from_secs(10);

/// The time for a probe. Where other writes take longer, the last result stands.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Finds out by writing whether the database takes writes. Clones share what was found.
#[derive(Debug, Clone)]
pub struct WriteProbe {
    writer: DatabaseConnection,
    failures: Failures,
    last: Arc<Mutex<Option<Found>>>,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    at: Instant,
    takes_writes: bool,
}

impl WriteProbe {
    pub(crate) fn new(writer: DatabaseConnection, failures: Failures) -> Self {
        Self { writer, failures, last: Arc::default() }
    }

    /// Returns whether the database takes writes. It is probed every ten seconds, and again if a statement has failed since, or the last
    /// probe.
    pub async fn takes_writes(&self) -> bool {
        let last = *self.last();
        if last.is_some_and(|last| last.takes_writes && self.has_succeeded_since(last.at)) {
            return true;
        }
        let at = Instant::now();
        let write = Statement::from_string(self.writer.get_database_backend(), WRITE);
        let Ok(written) = timeout(TIMEOUT, self.writer.execute_raw(write)).await else { return self.took_writes() };
        let (took, takes_writes) = (self.took_writes(), written.is_ok());
        *self.last() = Some(Found { at, takes_writes });
        match written {
            Err(error) if took => tracing::error!(%error, "the database takes no writes"),
            Ok(_) if !took => tracing::info!("the database takes writes again"),
            _ => {}
        }
        takes_writes
    }

    /// Returns the last result, or true if there is none.
    #[must_use]
    pub fn took_writes(&self) -> bool {
        self.last().is_none_or(|last| last.takes_writes)
    }

    /// Returns whether a probe at `at` is recent, and no statement has failed since.
    fn has_succeeded_since(&self, at: Instant) -> bool {
        at.elapsed() < INTERVAL && self.failures.age().is_none_or(|age| age > at.elapsed())
    }

    fn last(&self) -> MutexGuard<'_, Option<Found>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
