//! Tests of errors with status 200: a proxy or the search engine itself answers with the body of an error.

use std::time::Duration;

use poem::http::Method;
use serde_json::Value;
use simulator::Endpoint;

use super::{persistent, requests, trouble, unavailable, wait_for_probe};
use crate::{
    analytics::performance::{Asker, SMALL},
    support::app::TestApp,
};

async fn app() -> TestApp {
    TestApp::start(|config| {
        persistent(config);
        config.search_engine.patience.deadline = Duration::from_millis(500);
    })
    .await
}

#[tokio::test]
async fn an_error_with_status_200_is_no_figure_and_is_not_kept() {
    let (app, healthy) = (app().await, TestApp::start(|_| {}).await);
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let expected = Asker::of(&healthy, "stranger", SMALL).await;
    let questions: [&[(&str, &str)]; 3] = [
        &[("startDate", "2026-08-01"), ("endDate", "2026-08-02")],
        &[("startDate", "2026-08-01"), ("endDate", "2026-08-03"), ("scope", "all")],
        &[("filters", r#"[{"dimension":"device","operator":"equals","value":"mobile"}]"#)],
    ];
    trouble(&app, &["error200:1"]);
    let (before, kept) = (requests(&app, Endpoint::Query), app.service.reader.cache_use().entries);
    for question in questions {
        unavailable(asker.ask(question).await);
    }
    assert!(requests(&app, Endpoint::Query) >= before + 6, "each was asked again");
    assert_eq!(app.service.reader.cache_use().entries, kept);
    trouble(&app, &[]);
    wait_for_probe(&app);
    wait_for_probe(&healthy);
    for question in questions {
        let (found, expected) = (asker.ask(question).await.expect(200), expected.ask(question).await.expect(200));
        assert!(found.json["data"]["totals"]["clicks"].as_f64() > Some(0.0), "{:?}", found.json);
        assert!(found.bytes == expected.bytes, "{question:?}");
    }
}

#[tokio::test]
async fn an_error_with_status_200_loses_no_property() {
    let app = app().await;
    let owner = app.actor("owner").await;
    let records = async || {
        let listed = owner.get("/api/properties").await.expect(200).json["data"].clone();
        let fields = ["id", "siteUrl", "tracked", "permissionLevel", "lostAt"];
        let record = |entry: &Value| fields.map(|field| entry[field].clone());
        listed.as_array().unwrap().iter().map(record).collect::<Vec<_>>()
    };
    let before = records().await;
    assert!(before.len() > 1 && before.iter().all(|record| record[4].is_null()), "{before:?}");
    trouble(&app, &["error200:1"]);
    unavailable(owner.send(Method::POST, "/api/properties/sync", None, &[]).await);
    let health = owner.get("/api/accounts/health").await.expect(200).json;
    assert_eq!(health["data"][0]["status"], "unreachable");
    trouble(&app, &[]);
    wait_for_probe(&app);
    assert_eq!(records().await, before);
    let synced = owner.send(Method::POST, "/api/properties/sync", None, &[]).await.expect(200).json;
    assert_eq!((&synced["data"]["lost"], &synced["data"]["updated"]), (&0.into(), &0.into()), "{synced}");
}
