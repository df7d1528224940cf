//! Finds out whether this replica's clock or settings differ from those of the servers and replicas that it works with.
//!
//! On `PostgreSQL` each replica keeps a row with digests of its settings, and reads those of the others. The clock is compared with those of
//! `PostgreSQL` and Redis. One that a test moves is not compared.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::TimeDelta;
use common::{
    clock::{self, Clock},
    random::Random,
};
use replicas::Shared;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, DbErr, Statement, Value};
use store::postgres;
use telemetry::traces::Traces;
use tokio::task::JoinHandle;
use uuid::Uuid;

/// The time between two comparisons.
const EVERY: Duration = Duration::from_secs(20);

/// The offset of the clock beyond which tokens and sign-ins may be refused.
pub const MAX_OFFSET: TimeDelta = TimeDelta::seconds(2);

/// Notes a sign of life, by the clock of the server.
const NOTE: &str = "INSERT INTO replica (id, settings, seen_at) VALUES ($1, $2, now())
    ON CONFLICT (id) DO UPDATE SET settings = excluded.settings, seen_at = excluded.seen_at";

/// The settings of the other replicas that live.
const OTHERS: &str = "SELECT settings FROM replica WHERE id <> $1 AND seen_at > now() - interval '1 minute'";

/// Deletes replicas that have ended without a word.
const FORGET: &str = "DELETE FROM replica WHERE id = $1 OR seen_at < now() - interval '1 hour'";

/// The differences that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The lead of the clock of `PostgreSQL`. `None` if it is not known.
    pub database: Option<TimeDelta>,
    /// The lead of the clock of Redis. `None` if it is not known.
    pub redis: Option<TimeDelta>,
    /// The settings that differ from those of another replica that lives.
    pub settings: BTreeSet<String>,
}

/// Digests of settings, by the names of the settings.
type Digests = BTreeMap<String, String>;

/// Compares this replica with others.
#[derive(Clone)]
pub struct Drift(Arc<Replica>);

/// This replica.
struct Replica {
    id: Uuid,
    db: DatabaseConnection,
    shared: Option<Shared>,
    clock: Clock,
    settings: Digests,
    found: Mutex<Found>,
}

impl Drift {
    /// Creates the comparison without making it. `settings` are digests, by the names of the settings.
    #[must_use]
    pub fn new(
        settings: BTreeMap<String, String>,
        db: DatabaseConnection,
        shared: Option<Shared>,
        clock: Clock,
        random: &Random,
    ) -> Self {
        let id = random.id(clock.now());
        Self(Arc::new(Replica { id, db, shared, clock, settings, found: Mutex::default() }))
    }

    /// Compares until the task is aborted, each time in a span of its own.
    #[must_use]
    pub fn start(&self, traces: Traces) -> JoinHandle<()> {
        let drift = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(EVERY).await;
                traces.background("comparison of replicas").around(drift.compare()).await;
            }
        })
    }

    /// Compares once, and says in the log what has begun to differ.
    pub async fn compare(&self) {
        let found = Found {
            database: self.of_database().await,
            redis: self.of_redis().await,
            settings: self.of_others().await.unwrap_or_else(|_| self.found().settings),
        };
        let before = std::mem::replace(&mut *self.lock(), found.clone());
        for (server, now, then) in
            [("PostgreSQL", found.database, before.database), ("Redis", found.redis, before.redis)]
        {
            if let Some(hint) = now.and_then(|lead| hint_of_clock(server, lead))
                && then.is_none_or(|then| then.abs() <= MAX_OFFSET)
            {
                tracing::warn!("{hint}");
            }
        }
        if found.settings != before.settings
            && let Some(hint) = found.hint_of_settings()
        {
            tracing::warn!("{hint}");
        }
    }

    /// Returns the result of the last comparison.
    #[must_use]
    pub fn found(&self) -> Found {
        self.lock().clone()
    }

    /// Takes this replica out of the comparisons of others.
    pub async fn end(&self) {
        if self.is_shared() {
            // The row of one that could not be deleted counts for a minute.
            let _ = self.run(FORGET, [self.0.id.into()]).await;
        }
    }

    fn is_shared(&self) -> bool {
        self.0.db.get_database_backend() == DbBackend::Postgres
    }

    async fn of_database(&self) -> Option<TimeDelta> {
        if !self.0.clock.runs() {
            return None;
        }
        postgres::clock_offset(&self.0.db, &self.0.clock).await.ok().flatten()
    }

    async fn of_redis(&self) -> Option<TimeDelta> {
        let shared = self.0.shared.as_ref().filter(|_| self.0.clock.runs())?;
        clock::offset(&self.0.clock, async { shared.time().await.ok_or(()) }).await.ok()
    }

    async fn of_others(&self) -> Result<BTreeSet<String>, DbErr> {
        if !self.is_shared() {
            return Ok(BTreeSet::new());
        }
        let own = serde_json::to_string(&self.0.settings).map_err(|error| DbErr::Custom(error.to_string()))?;
        self.run(NOTE, [self.0.id.into(), own.into()]).await?;
        let others = Statement::from_sql_and_values(DbBackend::Postgres, OTHERS, [self.0.id.into()]);
        let mut differing = BTreeSet::new();
        for row in self.0.db.query_all_raw(others).await? {
            let text: String = row.try_get("", "settings")?;
            // Another version may know other settings, and only those that both know are compared.
            let other: Digests = serde_json::from_str(&text).unwrap_or_default();
            let differs = |(name, digest): &(&String, &String)| other.get(*name).is_some_and(|known| known != *digest);
            differing.extend(self.0.settings.iter().filter(differs).map(|(name, _)| name.clone()));
        }
        Ok(differing)
    }

    async fn run<const N: usize>(&self, sql: &str, values: [Value; N]) -> Result<(), DbErr> {
        self.0.db.execute_raw(Statement::from_sql_and_values(DbBackend::Postgres, sql, values)).await.map(drop)
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        self.0.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Found {
    /// The hint about the clock of the database, or about settings, if they differ.
    #[must_use]
    pub fn hint_of_database(&self) -> Option<String> {
        self.database.and_then(|lead| hint_of_clock("PostgreSQL", lead)).or_else(|| self.hint_of_settings())
    }

    /// The hint about the clock of Redis, if it differs.
    #[must_use]
    pub fn hint_of_redis(&self) -> Option<String> {
        self.redis.and_then(|lead| hint_of_clock("Redis", lead))
    }

    fn hint_of_settings(&self) -> Option<String> {
        let names: Vec<&str> = self.settings.iter().map(String::as_str).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Another replica has other settings: {}. Sign-in, tokens or plans differ from one to the other. Give all replicas the same, and \
                 restart those that lack them.",
                names.join(", ")
            )
        })
    }
}

