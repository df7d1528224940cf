//! The schema of the database, and the versions of the program that may work with it.
//!
//! A version runs beside a newer schema, so that replicas are replaced one after another: a release only adds to the schema, and what
//! it no longer uses goes in the release after it. The name of a migration that takes something away ends with `_needs_` and the
//! migration that programs must know, such as `m0009_drop_old_names_needs_m0007`. Older programs then refuse to start.

use migration::{Migrator, MigratorTrait as _, seaql_migrations};
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DbBackend, DbErr, EntityTrait as _, SqliteTransactionMode, Statement,
    TransactionOptions, TransactionTrait,
};

use crate::{Error, postgres, rights};

/// The advisory lock for processes that migrate one `PostgreSQL` database at the same time.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(7236514958116274033)";

/// Stands in the name of a migration that takes something away, before the migration that programs must know.
const NEEDS: &str = "_needs_";

/// Asks whether the table of applied migrations is there. The library's own question needs a crate more.
const TABLES_OF_POSTGRES: &str = "SELECT 1 AS found WHERE to_regclass('seaql_migrations') IS NOT NULL";
const TABLES_OF_SQLITE: &str =
    "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'seaql_migrations'";

/// How a database's schema compares with the migrations of this program.
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

/// Applies pending migrations in one transaction: all of them or none. Of processes that do so at the same time, the second waits for the
/// first: for as long as it takes on `PostgreSQL`, for some seconds on `SQLite`, where [`crate::locks::to_open`] waits before.
///
/// # Errors
/// [`Error::Refused`] if this program cannot work with the schema, or the role may not change it. Any other error if a migration fails.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), Error> {
    if lacks(db).await?.is_none() {
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
    if let Some(first) = lacks(&transaction).await? {
        rights::check_for_migrations(&transaction).await?;
        announce(&first);
        Migrator::up(&transaction, None).await?;
    }
    Ok(transaction.commit().await?)
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

/// Returns the first migration that is missing, if one is.
///
/// # Errors
/// [`Error::Refused`] if this program cannot work with the schema.
pub async fn lacks(db: &impl ConnectionTrait) -> Result<Option<String>, Error> {
    let applied = applied(db).await?;
    let known = Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect::<Vec<_>>();
    match compare(&applied, &known) {
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

/// The names of the migrations that are applied. An empty database stays empty: who may not change the schema can look.
async fn applied(db: &impl ConnectionTrait) -> Result<Vec<String>, DbErr> {
    let backend = db.get_database_backend();
    let tables = if backend == DbBackend::Postgres { TABLES_OF_POSTGRES } else { TABLES_OF_SQLITE };
    if db.query_one_raw(Statement::from_string(backend, tables)).await?.is_none() {
        return Ok(Vec::new());
    }
    let rows = seaql_migrations::Entity::find().all(db).await?;
    Ok(rows.into_iter().map(|row| row.version).collect())
}

fn compare(applied: &[String], known: &[String]) -> Schema {
    let unknown: Vec<&String> = applied.iter().filter(|name| !known.contains(name)).collect();
    let needs_more = |name: &&&String| {
        let needed = name.split_once(NEEDS).map(|(_, needed)| needed);
        needed.is_some_and(|needed| !known.iter().any(|name| name.starts_with(&format!("{needed}_"))))
    };
    if let Some(name) = unknown.iter().find(needs_more) {
        return Schema::Unfit((*name).clone());
    }
    match (known.iter().find(|name| !applied.contains(name)), unknown.first()) {
        (None, _) => Schema::Fits,
        (Some(missing), None) if known.iter().any(|name| name > missing && applied.contains(name)) => {
            Schema::Torn(missing.clone())
        }
        (Some(missing), None) => Schema::Behind(missing.clone()),
        // A newer version has all that this one has. This database comes from elsewhere.
        (Some(_), Some(name)) => Schema::Unfit((*name).clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::open;

    #[tokio::test]
    async fn a_check_changes_nothing() {
        let db = open("sqlite::memory:", 1).await.unwrap().writer;
        let refused = check(&db).await.unwrap_err().to_string();
        assert!(refused.contains("database.migrate"), "{refused}");
        let ask = Statement::from_string(DbBackend::Sqlite, "SELECT count(*) AS tables FROM sqlite_master");
        let tables: i64 = db.query_one_raw(ask).await.unwrap().unwrap().try_get("", "tables").unwrap();
        assert_eq!(tables, 0);
        migrate(&db).await.unwrap();
        check(&db).await.unwrap();
    }

    #[tokio::test]
    async fn the_list_of_tables_is_complete() {
        let db = open("sqlite::memory:", 1).await.unwrap().writer;
        migrate(&db).await.unwrap();
        let ask = "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'seaql_migrations' ORDER BY name";
        let rows = db.query_all_raw(Statement::from_string(DbBackend::Sqlite, ask)).await.unwrap();
        let names: Vec<String> = rows.iter().map(|row| row.try_get("", "name").unwrap()).collect();
        assert_eq!(names, migration::TABLES);
    }

    /// The columns of all tables and views of the schema, with the files that hold them: a table that is rewritten gets another file.
    async fn columns(db: &DatabaseConnection) -> Vec<(String, String)> {
        let ask = "SELECT c.relname::text AS name, concat_ws(' ', c.relkind, c.relfilenode, a.attname, a.atttypid, a.atttypmod, a.attcollation) AS is
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = current_schema()::regnamespace ORDER BY 1, 2";
        let rows = db.query_all_raw(Statement::from_string(DbBackend::Postgres, ask)).await.unwrap();
        rows.iter().map(|row| (row.try_get("", "name").unwrap(), row.try_get("", "is").unwrap())).collect()
    }

    #[tokio::test]
    async fn tables_of_other_applications_and_of_extensions_stay_as_they_are() {
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        let server = open(&fresh.url, 1).await.unwrap().writer;
        server.execute_unprepared("CREATE SCHEMA shared").await.unwrap();
        let db = open(&format!("{}?options=-c%20search_path%3Dshared", fresh.url), 1).await.unwrap().writer;
        let strangers = "CREATE EXTENSION pg_stat_statements SCHEMA shared;
            CREATE TABLE other_app (name varchar(50) PRIMARY KEY, city text, note text COLLATE \"C\");
            CREATE VIEW other_view AS SELECT name FROM other_app;
            CREATE TABLE \"Tag\" (name varchar(50));
            CREATE TYPE mood AS (word text);";
        db.execute_unprepared(strangers).await.unwrap();
        let before = columns(&db).await;
        let of_strangers = |all: &[(String, String)]| -> Vec<_> {
            all.iter().filter(|(name, _)| before.iter().any(|(other, _)| other == name)).cloned().collect()
        };

        migrate(&db).await.unwrap();
        let migrated = columns(&db).await;
        assert_eq!(of_strangers(&migrated), before);
        let unordered = "SELECT 1 FROM information_schema.columns WHERE table_schema = 'shared' AND table_name = 'tag'
            AND column_name = 'name' AND (collation_name IS DISTINCT FROM 'C' OR data_type <> 'text')";
        assert!(db.query_one_raw(Statement::from_string(DbBackend::Postgres, unordered)).await.unwrap().is_none());

        // An upgrade: the migrations after m0006 are applied to the schema before them.
        let undo = "DROP TABLE device_code; DROP TABLE token_exchange; DROP TABLE replica; DROP INDEX ix_annotation_author_id, ix_share_link_created_by,
                ix_classification_created_by, ix_audit_event_at, ix_audit_event_actor_id_at, ix_audit_event_whom_key_at; ALTER TABLE oauth_client DROP COLUMN uses_device_codes;
            ALTER TABLE oauth_client DROP COLUMN secret_hash; ALTER TABLE share_link DROP COLUMN pinned; DELETE FROM seaql_migrations WHERE version > 'm0007'";
        db.execute_unprepared(undo).await.unwrap();
        let undone = columns(&db).await;
        let kept = |all: &[(String, String)]| -> Vec<_> {
            all.iter()
                .filter(|(name, _)| {
                    !["device_code", "oauth_client", "replica", "share_link", "token_exchange"]
                        .iter()
                        .chain(&["ix_annotation_author_id", "ix_classification_created_by", "ix_audit_event_"])
                        .any(|own| name.contains(own))
                })
                .cloned()
                .collect()
        };
        migrate(&db).await.unwrap();
        assert_eq!(kept(&columns(&db).await), kept(&undone));
    }

    #[test]
    fn a_version_works_with_a_newer_schema_until_what_it_needs_is_taken_away() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let known = names(&["m1_people", "m2_sites"]);
        let unfit = |name: &str| Schema::Unfit(name.to_owned());
        for (applied, schema) in [
            (&[][..], Schema::Behind("m1_people".to_owned())),
            (&["m1_people"], Schema::Behind("m2_sites".to_owned())),
            (&["m2_sites"], Schema::Torn("m1_people".to_owned())),
            (&["m1_people", "m2_sites"], Schema::Fits),
            (&["m1_people", "m2_sites", "m3_more"], Schema::Fits),
            (&["m1_people", "m2_sites", "m3_more", "m4_less_needs_m2"], Schema::Fits),
            (&["m1_people", "m2_sites", "m3_more", "m4_less_needs_m3"], unfit("m4_less_needs_m3")),
            (&["m1_people", "m3_more"], unfit("m3_more")),
            (&["m0_old"], unfit("m0_old")),
        ] {
            assert_eq!(compare(&names(applied), &known), schema, "{applied:?}");
        }
    }
}
