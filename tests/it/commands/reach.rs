//! Tests of a database that cannot be reached, or cannot be used as it is.

use sea_orm::{ConnectionTrait as _, Database};
use tempfile::TempDir;

use super::{ANY_PORT, run, text};

/// Nothing listens at the port of the discard service.
#[test]
fn a_database_that_is_not_there_is_said_at_once_with_the_way_out() {
    let folder = TempDir::new().unwrap();
    let url = ("DATABASE__URL", "postgres://ann:hunter2@127.0.0.1:9/sites");
    for command in ["serve", "check", "migrate"] {
        let output = run(folder.path(), &[command], &[ANY_PORT, url]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        let cause = "database.url: postgres://127.0.0.1:9/sites cannot be opened: nothing listens there";
        assert!(said.contains(cause) && said.contains("Start PostgreSQL"), "{command}: {said}");
        assert!(!said.contains("hunter2") && !said.contains("pool"), "{command}: {said}");
    }
}

#[tokio::test]
async fn a_database_that_cannot_hold_every_text_is_refused_by_start_and_check() {
    let Some(fresh) = test_data::postgres::reserve().await else { return };
    fresh.create_encoded("LATIN1").await;
    let folder = TempDir::new().unwrap();
    for command in ["serve", "check", "migrate"] {
        let output = run(folder.path(), &[command], &[ANY_PORT, ("DATABASE__URL", &fresh.url)]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        let mend = "`createdb --encoding=UTF8 --template=template0 NAME`";
        assert!(said.contains("has the encoding LATIN1") && said.contains(mend), "{command}: {said}");
    }
}

#[tokio::test]
async fn a_role_that_may_not_create_tables_is_refused_by_start_and_check() {
    // A pooler passes no options on, and the role is one.
    if test_data::postgres::is_pooled() {
        return;
    }
    let Some(fresh) = test_data::postgres::fresh().await else { return };
    let role = fresh.url.rsplit('/').next().unwrap().replace("sightline_test", "reader");
    let server = Database::connect(&fresh.url).await.unwrap();
    let made = format!("CREATE ROLE {role}; CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO {role}");
    server.execute_unprepared(&made).await.unwrap();
    let url = format!("{}?options=-c%20role%3D{role}%20-c%20search_path%3Down", fresh.url);
    let folder = TempDir::new().unwrap();
    for command in ["serve", "check", "migrate"] {
        let output = run(folder.path(), &[command], &[ANY_PORT, ("DATABASE__URL", &url)]);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert!(said.contains(&format!("`GRANT CREATE ON SCHEMA own TO {role}`")), "{command}: {said}");
    }
    server.execute_unprepared(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await.unwrap();
}