/// The hint about a clock that differs from that of a server, whose lead is given.
fn hint_of_clock(server: &str, lead: TimeDelta) -> Option<String> {
    (lead.abs() > MAX_OFFSET).then(|| {
        format!(
            "The clock of this machine is {} that of {server}. Tokens and sign-ins are refused. Let NTP set the clocks of all machines.",
            apart(lead)
        )
    })
}

/// Returns where the clock of this machine is beside that of a server, whose lead is given: `2.5 s behind` or `2.5 s ahead of`.
#[must_use]
pub fn apart(lead: TimeDelta) -> String {
    let seconds = lead.abs().as_seconds_f64();
    let side = if lead > TimeDelta::zero() { "behind" } else { "ahead of" };
    format!("{seconds:.1} s {side}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_said_with_the_way_out() {
        assert_eq!((Found::default().hint_of_database(), Found::default().hint_of_redis()), (None, None));
        let seconds = |seconds| Some(TimeDelta::seconds(seconds));
        for (lead, said) in [(2, None), (-2, None), (90, Some("90.0 s behind that")), (-3, Some("3.0 s ahead of that"))]
        {
            let found = Found { database: seconds(lead), redis: seconds(lead), settings: BTreeSet::new() };
            for hint in [found.hint_of_database(), found.hint_of_redis()] {
                assert_eq!(hint.is_some(), said.is_some(), "{lead}");
                assert!(said.is_none_or(|said| hint.unwrap().contains(said)), "{lead}");
            }
        }
        let settings = ["base_url".to_owned(), "plans.pro.team".to_owned()].into();
        let hint = Found { settings, ..Found::default() }.hint_of_database().unwrap();
        assert!(hint.contains("other settings: base_url, plans.pro.team. "), "{hint}");
    }

    #[tokio::test]
    async fn settings_of_replicas_that_live_are_compared_by_name() {
        let store = test_data::store().await;
        if store.writer.get_database_backend() != DbBackend::Postgres {
            return;
        }
        let (clock, _) = Clock::manual(test_data::noon());
        let replica = |seed, base_url: &str| {
            let settings = [("base_url", base_url), ("billing.enabled", "true")];
            let settings = settings.map(|(name, digest)| (name.to_owned(), digest.to_owned())).into();
            Drift::new(settings, store.writer.clone(), None, clock.clone(), &Random::seeded(seed))
        };
        let (first, same) = (replica(1, "one"), replica(2, "one"));
        first.compare().await;
        same.compare().await;
        first.compare().await;
        assert_eq!((first.found(), same.found()), (Found::default(), Found::default()));

        let other = replica(3, "other");
        other.compare().await;
        first.compare().await;
        for drift in [&first, &other] {
            assert_eq!(drift.found().settings, BTreeSet::from(["base_url".to_owned()]));
        }
        other.end().await;
        first.compare().await;
        assert_eq!(first.found(), Found::default());
    }
}
