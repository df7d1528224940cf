//! Tests of the first hour as docs/OPERATING.md tells it: a start under a supervisor, and commands right after it or at the same time.

#![cfg(unix)]

use std::{os::unix::net::UnixDatagram, process::Child};

use sea_orm::{ConnectionTrait as _, Database};
use tempfile::TempDir;

use super::{ANY_PORT, Running, run, sightline, text};

/// Settings of a service for people, whose start adds no demo people.
const FOR_PEOPLE: [(&str, &str); 2] = [ANY_PORT, ("BASE_URL", "https://search.example.org")];

/// The next message to a supervisor.
fn message(supervisor: &UnixDatagram) -> String {
    let mut message = [0; 64];
    let length = supervisor.recv(&mut message).unwrap();
    text(&message[..length])
}

#[test]
fn a_supervisor_learns_when_the_service_is_ready_and_commands_work_from_then_on() {
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("notify");
    let supervisor = UnixDatagram::bind(&socket).unwrap();
    let mut serve = sightline(folder.path(), &["serve"], &FOR_PEOPLE);
    serve.env("NOTIFY_SOCKET", &socket);
    let child = serve.spawn().unwrap();
    assert_eq!(message(&supervisor), "READY=1");
    let added = run(folder.path(), &["user", "add", "ann@example.org"], &FOR_PEOPLE[1..]);
    assert!(added.status.success(), "{}", text(&added.stderr));
    let ended = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(ended.success());
    assert_eq!(message(&supervisor), "STOPPING=1");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
}

#[test]
fn commands_that_start_beside_the_first_start_succeed_or_say_what_to_do() {
    for _ in 0..3 {
        let folder = TempDir::new().unwrap();
        let serve = sightline(folder.path(), &["serve"], &FOR_PEOPLE);
        let start = |arguments: &[&str]| sightline(folder.path(), arguments, &FOR_PEOPLE[1..]).spawn().unwrap();
        let migrate: Vec<Child> = (0..2).map(|_| start(&["migrate"])).collect();
        let others: Vec<Child> =
            (0..3).flat_map(|_| [start(&["user", "add", "ann@example.org"]), start(&["user", "list"])]).collect();
        let server = Running::start_for(serve, "https://search.example.org");
        for child in migrate {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        for child in others {
            let output = child.wait_with_output().unwrap();
            let said = text(&output.stderr);
            let is_told =
                ["`sightline serve` or `sightline migrate`", "ann@example.org"].iter().any(|way| said.contains(way));
            assert!(output.status.success() || is_told, "{said}");
        }
        let listed = run(folder.path(), &["user", "list"], &FOR_PEOPLE[1..]);
        assert!(listed.status.success(), "{}", text(&listed.stderr));
        assert_eq!(server.terminate().0, Some(0));
    }
}

#[tokio::test]
async fn only_serve_and_migrate_apply_migrations() {
    let folder = TempDir::new().unwrap();
    assert!(run(folder.path(), &["migrate"], &[]).status.success());
    let file = format!("sqlite://{}/data/sightline.db", folder.path().display());
    let db = Database::connect(file).await.unwrap();
    let forget = "DELETE FROM seaql_migrations WHERE version = (SELECT max(version) FROM seaql_migrations)";
    assert_eq!(db.execute_unprepared(forget).await.unwrap().rows_affected(), 1);
    db.close().await.unwrap();
    for command in ["user list", "user add ann@example.org", "subscription list", "client list", "keys rotate"] {
        let output = run(folder.path(), &command.split(' ').collect::<Vec<_>>(), &FOR_PEOPLE[1..]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {said}");
        assert!(said.contains("lacks the migration") && said.contains("run `sightline migrate`"), "{command}: {said}");
    }
}
