//! Opens the database and begins its transactions.

use std::{
    fs::{File, TryLockError},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use migration::MigratorTrait;
use sea_orm::{
    ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use tokio::task::JoinHandle;

use super::commits::Commits;
use crate::error::Error;

/// How long whoever needs the database waits for a connection, or for another writer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What processes that bring one `PostgreSQL` database up to date at once agree on.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7236514958116274033)";

/// A database that is open.
#[derive(Debug, Clone)]
pub struct Opened {
    /// For reading. On `SQLite` it refuses to write.
    pub reader: DatabaseConnection,
    /// For writing. `SQLite` allows one writer, and several connections would retry with growing back-off: so there is one, and
    /// writers queue for it.
    pub writer: DatabaseConnection,
    /// Tells when something was committed; none on `PostgreSQL`, where other processes write.
    pub commits: Option<Commits>,
    /// Counts the statements sent.
    pub statements: Statements,
}

/// Statements sent to a database, `BEGIN` and `COMMIT` of units of work included.
#[derive(Debug, Clone, Default)]
pub struct Statements(Arc<AtomicU64>);

impl Statements {
    /// How many were sent so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn watch(&self, mut db: DatabaseConnection) -> DatabaseConnection {
        let statements = self.clone();
        db.set_metric_callback(move |_| statements.add());
        db
    }
}

/// Opens `url` for reading, at most `max_connections` times, and for writing. In memory there is one connection for both, because each
/// would be a database of its own.
///
/// # Errors
/// Where the database cannot be reached or opened.
pub async fn open(url: &str, max_connections: u32) -> Result<Opened, DbErr> {
    let statements = Statements::default();
    let in_memory = url.contains(":memory:");
    if !url.starts_with("sqlite:") {
        let db = statements.watch(connect(url, max_connections, |_| ()).await?);
        return Ok(Opened { reader: db.clone(), writer: db, commits: None, statements });
    }
    let commits = Commits::default();
    let watched = commits.clone();
    let writer = connect(url, 1, |options| {
        options.map_sqlx_sqlite_pool_opts(move |pool| watched.watch(pool));
    });
    let writer = statements.watch(writer.await?);
    let reader =
        if in_memory { writer.clone() } else { statements.watch(connect(url, max_connections, read_only).await?) };
    Ok(Opened { reader, writer, commits: Some(commits), statements })
}

/// Claims the `SQLite` file at `url` for this process, as long as the value lives: what is remembered of a file holds only while one
/// process serves it. There is nothing to claim in memory and on `PostgreSQL`.
///
/// # Errors
/// [`Error::InvalidRequest`] where another process serves the file.
pub fn claim(url: &str) -> Result<Option<File>, Error> {
    let Some(path) = url.strip_prefix("sqlite:").filter(|_| !url.contains(":memory:")) else { return Ok(None) };
    let path = path.trim_start_matches("//").split('?').next().unwrap_or_default();
    let lock = File::options().create(true).append(true).open(format!("{path}.lock")).map_err(Error::internal)?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Err(Error::invalid(format!(
            "database.url: another process serves {path}, and an SQLite file has one. Stop that process, or use PostgreSQL for \
             several"
        ))),
        Err(TryLockError::Error(error)) => Err(Error::internal(error)),
    }
}

/// Sees what other processes commit to the `SQLite` file at `url`, until it is aborted.
///
/// # Errors
/// Where the file cannot be opened.
pub async fn watch_other_processes(url: &str, commits: Commits) -> Result<JoinHandle<()>, DbErr> {
    let connection = connect(url, 1, read_only).await?;
    Ok(tokio::spawn(commits.poll(connection)))
}

fn read_only(options: &mut ConnectOptions) {
    options.map_sqlx_sqlite_opts(|sqlite| file(sqlite).pragma("query_only", "true"));
}

/// A `SQLite` file with foreign keys, a write-ahead log that is on disk before a write is acknowledged, and patience for the other
/// writer.
fn file(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(PATIENCE)
}

async fn connect(
    url: &str,
    max_connections: u32,
    change: impl FnOnce(&mut ConnectOptions),
) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.sqlx_logging(false).acquire_timeout(PATIENCE).max_connections(max_connections);
    if url.contains(":memory:") {
        options.idle_timeout(None::<Duration>).max_lifetime(None::<Duration>);
    } else if url.starts_with("sqlite:") {
        // A file does not hang up, so connections need no test before each use: it would cost as much as the query.
        options.test_before_acquire(false).map_sqlx_sqlite_opts(file);
    }
    change(&mut options);
    Database::connect(options).await
}

/// Brings the schema up to what this program expects; changes nothing when it is. Replicas may start at once: on `PostgreSQL` the
/// second waits for the first.
///
/// # Errors
/// Where a migration fails.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), DbErr> {
    if db.get_database_backend() != DbBackend::Postgres {
        return migration::Migrator::up(db, None).await;
    }
    let transaction = db.begin().await?;
    transaction.execute_unprepared(MIGRATION_LOCK).await?;
    migration::Migrator::up(&transaction, None).await?;
    transaction.commit().await
}

