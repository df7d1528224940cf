//! Tests of `backup` and `restore`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::atomic::{AtomicBool, Ordering},
};

use sea_orm::{ConnectionTrait as _, Database, DbBackend, Statement};
use serde_json::json;
use tempfile::TempDir;

use super::{ANY_PORT, Running, run, sightline, text};
use crate::support::actor::Actor;

/// Names and bytes of the files in a folder.
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.filter(|path| path.is_file()).map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    files.sort();
    files
}

#[track_caller]
fn refused(output: &Output, hint: &str) {
    let said = text(&output.stderr);
    assert!(output.status.code() == Some(1) && output.stdout.is_empty() && said.contains(hint), "{hint}: {said}");
}

async fn names_of_tags(owner: &Actor) -> Vec<String> {
    let listed = owner.get("/api/tags").await.expect(200);
    listed.json["data"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_made_under_writes_holds_all_that_was_acknowledged_before() {
    let (folder, elsewhere) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT, ("RATE_LIMIT__ENABLED", "false")]));
    let owner = Actor::signed_in(&server.url, "owner").await;
    let create = async |name: &str| owner.post("/api/tags", &json!({ "name": name })).await.expect(201);
    create("Before").await;
    let is_over = AtomicBool::new(false);
    let writes = async {
        let mut number = 0;
        while !is_over.load(Ordering::Relaxed) {
            create(&format!("During {number}")).await;
            number += 1;
        }
    };
    let copies = async {
        let mut command = sightline(folder.path(), &["backup", "copy.db"], &[]);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        is_over.store(true, Ordering::Relaxed);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        assert!(said.starts_with("wrote copy.db (") && said.contains("secrets.key is not in it"), "{said}");
    };
    tokio::join!(writes, copies);
    create("After").await;
    let all = names_of_tags(&owner).await;
    assert_eq!(server.terminate().0, Some(0));

    let copy = folder.path().join("copy.db");
    let restored = run(elsewhere.path(), &["restore", copy.to_str().unwrap()], &[]);
    let said = text(&restored.stdout);
    assert!(restored.status.success() && said.contains("put the key that it had into data/secrets.key"), "{said}");
    fs::copy(folder.path().join("data/secrets.key"), elsewhere.path().join("data/secrets.key")).unwrap();
    let server = Running::start(sightline(elsewhere.path(), &["serve"], &[ANY_PORT]));
    let names = names_of_tags(&Actor::signed_in(&server.url, "owner").await).await;
    assert!(names.contains(&"Before".to_owned()) && !names.contains(&"After".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| all.contains(name)), "{names:?}");
}

#[test]
fn a_backup_replaces_nothing_and_changes_no_schema() {
    let folder = TempDir::new().unwrap();
    let there = |file: &str| folder.path().join(file);
    refused(
        &run(folder.path(), &["backup", "copy.db"], &[]),
        "database.url: this command needs the database of a service",
    );
    assert!(content(folder.path()).is_empty(), "nothing is made");
    assert!(run(folder.path(), &["migrate"], &[]).status.success());
    fs::write(there("taken"), "kept").unwrap();
    fs::write(there("copy.db.partial"), "left by an attempt that was killed").unwrap();
    for (file, hint) in [
        ("taken", "taken: the file is there"),
        ("data", "data: the file is there"),
        ("nowhere/copy.db", "nowhere/copy.db: the file cannot be written"),
    ] {
        refused(&run(folder.path(), &["backup", file], &[]), hint);
    }
    assert_eq!(fs::read_to_string(there("taken")).unwrap(), "kept");
    let postgres = ("DATABASE__URL", "postgres://postgres@127.0.0.1/none");
    refused(&run(folder.path(), &["backup", "b.db"], &[postgres]), "use `pg_dump`");
    refused(&run(folder.path(), &["restore", "b.db"], &[postgres]), "use `pg_restore`");

    let output = run(folder.path(), &["backup", "copy.db"], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let names: Vec<_> = content(folder.path()).into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [there("copy.db"), there("taken")], "no part is left");
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(there("copy.db")).unwrap().permissions()) & 0o777,
        0o600
    );
}

