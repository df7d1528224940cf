//! Tests of a restart on the same data folder. The database is always `SQLite`.

use std::{fs, path::Path};

use sea_orm::{ConnectionTrait as _, Statement};
use tempfile::TempDir;

use crate::support::{
    actor::Actor,
    app::{Socket, TestApp},
};

async fn start(folder: &Path, socket: &Socket) -> TestApp {
    let data_dir = folder.display().to_string();
    TestApp::start_on(socket, |config| {
        config.database.url = None;
        config.data_dir = data_dir;
    })
    .await
}

/// The number of rows in every table.
async fn rows(app: &TestApp) -> Vec<(String, i64)> {
    let db = &app.service.db;
    let ask = async |sql: &str| db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await.unwrap();
    let mut found = Vec::new();
    for row in ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").await {
        let table: String = row.try_get("", "name").unwrap();
        let count = ask(&format!("SELECT COUNT(*) AS count FROM \"{table}\"")).await;
        found.push((table, count[0].try_get("", "count").unwrap()));
    }
    found
}

#[tokio::test]
async fn people_grants_and_tokens_outlive_the_process() {
    let folder = TempDir::new().unwrap();
    let socket = Socket::bind();
    let first = start(folder.path(), &socket).await;
    let (owner, viewer) = (first.actor("owner").await, first.actor("viewer").await);
    let ids = async |actor: &Actor| {
        let listed = actor.get("/api/properties").await.expect(200);
        let entries = listed.json["data"].as_array().unwrap();
        assert!(entries.iter().all(|entry| entry["access"] == "ok"), "{}", listed.json);
        entries.iter().map(|entry| entry["id"].to_string()).collect::<Vec<_>>()
    };
    let (owners, viewers, before) = (ids(&owner).await, ids(&viewer).await, rows(&first).await);
    assert!(before.iter().any(|(table, count)| table == "property" && *count > 0), "{before:?}");
    first.service.shutdown().await;

    let second = start(folder.path(), &socket).await;
    assert_eq!(rows(&second).await, before, "nothing is seeded twice");
    assert_eq!(ids(&owner).await, owners, "the token and the stored grant still work");
    assert_eq!(ids(&viewer).await, viewers);
    assert_eq!(ids(&second.actor("owner").await).await, owners);
}

#[tokio::test]
async fn people_and_their_records_outlive_a_change_of_address() {
    let folder = TempDir::new().unwrap();
    let sockets = [Socket::bind(), Socket::bind()];
    let first = start(folder.path(), &sockets[0]).await;
    let owner = first.actor("owner").await;
    let tag = owner.made("/api/tags", &serde_json::json!({ "name": "kept" })).await;
    let (before, old) = (rows(&first).await, first.service.base_url.clone());
    first.service.shutdown().await;

    let second = start(folder.path(), &sockets[1]).await;
    assert_ne!(second.service.base_url, old);
    assert_eq!(rows(&second).await, before, "nobody is known twice");
    let tags = second.actor("owner").await.listed("/api/tags").await;
    assert_eq!(tags[0]["id"], tag);
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    let app = start(&folder.path().join("data"), &Socket::bind()).await;
    app.actor("owner").await.get("/api").await.expect(200);
    let mode = |path: &str| fs::metadata(folder.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("data"), mode("data/secrets.key")), (0o700, 0o600));
    let key = fs::read_to_string(folder.path().join("data/secrets.key")).unwrap();
    assert!(key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
    // Neither tokens nor signing keys are stored in plain text. Only the key decrypts them.
    let stored = fs::read(folder.path().join("data/sightline.db")).unwrap();
    let wal = fs::read(folder.path().join("data/sightline.db-wal")).unwrap_or_default();
    let text = String::from_utf8_lossy(&[stored, wal].concat()).into_owned();
    assert!(text.contains("owner@demo.test") && !text.contains("PRIVATE KEY"));
}

/// A folder that an operator made, such as a container's volume, may be open to everyone on the machine.
#[cfg(unix)]
#[tokio::test]
async fn files_are_their_owners_alone_in_a_folder_that_others_can_read_too() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let modes = || {
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
        let mode = |file: &fs::DirEntry| file.metadata().unwrap().permissions().mode() & 0o777;
        let mut modes: Vec<_> = files.map(|file| (file.file_name().into_string().unwrap(), mode(&file))).collect();
        modes.sort();
        modes
    };
    let all = [
        "secrets.key",
        "secrets.key.lock",
        "sightline.db",
        "sightline.db-shm",
        "sightline.db-wal",
        "sightline.db.lock",
        "sightline.db.opening",
    ];
    let private: Vec<_> = all.iter().map(|name| ((*name).to_owned(), 0o600)).collect();
    let first = start(folder.path(), &Socket::bind()).await;
    first.actor("owner").await.get("/api").await.expect(200);
    assert_eq!(modes(), private, "made anew");
    first.service.shutdown().await;

    // As an older version left them.
    for (name, _) in modes() {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let second = start(folder.path(), &Socket::bind()).await;
    second.actor("owner").await.get("/api").await.expect(200);
    assert_eq!(modes(), private, "found");
}
