//! Opens the database and begins its transactions.

use std::time::Duration;

use migration::MigratorTrait;
use sea_orm::{
    ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};

/// What processes that bring one `PostgreSQL` database up to date at once agree on.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7236514958116274033)";

/// Connects to `url`, at most `max_connections` times. `SQLite` is opened with foreign keys, a write-ahead log and patience for the
/// other writer; in memory it has one connection, because each would be a database of its own.
///
/// # Errors
/// Where the database cannot be reached or opened.
pub async fn connect(url: &str, max_connections: u32) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.sqlx_logging(false).acquire_timeout(Duration::from_secs(10)).max_connections(max_connections);
    if url.contains(":memory:") {
        options.max_connections(1).idle_timeout(None::<Duration>).max_lifetime(None::<Duration>);
    } else if url.starts_with("sqlite:") {
        // A file does not hang up, so connections need no test before each use: it would cost as much as the query.
        options.test_before_acquire(false).map_sqlx_sqlite_opts(|sqlite| {
            sqlite
                .foreign_keys(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Normal)
                .busy_timeout(Duration::from_secs(10))
        });
    }
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
    db.begin_with_options(TransactionOptions { sqlite_transaction_mode: immediate, ..Default::default() }).await
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
