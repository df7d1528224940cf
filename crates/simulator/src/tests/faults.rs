//! Tests of fault injection.

use std::time::Duration;

use serde_json::{Value, json};

use super::{SOFTWARE, Server, body, whole};
use crate::{Endpoint, Fault, Settings};

fn question() -> Value {
    body("2026-11-10", "2026-11-11", json!({}))
}

async fn server(fault: &str) -> Server {
    Server::with(Settings { faults: vec![fault.parse().unwrap()], ..Settings::default() }).await
}

#[tokio::test]
async fn each_refusal_has_its_shape() {
    let shapes = [
        ("quota403:1", 403, "usageLimits", "quotaExceeded"),
        ("permission403:1", 403, "global", "forbidden"),
        ("rate429:1", 429, "usageLimits", "rateLimitExceeded"),
        ("error500:1", 500, "global", "backendError"),
        ("error200:1", 200, "global", "backendError"),
    ];
    for (fault, status, domain, reason) in shapes {
        let server = server(fault).await;
        let answer = server.query(SOFTWARE, &question()).await;
        let item = &answer.1["error"]["errors"][0];
        assert_eq!((answer.0, &item["domain"], &item["reason"]), (status, &json!(domain), &json!(reason)), "{fault}");
        server.simulator.controls().reset();
        assert_eq!(server.query(SOFTWARE, &question()).await.0, 200);
        assert_eq!(server.simulator.controls().requests(Endpoint::Query), 1);
    }
}

#[tokio::test]
async fn the_same_requests_fail_every_time() {
    let server = server("error500:0.5").await;
    let mut runs = Vec::new();
    for _ in 0..2 {
        server.simulator.controls().set_faults(vec!["error500:0.5".parse().unwrap()]);
        let mut run = Vec::new();
        for _ in 0..20 {
            run.push(server.get("/webmasters/v3/sites", "sim-owner").await.0);
        }
        runs.push(run);
    }
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].contains(&200) && runs[0].contains(&500));
}

#[tokio::test]
async fn bodies_can_break_off_or_crawl() {
    let server = server("truncated:1").await;
    let send = || server.client.get(server.url("/webmasters/v3/sites")).bearer_auth("sim-owner").send();
    let answer = send().await.unwrap();
    assert!(answer.content_length() > Some(100));
    assert!(whole(answer).await.is_err());
    server.simulator.controls().set_faults(vec!["slow:1".parse().unwrap()]);
    let answer = send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(tokio::time::timeout(Duration::from_millis(300), whole(answer)).await.is_err());
}

#[tokio::test]
async fn answers_can_be_held_back() {
    let server = Server::start().await;
    server.simulator.controls().set_latency(Duration::from_millis(120));
    let began = std::time::Instant::now();
    assert_eq!(server.get("/webmasters/v3/sites", "sim-owner").await.0, 200);
    assert!(began.elapsed() >= Duration::from_millis(120));
}

#[test]
fn faults_are_read_strictly() {
    for wrong in ["", "slow", "slow:", "slow:2", "slow:-0.1", "slow:NaN", "fire:0.5"] {
        let error = wrong.parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains("KIND:RATE") && error.contains("invalid_grant"), "{error}");
    }
}
