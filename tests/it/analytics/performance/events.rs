//! Tests of the search engine's events beside a series.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::support::app::{TestApp, shared};

const WINDOW: [(&str, &str); 3] =
    [("startDate", "2026-06-20"), ("endDate", "2026-06-30"), ("compare", "previous_period")];

async fn answer(app: &TestApp, more: &[(&str, &str)]) -> Value {
    let owner = app.actor("owner").await;
    let property = owner.property("tinyfern").await;
    let query = [WINDOW.as_slice(), more].concat();
    owner.ask(&format!("/api/properties/{property}/performance"), &query).await.expect(200).json
}

#[tokio::test]
async fn the_events_of_the_windows_stand_beside_the_series_on_request() {
    let without = answer(shared(), &[]).await;
    assert!(without["data"].get("events").is_none(), "{without}");
    let with = answer(shared(), &[("includeSystem", "true")]).await;
    let events = with["data"]["events"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((&events[0]["date"], &events[0]["overlaps"]), (&json!("2026-06-24"), &json!("current")));
    assert_eq!((&events[0]["source"], &events[0]["category"]), (&json!("system"), &json!("ranking update")));
    assert_eq!(with["data"]["totals"], without["data"]["totals"]);
}

#[tokio::test]
async fn an_operator_adds_events_by_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.csv");
    let line = "2026-06-15,,outage,The status page was down,https://status.example/";
    fs::write(&file, format!("start,end,category,text,source\n{line}\n")).unwrap();
    let path = |file: &Path| file.to_str().map(str::to_owned);
    let app = TestApp::start(|config| config.annotations.system_file = path(&file)).await;
    let with = answer(&app, &[("includeSystem", "true")]).await;
    let events = with["data"]["events"].as_array().unwrap();
    let days: Vec<&str> = events.iter().map(|event| event["date"].as_str().unwrap()).collect();
    assert_eq!(days, ["2026-06-24", "2026-06-15"], "newest first");
    assert_eq!((&events[1]["text"], &events[1]["overlaps"]), (&json!("The status page was down"), &json!("previous")));
}
