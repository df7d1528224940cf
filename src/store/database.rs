//! Opens the database and begins its transactions.

use std::time::Duration;

use migration::MigratorTrait;
use sea_orm::{
    ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};

/// How long whoever needs the database waits for a connection, or for another writer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// What processes that bring one `PostgreSQL` database up to date at once agree on.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7236514958116274033)";

/// Connects to `url`, at most `max_connections` times. `SQLite` is opened with foreign keys, a write-ahead log that is on disk before
/// a write is acknowledged, and patience for the other writer; in memory it has one connection, because each would be a database of its own.
///
/// # Errors
/// Where the database cannot be reached or opened.
pub async fn connect(url: &str, max_connections: u32) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.sqlx_logging(false).acquire_timeout(PATIENCE).max_connections(max_connections);
    if url.contains(":memory:") {
        options.max_connections(1).idle_timeout(None::<Duration>).max_lifetime(None::<Duration>);
    } else if url.starts_with("sqlite:") {
        // A file does not hang up, so connections need no test before each use: it would cost as much as the query.
        options.test_before_acquire(false).map_sqlx_sqlite_opts(|sqlite| {
            sqlite
                .foreign_keys(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .busy_timeout(PATIENCE)
        });
    }
    Database::connect(options).await
}

/// What units of work write through. `SQLite` lets one writer in at a time, and whoever found it busy would ask again after pauses
/// that grow: so there is one connection for all of them, which they get in the order they asked for it.
///
/// # Errors
/// Where the database cannot be opened again.
pub async fn writer(db: &DatabaseConnection, url: &str) -> Result<DatabaseConnection, DbErr> {
    let one_at_a_time = url.starts_with("sqlite:") && !url.contains(":memory:");
    if one_at_a_time { connect(url, 1).await } else { Ok(db.clone()) }
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
pub async fn for_a_test() -> DatabaseConnection {
    if let Some(fresh) = super::postgres::fresh().await {
        let db = connect(&fresh.url, 2).await.unwrap();
        // The connection does not say when its test has ended: a later run drops the database.
        std::mem::forget(fresh);
        return db;
    }
    let db = connect("sqlite::memory:", 1).await.unwrap();
    migrate(&db).await.unwrap();
    db
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
        let db = connect(relay.open(&fresh.url).await.as_str(), 1).await.unwrap();
        db.execute_unprepared("CREATE TABLE written (number INTEGER)").await.unwrap();
        tokio::select! {
            _ = begin(&db) => panic!("it has begun, though the answer is held back"),
            () = relay.begun.notified() => {}
        }
        relay.go_on.notify_one();
        db.execute_unprepared("INSERT INTO written VALUES (1)").await.unwrap();

        let other = connect(&fresh.url, 1).await.unwrap();
        let ask = Statement::from_string(DbBackend::Postgres, "SELECT count(*) AS rows FROM written");
        let rows: i64 = other.query_one_raw(ask).await.unwrap().unwrap().try_get("", "rows").unwrap();
        assert_eq!(rows, 1);
    }
}
