//! Tests of concurrent requests, and of clients that disconnect early.

use std::time::Duration;

use futures_util::future::join_all;
use poem::http::StatusCode;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use super::{assert_replay, enforced, keyed, replayed};
use crate::support::{actor::Actor, app::TestApp};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_fifty_equal_requests_runs() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for write in enforced(&owner.property("northmoor").await) {
        let (id, before) = (&write.id, write.list(&owner).await.len());
        let body = write.named("race");
        let answers = join_all((0..50).map(|_| keyed(&owner, &write.path, "race", &body))).await;
        let (ran, others): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| replayed(answer) == "false");
        assert_eq!(ran.len(), 1, "{id}");
        assert_eq!(ran[0].status, StatusCode::CREATED, "{id}");
        for other in others {
            if other.status == StatusCode::CONFLICT {
                assert_eq!((other.code(), replayed(other)), ("idempotency_in_progress", ""), "{id}");
                assert!((1..=5).contains(&other.header("retry-after").parse::<u8>().unwrap()), "{id}");
            } else {
                assert_replay(other, ran[0], id);
            }
        }
        assert_eq!(write.list(&owner).await.len(), before + 1, "{id}");
        assert_replay(&keyed(&owner, &write.path, "race", &body).await, ran[0], id);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn different_keys_do_not_stand_in_each_others_way() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let send = async |number: usize| {
        let actor = if number.is_multiple_of(4) { &stranger } else { &owner };
        keyed(actor, "/api/tags", &format!("key {number}"), &json!({ "name": format!("Tag {number}") })).await
    };
    for answer in join_all((0..20).map(send)).await {
        assert_eq!(replayed(&answer.expect(201)), "false");
    }
    let orders: Vec<Value> = owner.get("/api/tags").await.json["data"].as_array().unwrap().clone();
    let orders: Vec<_> = orders.iter().map(|tag| tag["order"].as_u64().unwrap()).collect();
    assert_eq!(orders, (0..15).collect::<Vec<_>>(), "places without gaps");
}

/// The least number of clients that disconnect, each a little later than the one before, and the most.
const CLIENTS: std::ops::Range<u64> = 40..150;

/// Sends a whole request and disconnects after `patience`.
async fn hang_up(app: &TestApp, owner: &Actor, number: u64, body: &str, patience: Duration) {
    let mut stream = TcpStream::connect(app.service.address).await.unwrap();
    let head = format!(
        "POST /api/tags HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         idempotency-key: gone {number}\r\ncontent-length: {}\r\n\r\n{body}",
        owner.token(),
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(patience).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_gone_finds_its_record_made_once() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let (mut clients, mut outlived) = (0, 0);
    for number in 0..CLIENTS.end {
        if number >= CLIENTS.start && outlived > 0 {
            break;
        }
        clients += 1;
        let body = json!({ "name": format!("Gone {number}") });
        hang_up(&app, &owner, number, &body.to_string(), Duration::from_micros(15 * number * number)).await;
        let answer = loop {
            let answer = keyed(&owner, "/api/tags", &format!("gone {number}"), &body).await;
            if answer.status != StatusCode::CONFLICT {
                break answer.expect(201);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        outlived += usize::from(replayed(&answer) == "true");
        let again = keyed(&owner, "/api/tags", &format!("gone {number}"), &body).await;
        assert_replay(&again, &answer, "the retry");
    }
    assert!(outlived > 0, "no request got as far as its record");
    let tags = owner.get("/api/tags").await;
    let mut names: Vec<&str> =
        tags.json["data"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len() as u64, clients);
    assert_eq!(tags.json["data"].as_array().unwrap().len() as u64, clients, "none twice");
}
