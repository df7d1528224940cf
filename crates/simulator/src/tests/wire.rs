//! Tests of the wire format: sites, rows, order, limits, errors.

use serde_json::{Value, json};

use super::{RETAIL, SOFTWARE, Server, body, read, rows};
use crate::{Endpoint, Settings};

#[tokio::test]
async fn sites_are_listed_with_their_levels() {
    let server = Server::start().await;
    let (status, answer) = server.get("/webmasters/v3/sites", "sim-owner").await;
    assert_eq!(status, 200);
    let level = |site: &str| {
        let entries = answer["siteEntry"].as_array().unwrap();
        entries.iter().find(|entry| entry["siteUrl"] == site).map(|entry| entry["permissionLevel"].clone())
    };
    assert_eq!(level(RETAIL), Some(json!("siteOwner")));
    assert_eq!(level(SOFTWARE), Some(json!("siteFullUser")));
    assert_eq!(level("https://legacy.northmoor.example/"), Some(json!("siteUnverifiedUser")));
    assert_eq!(server.get("/webmasters/v3/sites", "sim-editor").await, (200, json!({})));
    for token in ["sim-stranger", "sim-lapsed"] {
        let answer = server.get("/webmasters/v3/sites?alt=json", token).await.1;
        assert_eq!(answer["siteEntry"].as_array().unwrap().len(), 1);
    }
    assert_eq!(server.simulator.controls().requests(Endpoint::Sites), 4);
}

#[tokio::test]
async fn one_site_is_found_by_its_exact_bytes() {
    let server = Server::start().await;
    let get = async |id: &str| server.get(&format!("/webmasters/v3/sites/{id}"), "sim-owner").await;
    let (status, site) = get("https%3A%2F%2Fwww.ledgerline.example%2F").await;
    assert_eq!((status, &site["siteUrl"]), (200, &json!(SOFTWARE)));
    assert_eq!(get("sc-domain%3Anorthmoor.example").await.0, 200);
    assert_eq!(get("sc-domain:northmoor.example").await.0, 200);
    let not_ours = [
        "https%3A%2F%2Fwww.ledgerline.example",
        "https%3A%2F%2FWWW.ledgerline.example%2F",
        "sc-domain%3Aquietmeadow.test",
    ];
    for id in not_ours {
        let (status, answer) = get(id).await;
        assert_eq!((status, &answer["error"]["errors"][0]["reason"]), (403, &json!("forbidden")), "{id}");
        assert_eq!(answer["error"]["status"], "PERMISSION_DENIED");
    }
    assert_eq!(get("northmoor.example").await.0, 404);
    let unknown = server.get("/webmasters/v3/nothing", "sim-owner").await;
    assert_eq!((unknown.0, &unknown.1["error"]["errors"][0]["reason"]), (404, &json!("notFound")));
}

#[tokio::test]
async fn data_of_a_site_needs_a_verified_place_in_the_list() {
    let server = Server::start().await;
    let body = body("2026-11-10", "2026-11-11", json!({}));
    for site in ["https://legacy.northmoor.example/", "sc-domain:quietmeadow.test", "sc-domain:nowhere.test"] {
        let (status, answer) = server.query(site, &body).await;
        assert_eq!((status, &answer["error"]["errors"][0]["reason"]), (403, &json!("forbidden")), "{site}");
    }
    assert_eq!(server.query_as("sc-domain:quietmeadow.test", &body, "sim-stranger").await.0, 200);
}

#[tokio::test]
async fn bad_tokens_are_401_with_a_challenge() {
    let server = Server::start().await;
    let url = server.url("/webmasters/v3/sites");
    let bad = server.client.get(&url).bearer_auth("ya29.made-up").send().await.unwrap();
    assert!(bad.headers()["www-authenticate"].to_str().unwrap().contains("error=\"invalid_token\""));
    let (status, answer) = read(bad).await;
    assert_eq!((status, &answer["error"]["errors"][0]["reason"]), (401, &json!("authError")));
    assert_eq!(answer["error"]["status"], "UNAUTHENTICATED");
    assert_eq!(answer["error"]["errors"][0]["message"], "Invalid Credentials");
    let none = server.client.get(&url).send().await.unwrap();
    assert!(none.headers().contains_key("www-authenticate"));
    assert_eq!(none.status(), 401);
}

#[tokio::test]
async fn rows_are_ordered_and_limited() {
    let server = Server::start().await;
    let window = |more: Value| {
        let mut body = body("2026-11-01", "2026-11-17", more);
        body.as_object_mut().unwrap().remove("rowLimit");
        body
    };
    let queries = server.query(RETAIL, &window(json!({ "dimensions": ["query"] }))).await.1;
    assert_eq!(rows(&queries).len(), 1_000);
    let place = |row: &Value| {
        let number = |name: &str| std::cmp::Reverse(row[name].as_u64().unwrap());
        (number("clicks"), number("impressions"), row["keys"][0].as_str().unwrap().to_owned())
    };
    assert!(rows(&queries).is_sorted_by_key(place));
    let row = &rows(&queries)[0];
    let ctr = row["clicks"].as_f64().unwrap() / row["impressions"].as_f64().unwrap();
    assert!((row["ctr"].as_f64().unwrap() - ctr).abs() < 1e-12);
    assert!(row["clicks"].is_u64());

    let days = server.query(RETAIL, &window(json!({ "dimensions": ["date"] }))).await.1;
    assert_eq!(rows(&days).len(), 17);
    assert!(rows(&days).is_sorted_by_key(|row| row["keys"][0].as_str().unwrap().to_owned()));
    assert!(days.get("metadata").is_none());
}

#[tokio::test]
async fn nothing_lies_beyond_fifty_thousand_rows() {
    let server = Server::start().await;
    let dimensions = json!(["query", "page", "country", "device"]);
    let read = async |start: u32| {
        let more = json!({ "dimensions": dimensions, "startRow": start });
        rows(&server.query(RETAIL, &body("2026-10-21", "2026-11-17", more)).await.1).len()
    };
    assert_eq!((read(25_000).await, read(49_990).await, read(50_000).await), (25_000, 10, 0));
}

#[tokio::test]
async fn a_fixed_day_makes_answers_reproducible() {
    let today = Some(super::date("2026-03-05"));
    let body = body("2026-03-01", "2026-03-05", json!({ "dimensions": ["date"], "dataState": "all" }));
    let first = Server::with(Settings { today, ..Settings::default() }).await;
    let answer = first.query(RETAIL, &body).await;
    first.hand.advance(chrono::TimeDelta::hours(30));
    assert_eq!(first.query(RETAIL, &body).await, answer);
    assert_eq!(answer.1["metadata"]["firstIncompleteDate"], "2026-03-03");
    first.simulator.shutdown().await;
}
