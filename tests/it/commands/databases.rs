//! Tests of the database that commands find in a data folder.

use sea_orm::{ConnectionTrait as _, Database};
use tempfile::TempDir;

use super::{ANY_PORT, Running, run, sightline, text};
use crate::support::actor::Actor;

/// Commands find the database of a service and make none, so that a wrong folder is noticed.
#[test]
fn commands_need_the_database_of_a_service() {
    let folder = TempDir::new().unwrap();
    let commands = [
        "user list",
        "user add ann@corp.test",
        "subscription list",
        "subscription show --user ann@corp.test",
        "client list",
        "client remove 019a",
        "keys rotate",
        "secrets rotate",
    ];
    let refused = |command: &str, settings: &[(&str, &str)]| {
        let output = run(folder.path(), &command.split(' ').collect::<Vec<_>>(), settings);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{command}: {said}");
        assert!(said.contains("database.url: ") && said.contains("SIGHTLINE_DATA_DIR"), "{command}: {said}");
        said
    };
    let file = folder.path().canonicalize().unwrap().join("data/sightline.db").display().to_string();
    for command in commands {
        let said = refused(command, &[("BASE_URL", "https://search.example.org")]);
        assert!(said.contains(&file), "{command}: {said} does not name {file}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{command} makes nothing");
    }
    std::fs::write(folder.path().join("empty.db"), "").unwrap();
    let said = refused("user list", &[("DATABASE__URL", "sqlite://empty.db")]);
    assert!(said.contains("empty.db holds nothing of Sightline"), "{said}");
    for url in ["sqlite:", "sqlite::memory:"] {
        let unnamed = run(folder.path(), &["serve"], &[ANY_PORT, ("DATABASE__URL", url)]);
        assert!(text(&unnamed.stderr).contains("`database.url`: allowed is "), "{}", text(&unnamed.stderr));
    }
}

#[test]
fn no_error_names_the_databases_password() {
    let folder = TempDir::new().unwrap();
    for url in [
        "postgres://user:hunter2@127.0.0.1:notaport/db",
        "postgres://user:hunter2@",
        "postgres://user:hunter2@127.0.0.1:1/db?sslmode=nonsense",
        "postgres://user:hun%74er2@127.0.0.1:notaport/db",
        "postgres://user:p@hunter2/x@127.0.0.1:1/db",
        "postgres://user:p@hunter2?x@127.0.0.1:1/db",
        "postgres://user:p@hunter2#x@127.0.0.1:1/db",
        "postgres://user:12?hunter2@127.0.0.1:1/db",
        "postgres://user:12/hunter2%40127.0.0.1:1/db",
        "postgres://user:x@127.0.0.1:1/db?sslpassword=hunter2",
        "postgres://user:x@127.0.0.1:1/db?password=ab&hunter2",
    ] {
        let output = run(folder.path(), &["migrate"], &[("DATABASE__URL", url)]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(!said.contains("hunter2") && !said.contains("hun%74er2"), "{said}");
        assert!(said.contains("database.url"), "{said}");
    }
}

#[tokio::test]
async fn a_database_of_another_version_is_refused_in_one_sentence() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["migrate"], &[]).status.success());
    let file = format!("sqlite://{}/data/sightline.db", folder.path().display());
    let db = Database::connect(file).await.unwrap();
    let other = "UPDATE seaql_migrations SET version = 'm0001_people_and_properties' WHERE version = 'm0001_people'";
    assert_eq!(db.execute_unprepared(other).await.unwrap().rows_affected(), 1);
    db.close().await.unwrap();
    let refusal = "sightline: database.url: an unreleased or a newer version made this database (its migration \
                   m0001_people_and_properties is unknown here); start with a new database, or run that version";
    for command in ["migrate", "serve"] {
        let output = run(folder.path(), &[command], &[ANY_PORT]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert!(said.lines().any(|line| line == refusal), "{command}: {said}");
    }
}

#[tokio::test]
async fn a_database_that_lost_the_row_of_a_migration_is_refused() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["migrate"], &[]).status.success());
    let db = Database::connect(format!("sqlite://{}/data/sightline.db", folder.path().display())).await.unwrap();
    let lose = "DELETE FROM seaql_migrations WHERE version = 'm0001_people'";
    assert_eq!(db.execute_unprepared(lose).await.unwrap().rows_affected(), 1);
    db.close().await.unwrap();
    for command in [&["migrate"][..], &["serve"], &["user", "list"]] {
        let output = run(folder.path(), command, &[ANY_PORT, ("BASE_URL", "http://127.0.0.1:8080")]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {said}");
        let named = "seaql_migrations of this database lacks the row m0001_people";
        assert!(said.contains(named) && said.contains("Restore a backup"), "{command:?}: {said}");
    }
}

