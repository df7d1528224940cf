//! Opens the database and begins transactions.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use common::{disk, private_files};
use sea_orm::{
    ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, DbErr, SqliteTransactionMode,
    Statement, TransactionOptions, TransactionTrait,
};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use telemetry::{database::DatabaseMeter, traces};

use crate::{
    Error, failures::Failures, first_connection, postgres, sqlite, transaction::Transaction, unavailable,
    write_probe::WriteProbe,
};

/// Time to wait for a connection, or for another writer.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// A statement that needs a connection on which writes are possible.
const WRITE_NOTHING: &str = "DELETE FROM attempt WHERE 1 = 0";

/// An open database.
#[derive(Debug, Clone)]
pub struct OpenDatabase {
    /// For reading. On `SQLite` it rejects writes.
    pub reader: DatabaseConnection,
    /// For writing. `SQLite` allows one writer, and several connections would retry with growing back-off. So there is one
    /// connection, and writers queue for it.
    pub writer: DatabaseConnection,
    /// Counts the statements sent.
    pub statements: Statements,
    /// Finds out whether the database takes writes.
    pub write_probe: WriteProbe,
}

/// Counts statements sent to a database, including `BEGIN` and `COMMIT` of units of work, and times the others.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    count: Arc<AtomicU64>,
    /// The times of statements, and of waits for the begin of a unit of work.
    pub meter: DatabaseMeter,
}

impl Statements {
    /// The number of statements sent so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    fn watch(&self, mut db: DatabaseConnection, failures: Failures) -> DatabaseConnection {
        let statements = self.clone();
        let system = system(db.get_database_backend());
        db.set_metric_callback(move |statement| {
            statements.add();
            statements.meter.note_statement(statement.elapsed);
            traces::statement(system, &statement.statement.sql, statement.elapsed, statement.failed);
            if statement.failed {
                failures.note();
            }
        });
        db
    }
}

/// Returns the name of a kind of database in spans.
pub(crate) fn system(backend: DbBackend) -> &'static str {
    if backend == DbBackend::Sqlite { "sqlite" } else { "postgresql" }
}

/// Opens `url` for reading, with at most `max_connections` connections, and for writing. An in-memory database has one
/// connection for both, because a second one would open another database.
///
/// # Errors
/// [`Error::Refused`] if a `PostgreSQL` server refuses a connection. Any other error if the database cannot be opened.
pub async fn open(url: &str, max_connections: u32) -> Result<OpenDatabase, Error> {
    let statements = Statements::default();
    let in_memory = url.contains(":memory:");
    if !url.starts_with("sqlite:") {
        first_connection::check(url).await?;
        let failures = Failures::default();
        let db = connect(url, max_connections, |options| postgres::configure(options, &failures)).await?;
        let db = statements.watch(db, failures.clone());
        let write_probe = WriteProbe::new(db.clone(), failures);
        return Ok(OpenDatabase { reader: db.clone(), writer: db, statements, write_probe });
    }
    if let Some(kind) = folder(url).as_deref().and_then(disk::network_file_system) {
        tracing::warn!("the database is {}", on_network(kind));
    }
    if !in_memory {
        keep_private(&url.parse().map_err(|error: sqlx::Error| DbErr::Custom(error.to_string()))?, url);
    }
    let failures = Failures::default();
    let writer = connect(url, 1, |options| {
        sqlite::replace_broken(options, (!in_memory).then(|| failures.clone()));
    });
    let writer = statements.watch(writer.await?, failures.clone());
    let write_probe = WriteProbe::new(writer.clone(), failures);
    if in_memory {
        return Ok(OpenDatabase { reader: writer.clone(), writer, statements, write_probe });
    }
    let failures = Failures::default();
    let reader = connect(url, max_connections, |options| {
        read_only(options);
        sqlite::replace_broken(options, Some(failures.clone()));
    });
    let reader = statements.watch(reader.await?, failures);
    Ok(OpenDatabase { reader, writer, statements, write_probe })
}

/// Returns the file of the `SQLite` database at `url` if it is not there. Databases in memory and on `PostgreSQL` have none.
#[must_use]
pub fn missing_file(url: &str) -> Option<PathBuf> {
    file_of(url).filter(|file| !file.exists())
}

/// Returns the folder of the `SQLite` file at `url`. Databases in memory and on `PostgreSQL` have none.
#[must_use]
pub fn folder(url: &str) -> Option<PathBuf> {
    file_of(url)?.parent().map(Path::to_owned)
}

/// Says what a file of `SQLite` on a network file system of this name means, and the way out.
#[must_use]
pub fn on_network(kind: &str) -> String {
    format!(
        "on {kind}, whose locks SQLite cannot rely on: writes may be lost. Keep the file on a disk of this machine, or use PostgreSQL"
    )
}

