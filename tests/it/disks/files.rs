//! Tests of a `SQLite` file on a disk that is full, that fails, or that takes no writes. The service runs in a process whose calls fail.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use sea_orm::Database;
use tempfile::TempDir;

use super::Writer;
use crate::{
    commands::{Running, sightline},
    support::actor::Actor,
};

const EPERM: i32 = 1;
const EIO: i32 = 5;
const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;
const ENOSYS: i32 = 38;
const EOPNOTSUPP: i32 = 95;

/// The calls of a service that write files, which can be made to fail.
struct Disk {
    folder: TempDir,
    rounds: std::cell::Cell<u32>,
}

/// Compiles a file of this folder to a library that `LD_PRELOAD` takes.
fn compile(source: &str, library: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/disks").join(source);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(library).arg(source).arg("-ldl");
    assert!(compiler.status().unwrap().success());
}

impl Disk {
    fn new() -> Self {
        let disk = Self { folder: TempDir::new().unwrap(), rounds: 0.into() };
        compile("faults.c", &disk.library());
        disk
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("faults.so")
    }

    fn control(&self) -> PathBuf {
        self.folder.path().join("faults")
    }

    /// Starts a service whose calls can fail.
    fn serve(&self) -> Running {
        let settings = [("LISTEN", "127.0.0.1:0"), ("DATA_DIR", "data"), ("RATE_LIMIT__ENABLED", "false")];
        let mut command = sightline(self.folder.path(), &["serve"], &settings);
        command.env("LD_PRELOAD", self.library()).env("FAULTS", self.control()).stderr(Stdio::null());
        Running::start(command)
    }

    /// A writer whose database is read beside the service.
    async fn writer(&self, server: &Running) -> Writer {
        let file = self.folder.path().join("data/sightline.db");
        let db = Database::connect(format!("sqlite://{}?mode=ro", file.display())).await.unwrap();
        Writer::new(Actor::signed_in(&server.url, "owner").await, db).await
    }

    /// From now on `count` calls fail with `errno`, beginning with the call number `first`.
    fn fail(&self, errno: i32, first: u32, count: u32) {
        self.rounds.set(self.rounds.get() + 1);
        let hit = self.folder.path().join("faults.hit");
        let _ = fs::remove_file(&hit);
        // Renamed into place, so that the service reads it whole.
        let new = self.folder.path().join("faults.new");
        fs::write(&new, format!("{} {errno} {first} {count}", self.rounds.get())).unwrap();
        fs::rename(new, self.control()).unwrap();
    }

    /// Ends the faults. Returns whether a call failed.
    fn end(&self) -> bool {
        let _ = fs::remove_file(self.control());
        self.folder.path().join("faults.hit").exists()
    }
}

#[tokio::test]
async fn whichever_call_fails_an_acknowledged_write_is_in_the_file() {
    let disk = Disk::new();
    let server = disk.serve();
    let writer = disk.writer(&server).await;
    for errno in [ENOSPC, EIO, EROFS] {
        let mut failed = 0;
        for call in 1.. {
            disk.fail(errno, call, 1);
            let mut hit = false;
            writer.check(&format!("errno {errno} call {call:02}"), || hit = disk.end()).await;
            if !hit {
                break;
            }
            failed += 1;
        }
        assert!(failed >= 2, "{failed} calls of a write failed with {errno}");
    }
}

