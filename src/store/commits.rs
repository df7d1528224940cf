//! Tells whether answers read from a `SQLite` file still hold.
//!
//! One process serves a file and writes through one connection, so the hooks of that connection see every commit of the process. A
//! commit ends what was remembered before it is visible, and nothing is remembered again until its connection is back in the pool:
//! an answer therefore never outlives a commit that a client was told of. Commits of other processes are seen by polling.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, DbErr, Statement};
use sqlx::sqlite::{SqliteConnection, SqlitePoolOptions};

/// Tables that no admission rests on. A commit that changes any other table ends what is remembered.
const UNRELATED: &[&str] = &[
    "annotation",
    "authorization_code",
    "branded_keyword",
    "filter_preset",
    "oauth_client",
    "oauth_grant",
    "property_preference",
    "property_tag",
    "refresh_token",
    "replay",
    "segment",
    "signing_key",
    "tag",
    "topic_cluster",
];

/// How often the file is asked for commits of other processes.
const POLL_INTERVAL: Duration = Duration::from_millis(400);

/// The commits of a `SQLite` file, counted.
#[derive(Debug, Clone, Default)]
pub struct Commits(Arc<State>);

/// A moment between two commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment(u64);

#[derive(Debug, Default)]
struct State {
    /// Grows with each commit that matters, before it is visible.
    generation: AtomicU64,
    /// A commit that matters has begun, and its connection is not back in the pool.
    committing: AtomicBool,
    /// The tables changed by the transaction that is open.
    changed: Mutex<Changed>,
}

/// Changes of one transaction.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Changed {
    /// None that the hooks were told of; `SQLite` does not tell of all.
    #[default]
    Unknown,
    /// Only tables that no admission rests on.
    Unrelated,
    /// Others, too.
    Related,
}

impl Commits {
    /// The present moment; none while a commit is becoming visible. Answers read from now on may be remembered until
    /// [`Commits::is_now`] denies it.
    #[must_use]
    pub fn now(&self) -> Option<Moment> {
        let moment = Moment(self.0.generation.load(Ordering::SeqCst));
        (!self.0.committing.load(Ordering::SeqCst)).then_some(moment)
    }

    /// Whether nothing that matters was committed since `moment`.
    #[must_use]
    pub fn is_now(&self, moment: Moment) -> bool {
        self.0.generation.load(Ordering::SeqCst) == moment.0
    }

    /// Watches the connections of a pool. The pool must hold at most one, and no other pool of the process may write.
    pub(super) fn watch(&self, pool: SqlitePoolOptions) -> SqlitePoolOptions {
        let (connected, released) = (self.clone(), self.clone());
        let pool = pool.after_connect(move |connection, _| {
            let commits = connected.clone();
            Box::pin(async move { commits.install(connection).await })
        });
        pool.after_release(move |_, _| {
            released.0.committing.store(false, Ordering::SeqCst);
            Box::pin(async { Ok(true) })
        })
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
        // The commit of the connection before this one is done, or never was.
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

    /// Asks the file again and again whether something was committed to it; `connection` is used for nothing else. Our own commits are
    /// not told apart from others', so they count here a second time.
    pub(super) async fn poll(self, connection: DatabaseConnection) {
        let mut last = None;
        loop {
            let version = data_version(&connection).await.unwrap_or(None);
            // A file that cannot be asked may have changed.
            if version.is_none() || last.replace(version) != Some(version) {
                self.0.generation.fetch_add(1, Ordering::SeqCst);
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// A number that changes when another connection has committed to the file.
async fn data_version(connection: &DatabaseConnection) -> Result<Option<i64>, DbErr> {
    let ask = Statement::from_string(DbBackend::Sqlite, "PRAGMA data_version");
    connection.query_one_raw(ask).await?.map(|row| row.try_get("", "data_version")).transpose()
}

#[cfg(test)]
mod tests {
    use sea_orm::ConnectionTrait as _;
    use tempfile::TempDir;

    use crate::store::database::{Opened, open, watch_other_processes};

    async fn opened(folder: &TempDir) -> Opened {
        let opened = open(&format!("sqlite://{}/a.sqlite?mode=rwc", folder.path().display()), 4).await.unwrap();
        opened.writer.execute_unprepared("CREATE TABLE tag (n INTEGER); CREATE TABLE users (n INTEGER)").await.unwrap();
        opened
    }

    /// The moment once the connection of the last commit is back.
    async fn settled(opened: &Opened) -> super::Moment {
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
            // SQLite tells no hook of the rows that it deletes all at once.
            ("DELETE FROM users", true),
            ("CREATE TABLE other (n INTEGER)", true),
            ("SELECT 1", false),
        ] {
            let before = settled(&opened).await;
            opened.writer.execute_unprepared(statement).await.unwrap();
            assert_eq!(commits.is_now(before), !ends, "{statement}");
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