/// Begins a transaction that writes. On `SQLite` it takes the write lock at once: two that both read first and then write could
/// otherwise not both go on.
///
/// # Errors
/// Where the database does not begin one.
pub async fn begin(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    let immediate = (db.get_database_backend() == DbBackend::Sqlite).then_some(SqliteTransactionMode::Immediate);
    let options = TransactionOptions { sqlite_transaction_mode: immediate, ..Default::default() };
    if immediate.is_some() {
        return db.begin_with_options(options).await;
    }
    let db = db.clone();
    // In a task of its own, which a client that hangs up does not end: abandoned between `BEGIN` and what `PostgreSQL` says to it, a
    // connection would go back to the others with its transaction open, because the driver does not know of it yet.
    let begun = tokio::spawn(async move { db.begin_with_options(options).await });
    begun.await.map_err(|error| DbErr::Custom(error.to_string()))?
}

/// An empty database with the whole schema: in memory, or on the `PostgreSQL` server of [`super::postgres`].
///
/// # Panics
/// Where it cannot be made.
#[cfg(test)]
pub async fn opened_for_a_test() -> Opened {
    if let Some(fresh) = super::postgres::fresh().await {
        let opened = open(&fresh.url, 2).await.unwrap();
        // The connection does not say when its test has ended: a later run drops the database.
        std::mem::forget(fresh);
        return opened;
    }
    let opened = open("sqlite::memory:", 1).await.unwrap();
    migrate(&opened.writer).await.unwrap();
    opened
}

/// The write connection of [`opened_for_a_test`].
#[cfg(test)]
pub async fn for_a_test() -> DatabaseConnection {
    opened_for_a_test().await.writer
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use sea_orm::Statement;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        sync::Notify,
    };
    use url::Url;

    use super::*;

    /// A way to `PostgreSQL` that keeps what is said to `BEGIN` to itself until it may go on.
    #[derive(Clone, Default)]
    struct Relay {
        begun: Arc<Notify>,
        holding: Arc<AtomicBool>,
        go_on: Arc<Notify>,
    }

    impl Relay {
        /// Opens it; answers the address of the database at its near end.
        async fn open(&self, url: &str) -> Url {
            let (mut near, relay) = (Url::parse(url).unwrap(), self.clone());
            let far = (near.host_str().unwrap().to_owned(), near.port().unwrap_or(5432));
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            near.set_host(Some("127.0.0.1")).unwrap();
            near.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
            near.set_query(Some("sslmode=disable"));
            tokio::spawn(async move {
                while let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(relay.clone().pass(client, TcpStream::connect(far.clone()).await.unwrap()));
                }
            });
            near
        }

        async fn pass(self, client: TcpStream, server: TcpStream) {
            let ((mut asks, mut hears), (mut answers, mut is_asked)) = (client.into_split(), server.into_split());
            let (mut asked, mut answered) = ([0; 4096], [0; 4096]);
            let there = async {
                while let Ok(length @ 1..) = asks.read(&mut asked).await {
                    if asked[..length].windows(5).any(|word| word == b"BEGIN") {
                        self.holding.store(true, Ordering::SeqCst);
                        self.begun.notify_one();
                    }
                    is_asked.write_all(&asked[..length]).await.unwrap();
                }
            };
            let back = async {
                while let Ok(length @ 1..) = answers.read(&mut answered).await {
                    if self.holding.swap(false, Ordering::SeqCst) {
                        self.go_on.notified().await;
                    }
                    let _ = hears.write_all(&answered[..length]).await;
                }
            };
            tokio::join!(there, back);
        }
    }

    #[tokio::test]
    async fn a_transaction_that_nobody_waits_for_any_more_takes_no_later_write_with_it() {
        // `SQLite` begins in the process: nothing can come between.
        let Some(fresh) = crate::store::postgres::fresh().await else { return };
        let relay = Relay::default();
        let db = connect(relay.open(&fresh.url).await.as_str(), 1, |_| ()).await.unwrap();
        db.execute_unprepared("CREATE TABLE written (number INTEGER)").await.unwrap();
        tokio::select! {
            _ = begin(&db) => panic!("it has begun, though the answer is held back"),
            () = relay.begun.notified() => {}
        }
        relay.go_on.notify_one();
        db.execute_unprepared("INSERT INTO written VALUES (1)").await.unwrap();

        let other = connect(&fresh.url, 1, |_| ()).await.unwrap();
        let ask = Statement::from_string(DbBackend::Postgres, "SELECT count(*) AS rows FROM written");
        let rows: i64 = other.query_one_raw(ask).await.unwrap().unwrap().try_get("", "rows").unwrap();
        assert_eq!(rows, 1);
    }
}
