//! Tests of final and fresh data, hours, and the behaviour on which descriptions differ.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::{RETAIL, Server, YOUNG, body, rows, sums};
use crate::{Conflict, Settings};

fn by_date(state: &str) -> Value {
    body("2026-11-14", "2026-11-20", json!({ "dimensions": ["date"], "dataState": state }))
}

fn impressions(answer: &Value) -> Vec<(String, u64)> {
    let pair = |row: &Value| (row["keys"][0].as_str().unwrap().to_owned(), row["impressions"].as_u64().unwrap());
    rows(answer).iter().map(pair).collect()
}

#[tokio::test]
async fn final_data_end_three_days_ago_and_fresh_data_today() {
    let server = Server::start().await;
    let settled = server.query(RETAIL, &by_date("final")).await.1;
    assert_eq!(impressions(&settled).last().unwrap().0, "2026-11-17");
    assert!(settled.get("metadata").is_none());
    let fresh = server.query(RETAIL, &by_date("all")).await.1;
    assert_eq!(impressions(&fresh).last().unwrap().0, "2026-11-20");
    assert_eq!(impressions(&fresh)[..4], impressions(&settled)[..]);
    assert_eq!(fresh["metadata"], json!({ "firstIncompleteDate": "2026-11-18" }));
    let old = body("2026-11-01", "2026-11-10", json!({ "dimensions": ["date"], "dataState": "all" }));
    assert!(server.query(RETAIL, &old).await.1.get("metadata").is_none());
}

#[tokio::test]
async fn fresh_numbers_only_grow() {
    let server = Server::start().await;
    let today = body("2026-11-20", "2026-11-20", json!({ "dimensions": ["query", "page"], "dataState": "all" }));
    let mut seen = Vec::new();
    for _ in 0..10 {
        seen.push(sums(&server.query(RETAIL, &today).await.1));
        server.hand.advance(TimeDelta::hours(8));
    }
    assert!(seen.is_sorted_by(|before, after| (0..3).all(|i| before[i] <= after[i])), "{seen:?}");
    let settled = body("2026-11-20", "2026-11-20", json!({ "dimensions": ["query", "page"] }));
    assert_eq!(sums(&server.query(RETAIL, &settled).await.1), seen[9]);
    assert!(seen[0][1] < seen[2][1] && seen[2][1] < seen[9][1]);
}

#[tokio::test]
async fn hours_add_up_to_days_and_reach_back_ten_days() {
    let server = Server::start().await;
    let hourly =
        |start: &str, end: &str| body(start, end, json!({ "dimensions": ["HOUR"], "dataState": "HOURLY_ALL" }));
    let hours = server.query(RETAIL, &hourly("2026-11-14", "2026-11-20")).await.1;
    assert_eq!(sums(&hours), sums(&server.query(RETAIL, &by_date("all")).await.1));
    assert_eq!(impressions(&hours)[3].0, "2026-11-14T03:00:00-08:00");
    assert_eq!(impressions(&hours).last().unwrap().0, "2026-11-20T09:00:00-08:00");
    assert_eq!(hours["metadata"]["firstIncompleteHour"], "2026-11-18T00:00:00-08:00");
    let long = server.query(RETAIL, &hourly("2026-11-01", "2026-11-20")).await.1;
    assert_eq!(impressions(&long)[0].0, "2026-11-11T00:00:00-08:00");
}

#[tokio::test]
async fn history_is_sixteen_months_or_since_launch() {
    let server = Server::start().await;
    let start = |site: &'static str| {
        let body = body("2024-01-01", "2026-11-20", json!({ "dimensions": ["date"] }));
        let server = &server;
        async move { impressions(&server.query(site, &body).await.1)[0].0.clone() }
    };
    assert_eq!(start(RETAIL).await, "2025-07-20");
    assert_eq!(start(YOUNG).await, "2026-04-01");
}

#[tokio::test]
async fn contradictory_descriptions_can_be_switched() {
    let conflicts = [Conflict::SnakeCaseMetadata, Conflict::ZeroFilledDates, Conflict::RejectOldStart];
    let conflicts = conflicts.into_iter().collect();
    let server = Server::with(Settings { conflicts, ..Settings::default() }).await;
    let fresh = server.query(RETAIL, &by_date("all")).await.1;
    assert_eq!(fresh["metadata"], json!({ "first_incomplete_date": "2026-11-18" }));
    let (status, answer) = server.query(RETAIL, &body("2024-01-01", "2026-11-10", json!({}))).await;
    assert_eq!((status, &answer["error"]["errors"][0]["location"]), (400, &json!("start_date")));
    let before_launch = body("2026-03-29", "2026-04-03", json!({ "dimensions": ["date"] }));
    let filled = server.query(YOUNG, &before_launch).await.1;
    assert_eq!((rows(&filled).len(), rows(&filled)[0]["impressions"].as_u64()), (6, Some(0)));
    let plain = Server::start().await.query(YOUNG, &before_launch).await.1;
    assert_eq!(rows(&plain).len(), 3);
}
