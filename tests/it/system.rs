//! Tests of the health endpoint.

use chrono::TimeDelta;
use serde_json::Value;

use crate::support::app::TestApp;

fn dependency(health: &Value, name: &str) -> String {
    let found = health["data"]["dependencies"].as_array().unwrap().iter().find(|part| part["name"] == name);
    found.unwrap()["status"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn health_says_which_part_is_away() {
    let mut app = TestApp::start(|_| {}).await;
    let well = app.anonymous().get("/api/health").await.expect(200).json;
    assert_eq!(well["data"]["status"], "ok");
    for name in ["database", "identityProvider", "searchEngine"] {
        assert_eq!(dependency(&well, name), "ok");
    }
    app.service.simulator.take().unwrap().shutdown().await;
    app.hand.advance(TimeDelta::seconds(2));
    let ill = app.anonymous().get("/api/health").await.expect(200).json;
    assert_eq!(
        (ill["data"]["status"].as_str(), dependency(&ill, "searchEngine").as_str()),
        (Some("degraded"), "degraded")
    );
    app.service.close_database().await;
    app.hand.advance(TimeDelta::seconds(2));
    let down = app.anonymous().get("/api/health").await.expect(503);
    assert_eq!(down.json["data"]["status"], "down");
    assert_eq!(dependency(&down.json, "database"), "down");
    assert_eq!(down.header("cache-control"), "no-store");
}
