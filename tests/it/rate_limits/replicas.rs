//! Tests of limits that replicas share through the database.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::json;

use super::behind_a_proxy;
use crate::support::{actor::Answer, app::TestApp};

async fn register(app: &TestApp) -> Answer {
    let headers = [("x-forwarded-for", "198.51.100.1"), ("content-type", "application/json")];
    let metadata = json!({ "redirect_uris": ["http://127.0.0.1/callback"] }).to_string();
    app.anonymous().send(Method::POST, "/oauth/register", Some(metadata), &headers).await
}

#[tokio::test]
async fn replicas_together_allow_as_many_registrations_as_one() {
    let one = behind_a_proxy(2).await;
    // One process serves a file of `SQLite`.
    let Some(other) = one.beside().await else { return };
    for number in 0..20 {
        register(if number % 2 == 0 { &one } else { &other }).await.expect(201);
    }
    for app in [&one, &other] {
        assert_eq!(register(app).await.expect(429).header("retry-after"), "180");
    }
    for app in [&one, &other] {
        app.hand.advance(TimeDelta::minutes(3));
    }
    register(&other).await.expect(201);
    register(&one).await.expect(429);
}
