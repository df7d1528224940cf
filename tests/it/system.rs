//! Tests of the health endpoints.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use sightline::config::Seconds;

use crate::{
    faults::impatient,
    support::{actor::Actor, app::TestApp, issuer::OtherIssuer, redis, relay::Relay},
};

fn dependency(health: &Value, name: &str) -> Value {
    let found = health["data"]["dependencies"].as_array().unwrap().iter().find(|part| part["name"] == name);
    found.unwrap().clone()
}

fn time(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

async fn health(actor: &Actor, status: u16) -> Value {
    actor.get("/api/health").await.expect(status).json
}

#[tokio::test]
async fn health_names_the_unavailable_dependency() {
    let mut app = TestApp::start(|_| {}).await;
    let anonymous = app.anonymous();
    let started = time(&dependency(&health(&anonymous, 200).await, "search_engine")["since"]);
    app.hand.advance(TimeDelta::seconds(2));
    let well = health(&anonymous, 200).await;
    assert_eq!((&well["data"]["live"], &well["data"]["ready"]), (&true.into(), &true.into()));
    assert_eq!(well["data"]["status"], "ok");
    for name in ["database", "identity_provider", "search_engine"] {
        let found = dependency(&well, name);
        assert!(found["status"] == "ok" && found["latencyMs"].is_u64(), "{found}");
        assert_eq!(time(&found["since"]), started, "the status is the same as two seconds ago");
    }
    app.service.simulator.take().unwrap().shutdown().await;
    app.hand.advance(TimeDelta::seconds(2));
    let ill = health(&anonymous, 200).await;
    assert_eq!((&ill["data"]["status"], &ill["data"]["ready"]), (&"degraded".into(), &true.into()));
    let engine = dependency(&ill, "search_engine");
    assert!(engine["status"] == "unavailable" && engine.get("latencyMs").is_none(), "{engine}");
    assert_eq!(time(&engine["since"]), started + TimeDelta::seconds(4));
    assert_eq!(time(&dependency(&ill, "database")["since"]), started);
    assert!(!ill.to_string().contains("127.0.0.1"), "{ill}");

    app.service.close_database().await;
    app.hand.advance(TimeDelta::seconds(2));
    let down = anonymous.get("/api/health").await.expect(503);
    assert_eq!(down.json["data"]["status"], "down");
    assert_eq!((&down.json["data"]["live"], &down.json["data"]["ready"]), (&true.into(), &false.into()));
    assert_eq!(dependency(&down.json, "database")["status"], "down");
    assert_eq!(down.header("cache-control"), "no-store");
    for path in ["/api/health?probe=live", "/api/health?probe=ready"] {
        let answer = anonymous.get(path).await;
        assert_eq!(answer.status.as_u16(), if path.ends_with("live") { 200 } else { 503 });
        assert_eq!(answer.json["data"], down.json["data"]);
    }
}

#[tokio::test]
async fn health_says_that_another_issuer_is_away_although_its_metadata_is_known() {
    let issuer = OtherIssuer::start().await;
    let app = TestApp::start(|config| issuer.trusted_by(config)).await;
    let anonymous = app.anonymous();
    for (is_away, status) in [(false, "ok"), (true, "degraded"), (false, "ok")] {
        issuer.is_away(is_away);
        app.hand.advance(TimeDelta::seconds(2));
        let found = dependency(&health(&anonymous, 200).await, "identity_provider");
        assert_eq!(found["status"], status, "{found}");
    }
}

#[tokio::test]
async fn an_engine_with_errors_is_degraded_and_a_silent_one_unavailable() {
    let mut app = TestApp::start(|_| {}).await;
    let anonymous = app.anonymous();
    let engine = async |app: &TestApp| {
        app.hand.advance(TimeDelta::seconds(2));
        let health = health(&anonymous, 200).await;
        (health["data"]["status"].clone(), dependency(&health, "search_engine")["status"].clone())
    };
    assert_eq!(engine(&app).await, ("ok".into(), "ok".into()));
    app.simulator().controls().set_faults(vec!["error500:1".parse().unwrap()]);
    assert_eq!(engine(&app).await, ("degraded".into(), "degraded".into()));
    app.simulator().controls().set_faults(Vec::new());
    assert_eq!(engine(&app).await, ("ok".into(), "ok".into()));
    app.service.simulator.take().unwrap().shutdown().await;
    assert_eq!(engine(&app).await, ("degraded".into(), "unavailable".into()));
}

#[tokio::test]
async fn health_says_that_redis_is_away_and_questions_are_answered_without_it() {
    let url = Relay::to_nobody("redis://:hunter2@127.0.0.1");
    let app = TestApp::start(|config| config.redis.url = Some(url)).await;
    let said = health(&app.anonymous(), 200).await;
    assert_eq!((&said["data"]["status"], &said["data"]["ready"]), (&"degraded".into(), &true.into()));
    let redis = dependency(&said, "redis");
    assert_eq!((&redis["status"], redis.get("latencyMs")), (&"unavailable".into(), None));
    assert!(redis["hint"].as_str().unwrap().starts_with("Each replica reads, counts and paces by itself"), "{redis}");
    assert!(!said.to_string().contains("127.0.0.1") && !said.to_string().contains("hunter2"), "{said}");
    app.actor("owner").await.get("/api/properties").await.expect(200);
    let without = health(&TestApp::start(|_| {}).await.anonymous(), 200).await;
    assert_eq!(without["data"]["dependencies"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn health_tells_a_redis_that_refuses_the_login_from_one_that_is_away() {
    for (login, error) in [
        (":hunter2@", "WRONGPASS invalid username-password pair or user is disabled."),
        ("", "NOAUTH Authentication required."),
    ] {
        let url = format!("redis://{login}{}", redis::refusing(error));
        let app = TestApp::start(|config| config.redis.url = Some(url)).await;
        let said = health(&app.anonymous(), 200).await;
        let redis = dependency(&said, "redis");
        assert_eq!((&said["data"]["ready"], &redis["status"]), (&true.into(), &"degraded".into()), "{error}");
        assert!(redis["hint"].as_str().unwrap().starts_with("Redis refuses the login: check user"), "{redis}");
        assert!(!said.to_string().contains("127.0.0.1") && !said.to_string().contains("hunter2"), "{said}");
        app.actor("owner").await.get("/api/properties").await.expect(200);
    }
}

#[tokio::test]
async fn a_service_that_stops_is_not_ready_and_answers_until_a_balancer_has_noticed() {
    let app = TestApp::start(|config| config.shutdown.delay = Some(Seconds(600))).await;
    let root = app.service.base_url.clone();
    health(&app.anonymous(), 200).await;
    let stopping = tokio::spawn(app.service.shutdown());
    Actor::anonymous(&root).until("/api/health", 503).await;
    let said = health(&Actor::anonymous(&root), 503).await;
    assert_eq!((&said["data"]["live"], &said["data"]["ready"]), (&true.into(), &false.into()));
    assert_eq!((&said["data"]["status"], &dependency(&said, "database")["status"]), (&"stopping".into(), &"ok".into()));
    Actor::anonymous(&root).get("/api/health?probe=live").await.expect(200);
    Actor::signed_in(&root, "owner").await.get("/api/properties").await.expect(200);
    stopping.abort();
}

#[tokio::test]
async fn another_probe_is_refused_by_name() {
    let app = TestApp::start(|_| {}).await;
    let refused = app.anonymous().get("/api/health?probe=startup").await.expect(400);
    assert_eq!(refused.hint(), "probe: must be one of live, ready");
}

#[tokio::test]
async fn health_tells_within_five_seconds_that_postgresql_stopped_and_came_back() {
    let mut relay = None;
    let app = TestApp::start(|config| relay = config.database.url.as_mut().map(Relay::before)).await;
    // `SQLite` is a file, which does not stop.
    let Some(relay) = relay else { return };
    let (anonymous, owner) = (app.anonymous(), app.actor("owner").await);
    health(&anonymous, 200).await;
    for _ in 0..2 {
        relay.stop();
        app.hand.advance(TimeDelta::seconds(5));
        let down = health(&anonymous, 503).await;
        assert_eq!((&down["data"]["ready"], &dependency(&down, "database")["status"]), (&false.into(), &"down".into()));
        let live = anonymous.get("/api/health?probe=live").await.expect(200).json;
        assert_eq!((&live["data"]["live"], &live["data"]["ready"]), (&true.into(), &false.into()));

        relay.resume();
        app.hand.advance(TimeDelta::seconds(5));
        let up = health(&anonymous, 200).await;
        assert_eq!((&up["data"]["ready"], &dependency(&up, "database")["status"]), (&true.into(), &"ok".into()));
        assert!(time(&dependency(&up, "database")["since"]) > time(&dependency(&down, "database")["since"]));
        owner.get("/api/tags").await.expect(200);
    }
}

#[tokio::test]
async fn the_health_of_a_search_account_names_the_last_success_and_the_last_error() {
    let app = TestApp::start(impatient).await;
    let owner = app.actor("owner").await;
    let account = async || owner.listed("/api/accounts/health").await.remove(0);
    app.hand.advance(TimeDelta::seconds(10));
    let well = account().await;
    assert_eq!(well["lastSuccessAt"], well["checkedAt"]);
    assert!(well.get("lastError").is_none() && well.get("hint").is_none(), "{well}");

    app.simulator().controls().set_faults(vec!["quota403:1".parse().unwrap()]);
    app.hand.advance(TimeDelta::seconds(10));
    let ill = account().await;
    assert_eq!((&ill["status"], &ill["lastSuccessAt"]), (&"quota_exceeded".into(), &well["checkedAt"]));
    assert_eq!((&ill["lastError"]["at"], &ill["since"]), (&ill["checkedAt"], &ill["checkedAt"]));
    let still = {
        app.hand.advance(TimeDelta::minutes(1));
        account().await
    };
    assert_eq!((&still["status"], &still["since"]), (&ill["status"], &ill["since"]), "the state is a minute old");
    let listed = owner.get("/api/integrations/status").await.expect(200).json;
    assert_eq!(listed["data"]["searchAccounts"][0]["since"], ill["since"]);
    let said = ill["lastError"]["message"].as_str().unwrap();
    assert_eq!(said, "The search engine's quota for this account or one of its sites was used up.");
    assert!(ill["hint"].as_str().unwrap().contains("Try again"), "{ill}");

    app.simulator().controls().set_faults(Vec::new());
    app.hand.advance(TimeDelta::minutes(20));
    let again = account().await;
    assert_eq!((&again["status"], &again["lastSuccessAt"]), (&"connected".into(), &again["checkedAt"]));
    assert_eq!(again["lastError"]["message"], ill["lastError"]["message"], "the last error stays known");
    assert_eq!(again["since"], well["since"], "since it was connected");
}

#[tokio::test]
async fn an_account_is_unreachable_since_the_search_engine_stopped() {
    let mut app = TestApp::start(impatient).await;
    let owner = app.actor("owner").await;
    let account = async || owner.listed("/api/accounts/health").await.remove(0);
    let well = account().await;
    assert_eq!(well["status"], "connected");
    app.service.simulator.take().unwrap().shutdown().await;
    app.hand.advance(TimeDelta::minutes(50));
    let ill = account().await;
    assert_eq!((&ill["status"], &ill["since"]), (&"unreachable".into(), &ill["checkedAt"]));
    assert!(time(&ill["since"]) >= time(&well["since"]) + TimeDelta::minutes(50));
    app.hand.advance(TimeDelta::minutes(5));
    let still = account().await;
    assert!((time(&ill["since"])..=time(&still["checkedAt"])).contains(&time(&still["since"])), "{still}");
}
