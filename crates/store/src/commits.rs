//! Tells whether data read from a `SQLite` file is still current.
//!
//! One process serves a file and writes through one connection, so the hooks of that connection see every commit of the
//! process. A commit invalidates cached data before it becomes visible, and nothing is cached again until its connection is
//! back in the pool. Cached data therefore never outlives a commit that a client was told of. Commits of other processes are
//! detected by polling.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, DbErr, Statement};
use sqlx::{
    Connection as _,
    sqlite::{SqliteConnection, SqlitePoolOptions},
};

/// Tables that do not affect admission. A commit to any other table invalidates cached data.
pub const UNRELATED: &[&str] = &[
    "account",
    "account_link",
    "annotation",
    "attempt",
    "audit_event",
    "authorization_code",
    "branded_keyword",
    "classification",
    "client_use",
    "departure_key",
    "device_code",
    "filter_preset",
    "former_trial",
    "oauth_client",
    "oauth_grant",
    "opened_page",
    "pending_revocation",
    "property_account",
    "property_preference",
    "property_tag",
    "provider_connection",
    "refresh_token",
    "replay",
    "replica",
    "signing_key",
    "token_exchange",
    "tag",
];

/// Interval between polls for commits of other processes.
const POLL_INTERVAL: Duration = Duration::from_millis(400);

/// Counts the commits of a `SQLite` file.
#[derive(Debug, Clone, Default)]
pub struct Commits(Arc<State>);

/// A point between two commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(u64);

#[derive(Debug, Default)]
struct State {
    /// Incremented by each relevant commit, before it becomes visible.
    generation: AtomicU64,
    /// True from the start of a relevant commit until its connection is back in the pool.
    committing: AtomicBool,
    /// The tables changed by the open transaction.
    changed: Mutex<Changed>,
}

/// The changes of one transaction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Changed {
    /// The hooks reported no changes. `SQLite` does not report all of them.
    #[default]
    Unknown,
    /// Only tables that do not affect admission.
    Unrelated,
    /// Other tables as well.
    Related,
}

impl Commits {
    /// Returns the current moment, or `None` while a commit is becoming visible. Data read from now on may be cached until
    /// [`Commits::is_now`] returns `false`.
    #[must_use]
    pub fn now(&self) -> Option<Moment> {
        let moment = Moment(self.0.generation.load(Ordering::SeqCst));
        (!self.0.committing.load(Ordering::SeqCst)).then_some(moment)
    }

    /// Returns whether no relevant commit happened since `moment`.
    #[must_use]
    pub fn is_now(&self, moment: Moment) -> bool {
        self.0.generation.load(Ordering::SeqCst) == moment.0
    }

    /// Watches the connections of a pool. The pool must hold at most one connection, and no other pool of the process may
    /// write.
    pub(super) fn watch(&self, pool: SqlitePoolOptions) -> SqlitePoolOptions {
        let (connected, released) = (self.clone(), self.clone());
        let pool = pool.after_connect(move |connection, _| {
            let commits = connected.clone();
            Box::pin(async move { commits.install(connection).await })
        });
        pool.after_release(move |connection, _| {
            let commits = released.clone();
            Box::pin(async move { commits.settle(connection).await })
        })
    }

    /// Ends the commit of a connection that returns to the pool. A request that was abandoned during `COMMIT` returns its connection
    /// early: the ping waits in the queue of the connection until the commit is visible.
    async fn settle(&self, connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
        if self.0.committing.load(Ordering::SeqCst) {
            connection.ping().await?;
            self.0.committing.store(false, Ordering::SeqCst);
        }
        Ok(true)
    }

