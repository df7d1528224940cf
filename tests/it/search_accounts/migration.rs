//! Test of the migration that merges the properties of one site in two accounts of a person.

use migration::{Migrator, MigratorTrait as _};
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::postgres;

const AT: &str = "'2026-01-01 00:00:00+00:00'";

/// A literal for an id, for either database.
fn id(db: &DatabaseConnection, number: u128) -> String {
    let id = Uuid::from_u128(number);
    if db.get_database_backend() == DbBackend::Sqlite { format!("X'{}'", id.simple()) } else { format!("'{id}'") }
}

async fn column(db: &DatabaseConnection, sql: &str) -> Vec<String> {
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

async fn run(db: &DatabaseConnection, sql: String) {
    db.execute_unprepared(&sql).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
}

/// One person with three accounts that list one site: the second of its properties is tracked.
async fn before(db: &DatabaseConnection) {
    let id = |number| id(db, number);
    let person = format!(
        "INSERT INTO users (id, issuer, subject, email_verified, plan, created_at, updated_at)
         VALUES ({}, 'i', 's', TRUE, 'pro', {AT}, {AT})",
        id(1)
    );
    run(db, person).await;
    for (account, status) in [(11, "connected"), (12, "connected"), (13, "reconnect_required")] {
        let account = format!(
            "INSERT INTO search_account (id, user_id, subject, status, connected_at, updated_at)
             VALUES ({}, {}, 's{account}', '{status}', {AT}, {AT})",
            id(account),
            id(1)
        );
        run(db, account).await;
    }
    let properties = [
        (21, 11, "site", "siteOwner", false),
        (22, 12, "site", "siteFullUser", true),
        (23, 13, "site", "siteOwner", false),
        (24, 11, "alone", "siteOwner", true),
    ];
    for (property, account, site, level, tracked) in properties {
        let tracked_at = if tracked { AT } else { "NULL" };
        let row = format!(
            "INSERT INTO property (id, account_id, user_id, site_url, permission_level, tracked, tracked_at, created_at, updated_at)
             VALUES ({}, {}, {}, '{site}', '{level}', {tracked}, {tracked_at}, {AT}, {AT})",
            id(property),
            id(account),
            id(1)
        );
        run(db, row).await;
        records(db, property).await;
    }
}

/// Records of a property: some with a name that every property has, some with one of its own.
async fn records(db: &DatabaseConnection, property: u128) {
    let own = id(db, property);
    let note = format!(
        "INSERT INTO annotation (id, property_id, date, text, created_at, updated_at)
         VALUES ({}, {own}, '2026-01-01', 'note {property}', {AT}, {AT})",
        id(db, property + 100)
    );
    run(db, note).await;
    for (number, name) in [(200, "same".to_owned()), (300, format!("of its own {property}"))] {
        for (table, more) in [("segment", 0), ("topic_cluster", 1000)] {
            let row = format!(
                "INSERT INTO {table} (id, property_id, name, name_key, conditions, created_at, updated_at)
                 VALUES ({}, {own}, '{name}', '{name}', '[]', {AT}, {AT})",
                id(db, property + number + more)
            );
            run(db, row).await;
        }
        let keyword = format!(
            "INSERT INTO branded_keyword (id, property_id, keyword, keyword_key, created_at)
             VALUES ({}, {own}, '{name}', '{name}', {AT})",
            id(db, property + number + 2000)
        );
        run(db, keyword).await;
    }
    let mark = format!(
        "INSERT INTO property_preference (user_id, property_id, favorite, hidden) VALUES ({}, {own}, TRUE, FALSE)",
        id(db, 1)
    );
    run(db, mark).await;
}

#[tokio::test]
async fn properties_of_one_site_merge_into_the_tracked_one() {
    let (folder, fresh) = (TempDir::new().unwrap(), postgres::fresh().await);
    let file = format!("sqlite://{}/a.sqlite?mode=rwc", folder.path().display());
    let db = Database::connect(fresh.as_ref().map_or(file, |fresh| fresh.url.clone())).await.unwrap();
    Migrator::up(&db, None).await.unwrap();
    let all = Migrator::migrations();
    let place = all.iter().position(|one| one.name() == "m0013_search_accounts").unwrap();
    Migrator::down(&db, Some(u32::try_from(all.len() - place).unwrap())).await.unwrap();
    before(&db).await;
    Migrator::up(&db, None).await.unwrap();

    let kept = id(&db, 22);
    let of_kept = |what: &str, table: &str| format!("SELECT {what} FROM {table} WHERE property_id = {kept} ORDER BY 1");
    assert_eq!(column(&db, "SELECT site_url FROM property ORDER BY 1").await, ["alone", "site"]);
    let read =
        format!("SELECT permission_level FROM property WHERE id = {kept} AND tracked AND account_id = {}", id(&db, 11));
    assert_eq!(column(&db, &read).await, ["siteOwner"], "read by the connected account that owns it");
    let listings = column(&db, &of_kept("permission_level", "property_account")).await;
    assert_eq!(listings, ["siteFullUser", "siteOwner", "siteOwner"]);
    assert_eq!(column(&db, &of_kept("text", "annotation")).await, ["note 21", "note 22", "note 23"]);
    let expected = ["of its own 21", "of its own 22", "of its own 23", "same", "same (merged 1)", "same (merged 2)"];
    for kind in ["segment", "topic_cluster"] {
        let table = format!("(SELECT * FROM classification WHERE kind = '{kind}') AS one_kind");
        assert_eq!(column(&db, &of_kept("name", &table)).await, expected, "{kind}");
        assert_eq!(column(&db, &of_kept("name_key", &table)).await, expected, "{kind}");
    }
    let keywords = column(&db, &of_kept("keyword", "branded_keyword")).await;
    assert_eq!(keywords, ["of its own 21", "of its own 22", "of its own 23", "same"]);
    let marks = column(&db, "SELECT 'x' FROM property_preference").await;
    assert_eq!(marks.len(), 2, "one of each property");
}
