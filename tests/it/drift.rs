//! Tests of replicas whose clock or settings differ from those of others.

use chrono::TimeDelta;
use common::{clock::Clock, random::Random};
use serde_json::Value;
use sightline::app;

use crate::support::{
    actor::Actor,
    app::{TestApp, folder, settings},
    redis,
};

/// The status of the service, and that of a dependency with its hint.
async fn health(anonymous: &Actor, part: &str) -> (Value, Value, String) {
    let health = anonymous.get("/api/health").await.expect(200).json["data"].clone();
    let found = health["dependencies"].as_array().unwrap().iter().find(|found| found["name"] == part).unwrap();
    let hint = found["hint"].as_str().unwrap_or_default().to_owned();
    (health["status"].clone(), found["status"].clone(), hint)
}

#[tokio::test]
async fn replicas_with_other_settings_are_found() {
    let first = TestApp::start(|_| {}).await;
    // Replicas that share no database share no service.
    let Some(other) = Box::pin(first.beside_with(12, |config| config.billing.grace_days += 1)).await else { return };
    for app in [&first, &other] {
        app.service.compare().await;
    }
    first.service.compare().await;
    for app in [&first, &other] {
        app.hand.advance(TimeDelta::seconds(10));
        let (status, database, hint) = health(&app.anonymous(), "database").await;
        assert_eq!((status, database), ("degraded".into(), "degraded".into()));
        assert!(hint.contains("other settings: billing.grace_days. "), "{hint}");
    }
    other.service.shutdown().await;
    first.service.compare().await;
    first.hand.advance(TimeDelta::seconds(10));
    let (status, _, hint) = health(&first.anonymous(), "database").await;
    assert_eq!((status, hint.as_str()), ("ok".into(), ""));
}

#[tokio::test]
async fn a_clock_that_differs_from_that_of_redis_is_found() {
    let data = folder();
    let clock = Clock::system();
    let mut config = settings();
    config.data_dir = data.path().display().to_string();
    // Without demo people nothing is asked of Redis but its time, signs of life, and settings.
    config.base_url = "https://search.example.org".parse().ok();
    config.redis.url = Some(format!("redis://{}", redis::with_time(clock.now() + TimeDelta::seconds(90))));
    let service = Box::pin(app::start(config, clock, Random::system())).await.unwrap();
    service.compare().await;
    let (status, redis, hint) = health(&Actor::anonymous(&format!("http://{}", service.address)), "redis").await;
    assert_eq!((status, redis), ("degraded".into(), "degraded".into()));
    assert!(hint.contains("s behind that of Redis") && hint.contains("NTP"), "{hint}");
    service.shutdown().await;
}