    async fn install(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let (update, commit, rollback) = (self.clone(), self.clone(), self.clone());
        let mut handle = connection.lock_handle().await?;
        handle.set_update_hook(move |change| update.note(change.table));
        handle.set_commit_hook(move || {
            commit.begin();
            true
        });
        handle.set_rollback_hook(move || {
            rollback.take_changed();
        });
        // The commit of the previous connection has finished or never happened.
        self.0.committing.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn note(&self, table: &str) {
        let mut changed = self.0.changed.lock().unwrap_or_else(PoisonError::into_inner);
        *changed = match *changed {
            Changed::Unknown | Changed::Unrelated if UNRELATED.contains(&table) => Changed::Unrelated,
            _ => Changed::Related,
        };
    }

    fn begin(&self) {
        if self.take_changed() != Changed::Unrelated {
            self.0.committing.store(true, Ordering::SeqCst);
            self.0.generation.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn take_changed(&self) -> Changed {
        std::mem::take(&mut *self.0.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Polls the file for commits. `connection` is used for nothing else. The commits of this process are not distinguished
    /// from others, so they count a second time here.
    pub(super) async fn poll(self, connection: DatabaseConnection) {
        let mut last = None;
        loop {
            // A file that cannot be polled may have changed.
            let version = data_version(&connection).await.unwrap_or(None);
            if version.is_none() || version != last {
                self.0.generation.fetch_add(1, Ordering::SeqCst);
            }
            last = version;
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// Returns a number that changes when another connection commits to the file.
async fn data_version(connection: &DatabaseConnection) -> Result<Option<i64>, DbErr> {
    let ask = Statement::from_string(DbBackend::Sqlite, "PRAGMA data_version");
    connection.query_one_raw(ask).await?.map(|row| row.try_get("", "data_version")).transpose()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
    use tempfile::TempDir;

    use crate::database::{OpenDatabase, open, watch_other_processes};

    async fn opened(folder: &TempDir) -> OpenDatabase {
        let opened = open(&format!("sqlite://{}/a.sqlite?mode=rwc", folder.path().display()), 4).await.unwrap();
        opened.writer.execute_unprepared("CREATE TABLE tag (n INTEGER); CREATE TABLE users (n INTEGER)").await.unwrap();
        opened
    }

    /// Returns the moment after the connection of the last commit is back in the pool.
    async fn settled(opened: &OpenDatabase) -> super::Moment {
        let commits = opened.commits.as_ref().unwrap();
        loop {
            if let Some(moment) = commits.now() {
                return moment;
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_commit_ends_a_moment_unless_it_changes_unrelated_tables_only() {
        let folder = TempDir::new().unwrap();
        let opened = opened(&folder).await;
        let commits = opened.commits.as_ref().unwrap();
        for (statement, ends) in [
            ("INSERT INTO tag VALUES (1)", false),
            ("UPDATE tag SET n = 2 WHERE n = 1", false),
            ("INSERT INTO users VALUES (1)", true),
            ("UPDATE users SET n = 2 WHERE n = 1", true),
            ("DELETE FROM users WHERE n = 2", true),
            ("BEGIN IMMEDIATE; INSERT INTO tag VALUES (1); INSERT INTO users VALUES (1); COMMIT", true),
            ("BEGIN IMMEDIATE; INSERT INTO users VALUES (1); INSERT INTO tag VALUES (1); COMMIT", true),
            ("BEGIN IMMEDIATE; INSERT INTO users VALUES (1); ROLLBACK", false),
            ("INSERT INTO tag VALUES (1)", false),
            // SQLite calls no hook for rows that a DELETE without WHERE removes.
            ("DELETE FROM users", true),
            ("CREATE TABLE other (n INTEGER)", true),
            ("SELECT 1", false),
        ] {
            let before = settled(&opened).await;
            opened.writer.execute_unprepared(statement).await.unwrap();
            assert_eq!(commits.is_now(before), !ends, "{statement}");
        }
    }

    async fn rows(db: &DatabaseConnection) -> i64 {
        let ask = Statement::from_string(DbBackend::Sqlite, "SELECT count(*) AS count FROM users");
        db.query_one_raw(ask).await.unwrap().unwrap().try_get("", "count").unwrap()
    }

    /// A client that disconnects during `COMMIT` returns the connection before the commit is visible.
    #[tokio::test]
    async fn an_abandoned_commit_ends_every_moment_before_it_is_visible() {
        let folder = TempDir::new().unwrap();
        let opened = opened(&folder).await;
        let commits = opened.commits.clone().unwrap();
        for number in 0..100 {
            settled(&opened).await;
            let insert = format!("INSERT INTO users VALUES ({number})");
            tokio::select! {
                biased;
                done = opened.writer.execute_unprepared(&insert) => drop(done.unwrap()),
                () = async { while !commits.0.committing.load(Ordering::SeqCst) { tokio::task::yield_now().await } } => {}
            }
            let moment = settled(&opened).await;
            let seen = rows(&opened.reader).await;
            // It waits in the queue of the write connection.
            let written = rows(&opened.writer).await;
            assert!(
                seen == written || !commits.is_now(moment),
                "round {number}: {seen} rows outlive the commit of {written}"
            );
        }
    }

    #[tokio::test]
    async fn readers_cannot_write() {
        let folder = TempDir::new().unwrap();
        let opened = opened(&folder).await;
        let refused = opened.reader.execute_unprepared("INSERT INTO tag VALUES (1)").await.unwrap_err();
        assert!(refused.to_string().contains("readonly"), "{refused}");
    }

    #[tokio::test]
    async fn commits_of_others_are_seen_soon() {
        let folder = TempDir::new().unwrap();
        let (own, other) = (opened(&folder).await, folder.path().join("a.sqlite"));
        let url = format!("sqlite://{}", other.display());
        let watcher = watch_other_processes(&url, own.commits.clone().unwrap()).await.unwrap();
        tokio::time::sleep(super::POLL_INTERVAL).await;
        let before = settled(&own).await;
        let other = sea_orm::Database::connect(url).await.unwrap();
        other.execute_unprepared("INSERT INTO users VALUES (1)").await.unwrap();
        let ended = async {
            while own.commits.as_ref().unwrap().is_now(before) {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(5), ended).await.unwrap();
        watcher.abort();
    }
}