#[tokio::test]
async fn a_disk_that_fails_for_a_while_loses_no_acknowledged_write_and_is_seen() {
    let disk = Disk::new();
    let server = disk.serve();
    let writer = disk.writer(&server).await;
    let health = async |status: &str| {
        let answer = writer.owner.get("/api/health").await.expect(200);
        let database = &answer.json["data"]["dependencies"][0];
        (database["name"] == "database" && database["status"] == status, answer.json.to_string())
    };
    let mut acknowledged = Vec::new();
    for errno in [ENOSPC, EIO, EROFS] {
        for number in 0..60 {
            if number == 20 {
                disk.fail(errno, 1, u32::MAX);
            }
            if number == 40 {
                disk.end();
            }
            let text = format!("load {errno} {number:02}");
            let answer = writer.add(&text).await;
            if (20..40).contains(&number) {
                let answer = answer.expect(503);
                assert_eq!(answer.header("retry-after"), "5");
                writer.owner.get(&writer.path).await.expect(200);
            } else {
                answer.expect(201);
                acknowledged.push(text);
            }
            if number == 30 && errno == ENOSPC {
                eventually(|| health("degraded")).await;
            }
        }
        if errno == ENOSPC {
            eventually(|| health("ok")).await;
        }
    }
    let mut stored = writer.stored("load").await;
    acknowledged.sort();
    stored.sort();
    assert_eq!(stored, acknowledged);
}

/// Waits until `is_so` returns true.
async fn eventually(is_so: impl AsyncFn() -> (bool, String)) {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
    loop {
        let (so, said) = is_so().await;
        if so {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "{said}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_file_that_reaches_the_limit_of_its_size_ends_no_service() {
    let disk = Disk::new();
    let server = disk.serve();
    let writer = disk.writer(&server).await;
    let limit = |bytes: &str| {
        let mut command = Command::new("prlimit");
        command.args(["--pid", &server.id().to_string()]).arg(format!("--fsize={bytes}:"));
        assert!(command.status().unwrap().success());
    };
    writer.add("before").await.expect(201);
    limit("1");
    let refused = writer.add("during").await.expect(503);
    assert_eq!(refused.header("retry-after"), "5");
    writer.owner.get(&writer.path).await.expect(200);
    limit("unlimited");
    writer.add("after").await.expect(201);
    assert_eq!([writer.stored("before").await.len(), writer.stored("after").await.len()], [1, 1]);
}

#[test]
fn a_folder_without_hard_links_whose_names_cannot_be_synced_holds_a_service_and_its_copies() {
    let library = TempDir::new().unwrap();
    let poor = library.path().join("poor.so");
    compile("poor.c", &poor);
    for (link, sync) in [(EPERM, EINVAL), (EOPNOTSUPP, EOPNOTSUPP), (ENOSYS, ENOSYS)] {
        let folder = TempDir::new().unwrap();
        let on_it = |arguments: &[&str], settings: &[(&str, &str)]| {
            let mut command = sightline(folder.path(), arguments, settings);
            command.env("LD_PRELOAD", &poor).env("HIT", folder.path().join("hit"));
            command.env("LINK", link.to_string()).env("SYNC", sync.to_string());
            command
        };
        let key = || fs::read_to_string(folder.path().join("data/secrets.key")).unwrap();
        let server = Running::start(on_it(&["serve"], &[("LISTEN", "127.0.0.1:0")]));
        let first = key();
        let (code, _, log) = server.terminate();
        assert_eq!((code, first.len()), (Some(0), 64), "{log}");
        let hit = |call: &str| folder.path().join(format!("hit.{call}")).exists();
        assert!(hit("link") && hit("sync"), "{link} {sync}");
        for arguments in [&["backup", "copy.db"][..], &["secrets", "rotate"]] {
            let output = on_it(arguments, &[]).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        }
        assert_ne!(key(), first, "it was replaced");
        let (replaced, server) = (key(), Running::start(on_it(&["serve"], &[("LISTEN", "127.0.0.1:0")])));
        assert_eq!((server.terminate().0, key()), (Some(0), replaced), "it is kept");
    }
}

#[test]
fn a_folder_whose_disk_fails_is_not_taken_for_one_whose_names_cannot_be_synced() {
    let (library, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let poor = library.path().join("poor.so");
    compile("poor.c", &poor);
    let mut command = sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]);
    command.env("LD_PRELOAD", &poor).env("HIT", folder.path().join("hit"));
    let output = command.env("LINK", EPERM.to_string()).env("SYNC", EIO.to_string()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("secrets.key"), "{said}");
}