pub(crate) fn file_of(url: &str) -> Option<PathBuf> {
    if !url.starts_with("sqlite:") || url.contains(":memory:") {
        return None;
    }
    let options: SqliteConnectOptions = url.parse().ok()?;
    let file = options.get_filename();
    Some(std::path::absolute(file).unwrap_or_else(|_| file.to_owned()))
}

/// Lets nobody but the user of this process read the file, nor the files that `SQLite` makes beside it with the same rights. What
/// keeps it from doing so is told when the file is opened.
fn keep_private(options: &SqliteConnectOptions, url: &str) {
    let path = options.get_filename();
    if url.contains("mode=rwc") {
        // `SQLite` takes an empty file for a new database.
        let _ = private_files::append(path);
    }
    for name in ["", "-wal", "-shm", "-journal"] {
        private_files::close_to_others(&beside(path, name));
    }
}

/// The file whose name is that of `path` and `ending`.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

fn read_only(options: &mut ConnectOptions) {
    options.map_sqlx_sqlite_opts(|sqlite| file(sqlite).pragma("query_only", "true"));
}

/// Opens a `SQLite` file with foreign keys, a write-ahead log that is synced before a write is acknowledged, zeros over what is deleted
/// ([`super::erasure`]), and a busy timeout.
fn file(options: SqliteConnectOptions) -> SqliteConnectOptions {
    options
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .pragma("secure_delete", "ON")
        .busy_timeout(TIMEOUT)
}

async fn connect(
    url: &str,
    max_connections: u32,
    change: impl FnOnce(&mut ConnectOptions),
) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.sqlx_logging(false).acquire_timeout(TIMEOUT).max_connections(max_connections);
    if url.starts_with("sqlite:") {
        // A file cannot disconnect.
        options.idle_timeout(None::<Duration>).max_lifetime(None::<Duration>);
    }
    if url.starts_with("sqlite:") && !url.contains(":memory:") {
        // Connections are not tested before use: a test would cost as much as the query.
        options.test_before_acquire(false).map_sqlx_sqlite_opts(file);
    }
    change(&mut options);
    Database::connect(options).await
}

/// Begins a write transaction. On `SQLite` it takes the write lock at once. Otherwise, of two transactions that both read
/// before writing, one would fail. A connection that cannot begin one is replaced, and another one tries.
///
/// # Errors
/// The database cannot begin a transaction.
pub async fn begin(db: &DatabaseConnection) -> Result<Transaction, DbErr> {
    match begin_once(db).await {
        Err(error) if unavailable::is_of_connection(&error) => {
            // The pool counts failed statements, and `BEGIN` is none. This one fails as `BEGIN` did, and writes nothing.
            let _ = db.execute_raw(Statement::from_string(db.get_database_backend(), WRITE_NOTHING)).await;
            begin_once(db).await
        }
        begun => begun,
    }
}

async fn begin_once(db: &DatabaseConnection) -> Result<Transaction, DbErr> {
    let immediate = (db.get_database_backend() == DbBackend::Sqlite).then_some(SqliteTransactionMode::Immediate);
    let options = TransactionOptions { sqlite_transaction_mode: immediate, ..Default::default() };
    if immediate.is_some() {
        return db.begin_with_options(options).await.map(Transaction::new);
    }
    let db = db.clone();
    // Spawned so that a disconnect cannot cancel it. If it were dropped before `PostgreSQL` replies to `BEGIN`, the
    // connection would return to the pool inside a transaction that the driver does not know of.
    let begun = tokio::spawn(async move { db.begin_with_options(options).await });
    begun.await.map_err(|error| DbErr::Custom(error.to_string()))?.map(Transaction::new)
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    };

    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::{TcpListener, TcpStream},
        sync::Notify,
    };
    use url::Url;

    use super::*;

    /// A proxy to `PostgreSQL` that holds back the reply to `BEGIN` until it is released.
    #[derive(Clone, Default)]
    struct Relay {
        begun: Arc<Notify>,
        holding: Arc<AtomicBool>,
        go_on: Arc<Notify>,
    }

    impl Relay {
        /// Starts the proxy and returns the database URL that leads through it.
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
    async fn readers_cannot_write() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/a.sqlite?mode=rwc", folder.path().display());
        let opened = open(&url, 4).await.unwrap();
        opened.writer.execute_unprepared("CREATE TABLE tag (n INTEGER); INSERT INTO tag VALUES (1)").await.unwrap();
        let refused = opened.reader.execute_unprepared("INSERT INTO tag VALUES (2)").await.unwrap_err();
        assert!(refused.to_string().contains("readonly"), "{refused}");
    }

    #[tokio::test]
    async fn an_abandoned_transaction_does_not_contain_later_writes() {
        // `SQLite` begins transactions in the process, so there is no reply to hold back.
        let Some(fresh) = test_data::postgres::fresh().await else { return };
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
