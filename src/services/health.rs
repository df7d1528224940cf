//! The health of the service and of its dependencies.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use api::system::{DependencyHealth, DependencyName, DependencyStatus, Health, HealthStatus};
use chrono::TimeDelta;
use common::{clock::Moment, disk};
use identity::issuer::Issuer;
use replicas::{Reach, Shared};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};
use store::{database_file::DatabaseFile, write_probe::WriteProbe};
use telemetry::traces::Current;
use tokio::time::{Duration, Instant, timeout};

use super::drift::Drift;
use crate::{error::Error, services::analyses::search_data::SearchData};

/// The hint while Redis is away.
const REDIS_AWAY: &str = "Each replica reads, counts and paces by itself until Redis is back. Answers are right, and cost more upstream requests.";

/// The hint while Redis refuses the login.
const REDIS_REFUSES: &str = "Redis refuses the login: check user and password in redis.url and redis.cache_url. Until then each replica reads, counts and paces by itself.";

/// The hint while the database answers and takes no writes.
const NO_WRITES: &str = "The database answers and takes no writes. Reads go on, writes answer 503. Look at the free space and the rights of its files, and at the service's log.";

/// The hint while the file of the database is not where it was opened.
const MOVED: &str = "The file of the database was moved, deleted or replaced while the service runs, and what is written is lost. Stop the service, put the file back with those beside it, or restore a backup, and start it again.";

/// The free space of the disk with the database's file below which health is degraded, in bytes: 64 MiB.
pub const LITTLE_SPACE: u64 = 64 << 20;

/// The time limit for a dependency to answer the check.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The longest wait of a liveness probe. Supervisors often wait for one second.
const LIVE_TIMEOUT: Duration = Duration::from_millis(500);

/// The maximum age of a complete check.
const MAX_AGE: TimeDelta = TimeDelta::seconds(2);

/// The age at which a dependency's status becomes unknown: a check before the last one and the time of a check.
const FORGOTTEN_AFTER: TimeDelta = TimeDelta::seconds(5);

/// A result and its time.
type Known = (Moment, DependencyHealth);

/// The status of a dependency, and what the operator should know of it.
type Found = (DependencyStatus, Option<String>);

/// Checks all dependencies. Concurrent callers share one check.
#[derive(Clone)]
pub struct HealthCheck {
    db: DatabaseConnection,
    writes: WriteProbe,
    /// The place of the database's file, if it has one.
    file: Option<DatabaseFile>,
    issuer: Issuer,
    search: SearchData,
    /// The differences from other replicas and from the clocks of servers.
    drift: Drift,
    /// What replicas share, if they share anything.
    shared: Option<Shared>,
    /// The time of the last complete check. Held during a check.
    checked_at: Arc<tokio::sync::Mutex<Option<Moment>>>,
    /// The last result of each dependency, with its time.
    known: Arc<Mutex<Vec<Known>>>,
    /// True when the service is about to stop.
    stopping: Arc<AtomicBool>,
}

impl HealthCheck {
    /// Creates the check without running it.
    #[must_use]
    pub fn new(
        shared: Option<Shared>,
        db: DatabaseConnection,
        writes: WriteProbe,
        file: Option<DatabaseFile>,
        issuer: Issuer,
        search: SearchData,
        drift: Drift,
    ) -> Self {
        let (checked_at, known, stopping) = Default::default();
        Self { db, writes, file, issuer, search, drift, shared, checked_at, known, stopping }
    }

    /// From now on the service is not ready, so that a balancer sends requests elsewhere.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Returns a result that is at most two seconds old. The check runs in a task of its own, so that clients who disconnect do not
    /// cause one check after another.
    pub async fn recent(&self) -> Result<Health, Error> {
        let check = self.clone();
        tokio::spawn(Current::get().around(async move { check.last_or_new().await })).await.map_err(Error::internal)?;
        Ok(self.summary())
    }

    /// Returns the known status within half a second, even if a dependency keeps the check waiting.
    pub async fn soon(&self) -> Health {
        let _ = timeout(LIVE_TIMEOUT, self.recent()).await;
        self.summary()
    }

    async fn last_or_new(&self) {
        let mut checked_at = self.checked_at.lock().await;
        if checked_at.is_some_and(|at| self.search.clock.moment().since(at) < MAX_AGE) {
            return;
        }
        let Self { issuer, search, .. } = self;
        let engine = search.reader.engine();
        let (down, silent) = ((DependencyStatus::Down, None), || (DependencyStatus::Unavailable, None));
        let database = self.probe(DependencyName::Database, down, self.database());
        let issuer = async { (status(issuer.is_well().await), None) };
        let issuer = self.probe(DependencyName::IdentityProvider, silent(), issuer);
        let engine =
            self.probe(DependencyName::SearchEngine, silent(), async { (status(engine.is_well().await), None) });
        let redis = async {
            if let Some(shared) = &self.shared {
                let away = (DependencyStatus::Unavailable, Some(REDIS_AWAY.to_owned()));
                self.probe(DependencyName::Redis, away, redis(shared, &self.drift)).await;
            }
        };
        tokio::join!(database, issuer, engine, redis);
        *checked_at = Some(self.search.clock.moment());
    }

