//! The schema of the database, and the versions of the program that may work with it.
//!
//! A version runs beside a newer schema, so that replicas are replaced one after another: a release only adds to the schema, and what
//! it no longer uses goes in the release after it. The name of a migration that takes something away ends with `_needs_` and the
//! migration that programs must know, such as `m0009_drop_old_names_needs_m0007`. Older programs then refuse to start.
//!
//! An upgrade may skip releases. On `PostgreSQL`, a migration that takes something away is therefore put off until the one that it needs
//! has been applied for a day: until then, replicas of any older version may run.

use migration::{MigrationTrait, Migrator, MigratorTrait as _, SchemaManager};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, SqliteTransactionMode, Statement,
    TransactionOptions, TransactionTrait,
};

use crate::{Error, postgres, rights};

/// The advisory lock for processes that migrate one `PostgreSQL` database at the same time.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7236514958116274033)";

/// Stands in the name of a migration that takes something away, before the migration that programs must know.
const NEEDS: &str = "_needs_";

/// Seconds from a migration to one that needs it and takes something away.
const PUT_OFF: i64 = 24 * 60 * 60;

/// Asks whether the table of applied migrations is there. The library's own question needs a crate more.
const TABLES_OF_POSTGRES: &str = "SELECT 1 AS found WHERE to_regclass('seaql_migrations') IS NOT NULL";
const TABLES_OF_SQLITE: &str =
    "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'seaql_migrations'";

/// The applied migrations with their ages in seconds, by the clock of the database.
const APPLIED_ON_POSTGRES: &str =
    "SELECT version, extract(epoch FROM now())::bigint - applied_at AS age FROM seaql_migrations";
const APPLIED_ON_SQLITE: &str = "SELECT version, unixepoch() - applied_at AS age FROM seaql_migrations";

const NOTE_ON_POSTGRES: &str =
    "INSERT INTO seaql_migrations (version, applied_at) VALUES ($1, extract(epoch FROM now())::bigint)";
const NOTE_ON_SQLITE: &str = "INSERT INTO seaql_migrations (version, applied_at) VALUES ($1, unixepoch())";

/// The migrations of a program, in their order.
type Migrations = Vec<Box<dyn MigrationTrait>>;

/// A migration that is applied.
struct Applied {
    name: String,
    /// In seconds.
    age: i64,
}

/// A comparison of a database's schema with the migrations of a program.
#[derive(Debug, PartialEq, Eq)]
enum Schema {
    /// Migrations are missing, the first of this name.
    Behind(String),
    /// The migration of this name is missing, though one after it is applied.
    Torn(String),
    /// Every migration that this program knows is applied, and maybe newer ones that it can work with.
    Fits,
    /// The migration of this name is unknown, and this program cannot work with it.
    Unfit(String),
}

/// Applies due migrations in one transaction: all of them or none. Of processes that do so at the same time, the second waits for the
/// first: for as long as it takes on `PostgreSQL`, for some seconds on `SQLite`, where [`crate::locks::to_open`] waits before.
///
/// # Errors
/// [`Error::Refused`] if this program cannot work with the schema, or the role may not change it. Any other error if a migration fails.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), Error> {
    migrate_by(db, Migrator::migrations).await
}

/// [`migrate`] for a program with these migrations.
async fn migrate_by(db: &DatabaseConnection, known: fn() -> Migrations) -> Result<(), Error> {
    if due(db, known()).await?.is_empty() {
        return Ok(());
    }
    let is_postgres = db.get_database_backend() == DbBackend::Postgres;
    let sqlite_transaction_mode = (!is_postgres).then_some(SqliteTransactionMode::Immediate);
    let transaction =
        db.begin_with_options(TransactionOptions { sqlite_transaction_mode, ..Default::default() }).await?;
    if is_postgres {
        postgres::lift_limits(&transaction).await?;
        transaction.execute_unprepared(MIGRATION_LOCK).await?;
    }
    let due = due(&transaction, known()).await?;
    if let Some(first) = due.first() {
        rights::check_for_migrations(&transaction).await?;
        announce(first.name());
        apply(&transaction, &due).await?;
    }
    Ok(transaction.commit().await?)
}

/// Applies migrations and notes their names. The library applies either all pending ones or a number of them.
async fn apply(transaction: &DatabaseTransaction, due: &[Box<dyn MigrationTrait>]) -> Result<(), DbErr> {
    Migrator::install(transaction).await?;
    let manager = SchemaManager::new(transaction);
    let backend = transaction.get_database_backend();
    let note = if backend == DbBackend::Postgres { NOTE_ON_POSTGRES } else { NOTE_ON_SQLITE };
    for migration in due {
        migration.up(&manager).await?;
        transaction.execute_raw(Statement::from_sql_and_values(backend, note, [migration.name().into()])).await?;
    }
    Ok(())
}

/// Returns those of a program's migrations that are to be applied now.
///
/// # Errors
/// As [`lacks`].
async fn due(db: &impl ConnectionTrait, mut known: Migrations) -> Result<Migrations, Error> {
    let applied = applied(db).await?;
    missing(&applied, &names(&known))?;
    let has_replicas = db.get_database_backend() == DbBackend::Postgres && !applied.is_empty();
    known.retain(|migration| {
        let is_applied = applied.iter().any(|one| one.name == migration.name());
        let waits = has_replicas && is_put_off(migration.name(), &applied);
        !is_applied && !waits
    });
    Ok(known)
}