#[tokio::test]
async fn a_version_runs_beside_a_newer_schema_until_what_it_needs_is_taken_away() {
    let folder = TempDir::new().unwrap();
    let nothing_migrates = ("DATABASE__MIGRATE", "false");
    let early = run(folder.path(), &["serve"], &[ANY_PORT, nothing_migrates]);
    let said = text(&early.stderr);
    assert!(!early.status.success() && said.contains("lacks the migration m0001_people"), "{said}");
    assert!(said.contains("Run `sightline migrate`"), "{said}");
    assert!(run(folder.path(), &["migrate"], &[nothing_migrates]).status.success());

    let apply = async |migration: &str| {
        let file = format!("sqlite://{}/data/sightline.db", folder.path().display());
        let db = Database::connect(file).await.unwrap();
        let row = format!("INSERT INTO seaql_migrations (version, applied_at) VALUES ('{migration}', 0)");
        db.execute_unprepared(&row).await.unwrap();
        db.close().await.unwrap();
    };
    for migration in ["m9998_add_more", "m9999_drop_names_needs_m0001"] {
        apply(migration).await;
        for migrates in ["true", "false"] {
            let settings = [ANY_PORT, ("DATABASE__MIGRATE", migrates)];
            let server = Running::start(sightline(folder.path(), &["serve"], &settings));
            Actor::signed_in(&server.url, "owner").await.get("/api/properties").await.expect(200);
            assert_eq!(server.terminate().0, Some(0));
        }
    }
    apply("m9999_drop_sites_needs_m9998").await;
    let late = run(folder.path(), &["serve"], &[ANY_PORT]);
    let said = text(&late.stderr);
    assert!(!late.status.success() && said.contains("m9999_drop_sites_needs_m9998"), "{said}");
}

/// A second process on the same file is refused. A command's change is visible soon.
#[tokio::test]
async fn one_process_serves_a_file_and_sees_commits_of_commands() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    let second = run(folder.path(), &["serve"], &[ANY_PORT]);
    let said = text(&second.stderr);
    assert!(!second.status.success() && said.contains("database.url: another process serves"), "{said}");

    let owner = Actor::signed_in(&server.url, "owner").await;
    let notes = format!("/api/properties/{}/annotations", owner.property("northmoor").await);
    for (plan, status) in [("none", 402), ("pro", 200), ("none", 402)] {
        let set = run(folder.path(), &["subscription", "set", "--user", "owner@demo.test", "--plan", plan], &[]);
        assert!(set.status.success(), "{}", text(&set.stderr));
        owner.until(&notes, status).await;
    }
    assert_eq!(server.terminate().0, Some(0));
    let again = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    assert_eq!(again.terminate().0, Some(0), "the file is free again");
}

/// The lock belongs to the file, under any name, and is taken before the file is changed.
#[test]
fn a_file_with_several_names_is_served_once() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| format!("sqlite://{}/{name}?mode=rwc", folder.path().display());
    let named = at("a.db");
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT, ("DATABASE__URL", &named)]));
    std::os::unix::fs::symlink(folder.path().join("a.db"), folder.path().join("b.db")).unwrap();
    // Each waits some time for the other process to end.
    let is_refused = |name: &str| {
        let refused = run(folder.path(), &["serve"], &[ANY_PORT, ("DATABASE__URL", &at(name))]);
        let said = text(&refused.stderr);
        assert!(said.contains("another process serves") && !said.contains("migration"), "{name}: {said}");
    };
    std::thread::scope(|scope| {
        for name in ["a.db", "b.db", "%61.db", "./a.db"] {
            scope.spawn(move || is_refused(name));
        }
    });
    drop(server);
}

/// A new key would open nothing of what is there.
#[test]
fn a_lost_key_is_refused_and_not_replaced() {
    let folder = TempDir::new().unwrap();
    let serve = || sightline(folder.path(), &["serve"], &[ANY_PORT]);
    assert_eq!(Running::start(serve()).terminate().0, Some(0));
    let key = folder.path().join("data/secrets.key");
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    let files = || {
        let names = std::fs::read_dir(folder.path().join("data")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("secrets")).count()
    };
    let before = files();
    for command in ["serve", "keys rotate", "secrets rotate", "check"] {
        let output = run(folder.path(), &command.split(' ').collect::<Vec<_>>(), &[ANY_PORT]);
        let said = text(if command == "check" { &output.stdout } else { &output.stderr });
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert!(said.contains("secrets.key is missing, and the database holds values"), "{command}: {said}");
        assert_eq!((key.exists(), files()), (false, before), "{command} makes no file");
    }
    std::fs::write(&key, kept).unwrap();
    assert_eq!(Running::start(serve()).terminate().0, Some(0));
}

/// The process goes on with a file that has no name, and what it writes there is lost.
#[cfg(unix)]
#[tokio::test]
async fn health_says_that_the_file_of_the_database_was_moved_or_deleted() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    let (anonymous, there) = (Actor::anonymous(&server.url), folder.path().join("data/sightline.db"));
    anonymous.until("/api/health", 200).await;
    let moved = folder.path().join("moved.db");
    std::fs::rename(&there, &moved).unwrap();
    anonymous.until("/api/health", 503).await;
    let health = anonymous.get("/api/health").await.expect(503).json["data"].clone();
    let database = health["dependencies"].as_array().unwrap().iter().find(|part| part["name"] == "database").unwrap();
    assert!(database["hint"].as_str().unwrap().contains("was moved, deleted or replaced"), "{health}");
    std::fs::rename(&moved, &there).unwrap();
    anonymous.until("/api/health", 200).await;
    std::fs::remove_file(&there).unwrap();
    anonymous.until("/api/health", 503).await;
    assert_eq!(server.terminate().0, Some(0));
}
