//! Opens the database and begins its transactions.

use std::time::Duration;

use migration::MigratorTrait;
use sea_orm::{
    ConnectOptions, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode,
    TransactionOptions, TransactionTrait,
};
use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};

/// Connects to `url`. `SQLite` is opened with foreign keys, a write-ahead log and patience for the other writer; in memory it
/// has one connection, because each would be a database of its own.
///
/// # Errors
/// Where the database cannot be reached or opened.
pub async fn connect(url: &str) -> Result<DatabaseConnection, DbErr> {
    let mut options = ConnectOptions::new(url);
    options.sqlx_logging(false).acquire_timeout(Duration::from_secs(10));
    if url.contains(":memory:") {
        options.max_connections(1).idle_timeout(None::<Duration>).max_lifetime(None::<Duration>);
    } else if url.starts_with("sqlite:") {
        // A file does not hang up, so connections need no test before each use: it would cost as much as the query.
        options.max_connections(8).test_before_acquire(false).map_sqlx_sqlite_opts(|sqlite| {
            sqlite
                .foreign_keys(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Normal)
                .busy_timeout(Duration::from_secs(10))
        });
    }
    Database::connect(options).await
}

/// Brings the schema up to what this program expects; changes nothing when it is.
///
/// # Errors
/// Where a migration fails.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), DbErr> {
    migration::Migrator::up(db, None).await
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

/// An empty database in memory with the whole schema.
///
/// # Panics
/// Where it cannot be made.
#[cfg(test)]
pub async fn in_memory() -> DatabaseConnection {
    let db = connect("sqlite::memory:").await.unwrap();
    migrate(&db).await.unwrap();
    db
}