/// Returns whether replicas that need what a migration takes away may still run.
fn is_put_off(name: &str, applied: &[Applied]) -> bool {
    let Some(needed) = needed_by(name) else { return false };
    !applied.iter().any(|one| is_migration(&one.name, needed) && one.age >= PUT_OFF)
}

/// The start of the name of the migration that programs must know, if `name` takes something away.
fn needed_by(name: &str) -> Option<&str> {
    name.split_once(NEEDS).map(|(_, needed)| needed)
}

/// Returns whether `name` is that of the migration `start`, such as `m0007`.
fn is_migration(name: &str, start: &str) -> bool {
    name.strip_prefix(start).is_some_and(|rest| rest.starts_with('_'))
}

fn names(migrations: &Migrations) -> Vec<String> {
    migrations.iter().map(|migration| migration.name().to_owned()).collect()
}

/// Says in the log that migrations are applied.
fn announce(first: &str) {
    tracing::info!(first, "the schema of the database is brought up to date");
}

/// Checks that nothing needs to be migrated, and changes nothing.
///
/// # Errors
/// [`Error::Refused`] if migrations are missing, or if this program cannot work with the schema.
pub async fn check(db: &DatabaseConnection) -> Result<(), Error> {
    match lacks(db).await? {
        None => Ok(()),
        Some(missing) => Err(Error::refused(format!(
            "database.migrate: it is false, and the database lacks the migration {missing}. Run `sightline migrate` of this version first"
        ))),
    }
}

/// Returns the first migration that this program needs and the database lacks, if there is one. A migration that takes something away is never
/// needed.
///
/// # Errors
/// [`Error::Refused`] if this program cannot work with the schema.
pub async fn lacks(db: &impl ConnectionTrait) -> Result<Option<String>, Error> {
    missing(&applied(db).await?, &names(&Migrator::migrations()))
}

/// [`lacks`] for a program that has the migrations `known`.
fn missing(applied: &[Applied], known: &[String]) -> Result<Option<String>, Error> {
    let applied: Vec<&str> = applied.iter().map(|one| one.name.as_str()).collect();
    match compare(&applied, known) {
        Schema::Behind(missing) => Ok(Some(missing)),
        Schema::Fits => Ok(None),
        Schema::Torn(missing) => Err(Error::refused(format!(
            "database.url: the table seaql_migrations of this database lacks the row {missing}, though later migrations are applied. Restore \
             a backup; if nothing but the row was lost, insert it again"
        ))),
        Schema::Unfit(name) => Err(Error::refused(format!(
            "database.url: an unreleased or a newer version made this database (its migration {name} is unknown here); start with a new \
             database, or run that version"
        ))),
    }
}

/// Returns whether no migration is applied: a database that Sightline has not used.
///
/// # Errors
/// The database cannot answer.
pub async fn is_unused(db: &impl ConnectionTrait) -> Result<bool, Error> {
    Ok(applied(db).await?.is_empty())
}

/// The migrations that are applied. An empty database stays empty: who may not change the schema can look.
async fn applied(db: &impl ConnectionTrait) -> Result<Vec<Applied>, DbErr> {
    let backend = db.get_database_backend();
    let (tables, applied) = match backend {
        DbBackend::Postgres => (TABLES_OF_POSTGRES, APPLIED_ON_POSTGRES),
        _ => (TABLES_OF_SQLITE, APPLIED_ON_SQLITE),
    };
    if db.query_one_raw(Statement::from_string(backend, tables)).await?.is_none() {
        return Ok(Vec::new());
    }
    let rows = db.query_all_raw(Statement::from_string(backend, applied)).await?;
    rows.iter().map(|row| Ok(Applied { name: row.try_get("", "version")?, age: row.try_get("", "age")? })).collect()
}

fn compare(applied: &[&str], known: &[String]) -> Schema {
    let is_known = |name: &str| known.iter().any(|one| one == name);
    let unknown: Vec<&str> = applied.iter().copied().filter(|name| !is_known(name)).collect();
    let needs_more =
        |name: &&&str| needed_by(name).is_some_and(|needed| !known.iter().any(|name| is_migration(name, needed)));
    if let Some(name) = unknown.iter().find(needs_more) {
        return Schema::Unfit((*name).to_owned());
    }
    let is_missing = |name: &&String| needed_by(name).is_none() && !applied.contains(&name.as_str());
    match (known.iter().find(is_missing), unknown.first()) {
        (None, _) => Schema::Fits,
        (Some(missing), None) if applied.iter().any(|name| name > &missing.as_str()) => Schema::Torn(missing.clone()),
        (Some(missing), None) => Schema::Behind(missing.clone()),
        // A newer version has all that this one has. This database comes from elsewhere.
        (Some(_), Some(name)) => Schema::Unfit((*name).to_owned()),
    }
}

#[cfg(test)]
mod tests;
