//! Kills the process at random moments while clients write with keys and retry until they get a response. Afterwards every
//! acknowledged record exists once, and every key returns the acknowledged response.

use std::{
    collections::HashMap,
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use common::random::Random;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    commands::{Running, sightline},
    support::{actor::Actor, whole::Whole as _},
};

/// The number of kills in every test run.
const KILLS: usize = 6;

/// The number of kills in `make test-crash`.
const KILLS_IN_LONG_FORM: usize = 200;

/// Clients that annotate properties, one property each.
const PROPERTIES: [&str; 3] = ["northmoor", "ledgerline", "harbourpost"];

/// Starts the command on `folder` and, if the suite runs on `PostgreSQL`, on `database`. A restart uses the port of
/// `before`, because the issuer of the tokens is named by it.
fn start(folder: &Path, database: Option<&str>, before: Option<&str>) -> Running {
    let listen = before.map_or("127.0.0.1:0", |url| url.trim_start_matches("http://"));
    let mut settings = vec![("LISTEN", listen), ("DATA_DIR", "data"), ("RATE_LIMIT__ENABLED", "false")];
    settings.extend(database.map(|url| ("DATABASE__URL", url)));
    let mut command = sightline(folder, &["serve"], &settings);
    // Nobody reads the log, and a full pipe would block the service.
    command.stderr(Stdio::null());
    Running::start(command)
}

/// A client's request and its response.
struct Acknowledged {
    path: String,
    key: String,
    body: Value,
    answer: Vec<u8>,
}

/// A client that writes one record after the other.
#[derive(Clone)]
struct Client {
    http: reqwest::Client,
    url: String,
    token: String,
    path: String,
    name: String,
}

impl Client {
    /// One attempt: status, `Idempotency-Replayed` and body. `None` if the service went away.
    async fn attempt(&self, key: &str, body: &Value) -> Option<(u16, String, Vec<u8>)> {
        let request = self.http.post(format!("{}{}", self.url, self.path)).bearer_auth(&self.token);
        let answer = request.header("idempotency-key", key).json(body).send().await.ok()?;
        let status = answer.status().as_u16();
        // A person has 5,000 stored answers at most. Beyond that a write is no longer exactly once, and says so.
        assert!(!answer.headers().contains_key("idempotency-storage"), "{key}: too many answers for this test");
        let replayed = answer.headers().get("idempotency-replayed").map(|value| value.to_str().unwrap().to_owned());
        Some((status, replayed.unwrap_or_default(), answer.whole_bytes().await.ok()?.to_vec()))
    }

    /// Retries until the write is acknowledged.
    async fn insist(&self, number: usize) -> Acknowledged {
        let name = format!("{} {number}", self.name);
        let body = if self.path == "/api/tags" {
            json!({ "name": name })
        } else {
            json!({ "date": "2026-11-01", "text": name })
        };
        loop {
            match self.attempt(&name, &body).await {
                Some((201, _, answer)) => return Acknowledged { path: self.path.clone(), key: name, body, answer },
                None | Some((409 | 500..=599, ..)) => tokio::time::sleep(Duration::from_millis(10)).await,
                Some((status, _, answer)) => panic!("{name}: {status} {}", String::from_utf8_lossy(&answer)),
            }
        }
    }

    async fn write(self, stop: Arc<AtomicBool>) -> Vec<Acknowledged> {
        // Slow enough that the long form stays below the 5,000 stored answers of a person.
        let pause = Duration::from_millis(50);
        let mut acknowledged = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            acknowledged.push(self.insist(acknowledged.len()).await);
            tokio::time::sleep(pause).await;
        }
        acknowledged
    }
}

async fn clients(url: &str, owner: &Actor) -> Vec<Client> {
    let mut paths = vec!["/api/tags".to_owned()];
    for property in PROPERTIES {
        paths.push(format!("/api/properties/{}/annotations", owner.property(property).await));
    }
    let http = sightline::app::http_client().unwrap();
    let client = |(number, path): (usize, String)| Client {
        http: http.clone(),
        url: url.to_owned(),
        token: owner.token().to_owned(),
        path,
        name: format!("client {number} record"),
    };
    paths.into_iter().enumerate().map(client).collect()
}

/// The number of occurrences of each name in all lists.
async fn records(owner: &Actor, clients: &[Client]) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    for client in clients {
        let listed = owner.get(&client.path).await.expect(200);
        for record in listed.json["data"].as_array().unwrap() {
            let name = record["name"].as_str().or(record["text"].as_str()).unwrap();
            *found.entry(name.to_owned()).or_default() += 1;
        }
    }
    found
}

async fn survive(kills: usize) {
    let (folder, database) = (TempDir::new().unwrap(), test_data::postgres::fresh().await);
    let database = database.as_ref().map(|fresh| fresh.url.as_str());
    let mut server = start(folder.path(), database, None);
    let url = server.url.clone();
    let owner = Actor::signed_in(&url, "owner").await;
    let (clients, stop) = (clients(&url, &owner).await, Arc::new(AtomicBool::new(false)));
    let writing: Vec<_> = clients.iter().cloned().map(|client| tokio::spawn(client.write(stop.clone()))).collect();
    let random = Random::system();
    for _ in 0..kills {
        tokio::time::sleep(Duration::from_secs_f64(0.02 + 0.3 * random.unit())).await;
        // Dropping it kills the process.
        drop(server);
        let (folder, database, url) = (folder.path().to_owned(), database.map(str::to_owned), url.clone());
        let again = move || start(&folder, database.as_deref(), Some(&url));
        server = tokio::task::spawn_blocking(again).await.unwrap();
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged = Vec::new();
    for writing in writing {
        acknowledged.extend(writing.await.unwrap());
    }
    assert!(acknowledged.len() > kills, "{} writes are no load", acknowledged.len());

    let records = records(&owner, &clients).await;
    for (name, count) in records.iter().filter(|(name, _)| name.starts_with("client ")) {
        assert_eq!(*count, 1, "{name} is there more than once");
    }
    for Acknowledged { path, key, body, answer } in &acknowledged {
        assert_eq!(records.get(key), Some(&1), "{key} was acknowledged and is lost");
        let client = Client { path: path.clone(), ..clients[0].clone() };
        let again = client.attempt(key, body).await.unwrap();
        assert_eq!((again.0, again.1.as_str()), (201, "true"), "{key}");
        assert!(again.2 == *answer, "{key} is answered otherwise than it was");
    }
    println!("{} acknowledged writes outlived {kills} kills", acknowledged.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_outlives_the_process() {
    survive(KILLS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes; make test-crash"]
async fn what_was_acknowledged_outlives_the_process_in_the_long_form() {
    survive(KILLS_IN_LONG_FORM).await;
}