    async fn database(&self) -> Found {
        // A statement, and no ping: one that fails makes the store test its other connections.
        let ask = Statement::from_string(self.db.get_database_backend(), "SELECT 1");
        if self.db.execute_raw(ask).await.is_err() {
            return (DependencyStatus::Down, None);
        }
        if self.file.as_ref().is_some_and(|file| !file.is_kept()) {
            return (DependencyStatus::Down, Some(MOVED.to_owned()));
        }
        if !self.writes.takes_writes().await {
            return (DependencyStatus::Degraded, Some(NO_WRITES.to_owned()));
        }
        match self.file.as_ref().and_then(DatabaseFile::folder).and_then(disk::free_bytes) {
            Some(free) if free < LITTLE_SPACE => (DependencyStatus::Degraded, Some(little_space(free))),
            _ => unless(self.drift.found().hint_of_database()),
        }
    }

    /// Notes the state of a dependency, or `when_silent` if the check takes too long.
    async fn probe(&self, name: DependencyName, when_silent: Found, check: impl Future<Output = Found>) {
        let start = Instant::now();
        let found = timeout(PROBE_TIMEOUT, check).await.unwrap_or(when_silent);
        let latency_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.note(name, found, latency_ms);
    }

    fn note(&self, name: DependencyName, (status, hint): Found, latency_ms: u64) {
        let latency_ms = (status == DependencyStatus::Ok).then_some(latency_ms);
        let mut known = self.known();
        let now = self.search.clock.moment();
        let last = known.iter().position(|(_, last)| last.name == name).map(|at| known.remove(at).1);
        let since = last.filter(|last| last.status == status).map_or(now.wall().into(), |last| last.since);
        known.push((now, DependencyHealth { name, status, hint, latency_ms, since }));
        // The output must not depend on the order of the answers.
        known.sort_by_key(|(_, dependency)| dependency.name);
    }

    fn summary(&self) -> Health {
        let known = self.known();
        let now = self.search.clock.moment();
        let current = known.iter().filter(|(at, _)| now.since(*at) < FORGOTTEN_AFTER);
        // A status may have begun before the clock was set back.
        let stated =
            |known: &DependencyHealth| DependencyHealth { since: known.since.min(now.wall().into()), ..known.clone() };
        let dependencies: Vec<DependencyHealth> = current.map(|(_, known)| stated(known)).collect();
        let database = dependencies.iter().find(|dependency| dependency.name == DependencyName::Database);
        let stopping = self.stopping.load(Ordering::Relaxed);
        let ready = !stopping && database.is_some_and(|database| database.status != DependencyStatus::Down);
        let is_away = |dependency: &DependencyHealth| dependency.status != DependencyStatus::Ok;
        let parts_are_away = dependencies.iter().any(is_away);
        let status = if stopping {
            HealthStatus::Stopping
        } else if !ready {
            HealthStatus::Down
        } else if parts_are_away {
            HealthStatus::Degraded
        } else {
            HealthStatus::Ok
        };
        Health { live: true, ready, status, version: env!("CARGO_PKG_VERSION").to_owned(), dependencies }
    }

    fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn redis(shared: &Shared, drift: &Drift) -> Found {
    match shared.reach().await {
        Reach::Answers => unless(drift.found().hint_of_redis()),
        Reach::RefusesLogin => (DependencyStatus::Degraded, Some(REDIS_REFUSES.to_owned())),
        Reach::Away => (DependencyStatus::Unavailable, Some(REDIS_AWAY.to_owned())),
    }
}

/// The status of a dependency that works, unless there is something to say of it.
fn unless(hint: Option<String>) -> Found {
    let status = if hint.is_some() { DependencyStatus::Degraded } else { DependencyStatus::Ok };
    (status, hint)
}

fn little_space(free: u64) -> String {
    format!("The disk of the database has {} MiB free. Without space the database takes no writes.", free >> 20)
}

/// The status of a dependency that answers well or with errors, or not at all.
fn status(is_well: Option<bool>) -> DependencyStatus {
    match is_well {
        Some(true) => DependencyStatus::Ok,
        Some(false) => DependencyStatus::Degraded,
        None => DependencyStatus::Unavailable,
    }
}