#[tokio::test]
async fn a_restore_takes_whole_copies_only_and_replaces_no_database() {
    let folder = TempDir::new().unwrap();
    let there = |file: &str| folder.path().join(file);
    for arguments in [&["migrate"][..], &["backup", "copy.db"]] {
        assert!(run(folder.path(), arguments, &[]).status.success());
    }
    let whole = fs::read(there("copy.db")).unwrap();
    let mut torn = whole.clone();
    let middle = torn.len() / 2;
    torn[middle..middle + 4096].fill(0x55);
    for (file, bytes) in [("cut", &whole[..whole.len() / 2]), ("torn", &torn), ("text", b"no database"), ("empty", b"")]
    {
        fs::write(there(file), bytes).unwrap();
    }
    fs::copy(there("copy.db"), there("newer")).unwrap();
    let changes = [
        ("foreign", "CREATE TABLE stranger (id INTEGER)"),
        ("newer", "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_drop_sites_needs_m9998', 0)"),
    ];
    for (file, change) in changes {
        let db = Database::connect(format!("sqlite://{}?mode=rwc", there(file).display())).await.unwrap();
        db.execute_unprepared(change).await.unwrap();
        db.close().await.unwrap();
    }
    let new = TempDir::new().unwrap();
    for (file, hint) in [
        ("nowhere", "nowhere: the file cannot be read"),
        ("data", "data: this is no file"),
        ("cut", "cut: "),
        ("torn", "torn: "),
        ("text", "text: this is no whole SQLite database"),
        ("empty", "empty: the database holds nothing of Sightline"),
        ("foreign", "foreign: the database holds nothing of Sightline"),
        ("newer", "m9999_drop_sites_needs_m9998 is unknown here"),
    ] {
        refused(&run(new.path(), &["restore", there(file).to_str().unwrap()], &[]), hint);
        let left = content(&new.path().join("data"));
        assert!(left.is_empty(), "{file}: {left:?}");
    }

    let refusal = "is there, and a restore replaces no database";
    refused(&run(folder.path(), &["restore", "copy.db"], &[]), refusal);
    fs::rename(there("data"), there("moved")).unwrap();
    fs::create_dir(there("data")).unwrap();
    for left in ["-wal", "-shm", "-journal"] {
        let left = there(&format!("data/sightline.db{left}"));
        fs::write(&left, "of the former database").unwrap();
        refused(&run(folder.path(), &["restore", "copy.db"], &[]), refusal);
        fs::remove_file(left).unwrap();
    }
    let output = run(folder.path(), &["restore", "copy.db"], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let names: Vec<_> = content(&there("data")).into_iter().map(|(path, _)| path).collect();
    assert_eq!(names, [there("data/sightline.db"), there("data/sightline.db.lock")]);

    // The copies of a service are read by the SQLite of an operator's system, whose functions are those of 2022.
    let db = Database::connect(format!("sqlite://{}", there("copy.db").display())).await.unwrap();
    let ask = Statement::from_string(
        DbBackend::Sqlite,
        "SELECT count(*) AS n FROM sqlite_master WHERE sql LIKE '%octet_length%'",
    );
    let with_new_functions: i64 = db.query_one_raw(ask).await.unwrap().unwrap().try_get("", "n").unwrap();
    assert_eq!(with_new_functions, 0);
}

/// Only root can make files for others, so nothing is tried by others.
#[cfg(unix)]
#[test]
fn what_root_restores_belongs_to_the_owner_of_the_folder() {
    use std::os::unix::fs::{MetadataExt as _, chown};

    let (folder, new) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    for arguments in [&["migrate"][..], &["backup", "copy.db"]] {
        assert!(run(folder.path(), arguments, &[]).status.success());
    }
    if chown(new.path(), Some(65_534), Some(65_534)).is_err() {
        return;
    }
    let output = run(new.path(), &["restore", folder.path().join("copy.db").to_str().unwrap()], &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for made in ["data", "data/sightline.db", "data/sightline.db.lock"] {
        let found = fs::metadata(new.path().join(made)).unwrap();
        assert_eq!((found.uid(), found.gid()), (65_534, 65_534), "{made}");
    }
    // A later command of root leaves nothing of its own either, not even the files that SQLite makes beside the database.
    let server = Running::start(sightline(new.path(), &["serve"], &[ANY_PORT]));
    for entry in fs::read_dir(new.path().join("data")).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().uid(), 65_534, "{}", entry.path().display());
    }
    assert_eq!(server.terminate().0, Some(0));
}
