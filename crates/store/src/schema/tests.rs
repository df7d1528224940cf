use super::*;
use crate::database::open;

/// The migrations of 0.1.0.
const RELEASED: usize = 7;

fn released() -> Migrations {
    Migrator::migrations().into_iter().take(RELEASED).collect()
}

/// The migrations of an invented release after this one, which adds a column.
fn next() -> Migrations {
    let mut migrations = Migrator::migrations();
    migrations.push(invented("m9001_new_notes", "ALTER TABLE tag ADD COLUMN new_note text"));
    migrations
}

/// The migrations of the release after [`next`], which takes the columns away that the new one replaced.
fn second_next() -> Migrations {
    let mut migrations = next();
    migrations.push(invented("m9002_drop_old_notes_needs_m9001", "ALTER TABLE tag DROP COLUMN old_note"));
    migrations.push(invented("m9003_newest_notes", "ALTER TABLE tag ADD COLUMN newest_note text"));
    migrations
}

struct Invented {
    name: &'static str,
    statement: &'static str,
}

fn invented(name: &'static str, statement: &'static str) -> Box<dyn MigrationTrait> {
    Box::new(Invented { name, statement })
}

impl migration::MigrationName for Invented {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Invented {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(self.statement).await.map(drop)
    }
}

/// The schema `shared` of a `PostgreSQL` database, which is made here.
async fn empty_schema(url: &str) -> DatabaseConnection {
    let server = open(url, 1).await.unwrap().writer;
    server.execute_unprepared("CREATE SCHEMA shared").await.unwrap();
    open(&format!("{url}?options=-c%20search_path%3Dshared"), 1).await.unwrap().writer
}

/// The first migration that a program with these migrations misses, or its refusal.
async fn missing_for(db: &DatabaseConnection, known: fn() -> Migrations) -> Result<Option<String>, String> {
    let applied = applied(db).await.unwrap();
    missing(&applied, &names(&known())).map_err(|error| error.to_string())
}

async fn columns_of_tags(db: &DatabaseConnection) -> Vec<bool> {
    let mut found = Vec::new();
    for column in ["old_note", "new_note", "newest_note"] {
        found.push(db.execute_unprepared(&format!("SELECT {column} FROM tag")).await.is_ok());
    }
    found
}

/// A database of 0.1.0, with a column that an invented release takes away.
async fn database_of_the_release(db: &DatabaseConnection) {
    migrate_by(db, released).await.unwrap();
    db.execute_unprepared("ALTER TABLE tag ADD COLUMN old_note text").await.unwrap();
}

#[tokio::test]
async fn an_upgrade_skips_releases_while_replicas_of_the_oldest_run() {
    let Some(fresh) = test_data::postgres::fresh().await else { return };
    let db = empty_schema(&fresh.url).await;
    database_of_the_release(&db).await;
    migrate_by(&db, second_next).await.unwrap();
    assert_eq!(columns_of_tags(&db).await, [true, true, true]);
    for program in [released, Migrator::migrations, next, second_next] {
        assert_eq!(missing_for(&db, program).await, Ok(None));
    }
    // A second replica starts within the day.
    db.execute_unprepared("UPDATE seaql_migrations SET applied_at = applied_at - 86000").await.unwrap();
    migrate_by(&db, second_next).await.unwrap();
    assert_eq!(columns_of_tags(&db).await, [true, true, true]);

    db.execute_unprepared("UPDATE seaql_migrations SET applied_at = applied_at - 400").await.unwrap();
    migrate_by(&db, second_next).await.unwrap();
    assert_eq!(columns_of_tags(&db).await, [false, true, true]);
    for program in [released, Migrator::migrations] {
        let refused = missing_for(&db, program).await.unwrap_err();
        assert!(refused.contains("m9002_drop_old_notes_needs_m9001"), "{refused}");
    }
    assert_eq!((missing_for(&db, next).await, missing_for(&db, second_next).await), (Ok(None), Ok(None)));
}

#[tokio::test]
async fn an_upgrade_of_a_file_skips_releases_at_once() {
    let db = open("sqlite::memory:", 1).await.unwrap().writer;
    database_of_the_release(&db).await;
    migrate_by(&db, second_next).await.unwrap();
    assert_eq!(columns_of_tags(&db).await, [false, true, true]);
    assert_eq!(missing_for(&db, second_next).await, Ok(None));
}

#[tokio::test]
async fn a_new_database_gets_all_migrations() {
    fn with_a_column_to_take_away() -> Migrations {
        let mut migrations = second_next();
        migrations.insert(RELEASED, invented("m0007a_old_notes", "ALTER TABLE tag ADD COLUMN old_note text"));
        migrations
    }
    let Some(fresh) = test_data::postgres::fresh().await else { return };
    let db = empty_schema(&fresh.url).await;
    migrate_by(&db, with_a_column_to_take_away).await.unwrap();
    assert_eq!(columns_of_tags(&db).await, [false, true, true]);
}

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
    let db = empty_schema(&fresh.url).await;
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
    let undo = "DROP TABLE device_code; DROP TABLE token_exchange; DROP TABLE replica; DROP TABLE opened_page; DROP INDEX ix_annotation_author_id, ix_share_link_created_by,
            ix_classification_created_by, ix_audit_event_at, ix_audit_event_actor_id_at, ix_audit_event_whom_key_at; ALTER TABLE oauth_client DROP COLUMN uses_device_codes;
        ALTER TABLE oauth_client DROP COLUMN secret_hash; ALTER TABLE share_link DROP COLUMN pinned; DELETE FROM seaql_migrations WHERE version > 'm0007'";
    db.execute_unprepared(undo).await.unwrap();
    let undone = columns(&db).await;
    let kept = |all: &[(String, String)]| -> Vec<_> {
        all.iter()
            .filter(|(name, _)| {
                !["device_code", "oauth_client", "opened_page", "replica", "share_link", "token_exchange"]
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
        assert_eq!(compare(applied, &known), schema, "{applied:?}");
    }
}
