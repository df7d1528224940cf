//! Tests that refusals before the operation do not use keys, and that a caller without write access gets no replay.

use entity::{replay, user::Plan};
use poem::http::Method;
use sea_orm::{EntityTrait as _, PaginatorTrait as _};
use serde_json::json;
use sightline::{config::ReplayStore, services::users::subscriptions};

use super::{assert_replay, enforced, keyed, replayed, sent};
use crate::{
    coverage::NOBODYS,
    support::{
        actor::{Actor, Answer},
        app::{TestApp, start_of_test},
    },
};

async fn stored(app: &TestApp) -> u64 {
    replay::Entity::find().count(&app.service.db).await.unwrap()
}

/// Asserts that the refusal does not mention keys.
#[track_caller]
fn assert_before(answer: &Answer, status: u16, what: &str) {
    assert_eq!(answer.status.as_u16(), status, "{what}: {}", answer.json);
    assert_eq!(replayed(answer), "", "{what}");
}

#[tokio::test]
async fn what_is_refused_before_the_operation_is_not_kept() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let (viewer, lapsed) = (app.actor("viewer").await, app.actor("lapsed").await);
    let property = owner.property("northmoor").await;
    let (locked, expired) = (lapsed.property("oakandanvil").await, Actor::with_token(&app.service.base_url, "x"));
    for write in enforced(&property) {
        let (id, body) = (write.id.as_str(), write.named("early"));
        let scoped = write.path.contains(&property);
        for _ in 0..2 {
            assert_before(&keyed(&app.anonymous(), &write.path, "k", &body).await, 401, id);
            assert_before(&keyed(&expired, &write.path, "k", &body).await, 401, id);
            if scoped {
                assert_before(&keyed(&viewer, &write.path, "k", &body).await, 403, id);
                assert_before(&keyed(&lapsed, &write.path.replace(&property, &locked), "k", &body).await, 402, id);
                assert_before(&keyed(&owner, &write.path.replace(&property, NOBODYS), "k", &body).await, 404, id);
            }
            let key = ("idempotency-key", "k");
            let text = body.to_string();
            let send = async |body: &str, headers: &[(&str, &str)]| {
                owner.send(Method::POST, &write.path, Some(body.to_owned()), headers).await
            };
            for unreadable in ["", "{", "{\"name\":}", "not json", r#"{"name":"a","name":"b"}"#] {
                assert_before(&sent(&owner, &write.path, unreadable, &[key]).await, 400, id);
            }
            assert_before(&send(&text, &[key]).await, 415, id);
            assert_before(&send(&text, &[key, ("content-type", "text/plain")]).await, 415, id);
            let coded = [key, ("content-type", "application/json"), ("content-encoding", "gzip")];
            assert_before(&send(&text, &coded).await, 415, id);
            let version = [key, ("content-type", "application/json"), ("x-api-version", "1")];
            assert_before(&send(&text, &version).await, 400, id);
        }
        assert_eq!(stored(&app).await, 0, "{id}");
        // The key is still unused.
        let first = keyed(&owner, &write.path, "k", &body).await.expect(201);
        assert_eq!((replayed(&first), stored(&app).await), ("false", 1), "{id}");
        replay::Entity::delete_many().exec(&app.service.db).await.unwrap();
    }
}

/// Writes take no query parameters. Without them it is the same write, and the refusal is not its answer.
#[tokio::test]
async fn a_write_that_is_refused_for_its_query_leaves_its_key_unused() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for write in enforced(&owner.property("northmoor").await) {
        let (id, body) = (write.id.as_str(), write.named("asked"));
        let asked = format!("{}?dryRun=true", write.path);
        assert_before(&keyed(&owner, &asked, "k", &body).await, 400, id);
        let first = keyed(&owner, &write.path, "k", &body).await.expect(201);
        assert_eq!(replayed(&first), "false", "{id}");
        assert_before(&keyed(&owner, &asked, "k", &body).await, 400, id);
        assert_replay(&keyed(&owner, &write.path, "k", &body).await, &first, id);
    }
}

#[tokio::test]
async fn a_plan_is_judged_before_the_key() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let plan = async |plan| subscriptions::set(&app.service.db, "demo-owner", plan, start_of_test()).await.unwrap();
    for write in
        enforced(&property).iter().filter(|write| ["/share-links", "/team"].iter().any(|end| write.path.ends_with(end)))
    {
        let (id, body) = (write.id.as_str(), write.named("paid"));
        plan(Plan::Free).await;
        let before = stored(&app).await;
        assert_before(&keyed(&owner, &write.path, "", &body).await, 402, id);
        assert_before(&keyed(&owner, &write.path, "p", &body).await, 402, id);
        assert_eq!(stored(&app).await, before, "{id}");
        plan(Plan::Pro).await;
        let first = keyed(&owner, &write.path, "p", &body).await.expect(201);
        plan(Plan::Free).await;
        assert_before(&keyed(&owner, &write.path, "p", &body).await, 402, id);
        plan(Plan::Pro).await;
        assert_replay(&keyed(&owner, &write.path, "p", &body).await, &first, id);
    }
}

#[tokio::test]
async fn a_replay_needs_access() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let path = format!("/api/properties/{}/annotations", editor.property("northmoor").await);
    let body = json!({ "date": "2026-11-01", "text": "mine" });
    let first = keyed(&editor, &path, "mine", &body).await.expect(201);
    assert_replay(&keyed(&editor, &path, "mine", &body).await, &first, "while granted");
    let team = owner.get("/api/team").await.expect(200);
    let grant = team.json["data"].as_array().unwrap().iter().find(|grant| grant["email"] == "editor@demo.test");
    let grant = format!("/api/team/{}", grant.unwrap()["id"].as_str().unwrap());
    owner.send_json(Method::PUT, &grant, &json!({ "role": "viewer" })).await.expect(200);
    assert_before(&keyed(&editor, &path, "mine", &body).await, 403, "as a viewer");
    owner.send(Method::DELETE, &grant, None, &[]).await.expect(204);
    assert_before(&keyed(&editor, &path, "mine", &body).await, 404, "once removed");
    assert_before(&keyed(&editor, &path, "", &body).await, 404, "with a bad key");
    // The owner gets no replay either, once the property is untracked.
    let first = keyed(&owner, &path, "owner's", &body).await.expect(201);
    let tracked = owner.get("/api/properties").await.expect(200);
    let tracked: Vec<_> = tracked.json["data"].as_array().unwrap().iter().map(|p| p["id"].clone()).collect();
    let rest: Vec<_> = tracked.iter().filter(|id| !path.contains(id.as_str().unwrap())).collect();
    owner.send_json(Method::PUT, "/api/properties/tracking", &json!({ "propertyIds": rest })).await.expect(200);
    assert_before(&keyed(&owner, &path, "owner's", &body).await, 404, "untracked");
    owner.send_json(Method::PUT, "/api/properties/tracking", &json!({ "propertyIds": tracked })).await.expect(200);
    assert_replay(&keyed(&owner, &path, "owner's", &body).await, &first, "tracked again");
    // A revoked token gets no replay either.
    let revoke = format!("{}/oauth/revoke", app.service.base_url);
    let form = [("token", owner.token()), ("client_id", "sightline-cli")];
    let revoked = sightline::app::http_client().unwrap().post(revoke).form(&form).send().await.unwrap();
    assert_eq!(revoked.status().as_u16(), 200);
    assert_before(&keyed(&owner, &path, "owner's", &body).await, 401, "with a revoked token");
}

/// A 404 from the operation itself is a response, and stored like any other.
#[tokio::test]
async fn a_refusal_of_the_operation_itself_is_repeated() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let foreign = stranger.property("quietmeadow").await;
    let body = json!({ "email": "new@elsewhere.test", "role": "viewer", "propertyIds": [foreign] });
    let first = keyed(&owner, "/api/team", "foreign", &body).await.expect(404);
    assert_eq!(replayed(&first), "false");
    let again = keyed(&owner, "/api/team", "foreign", &body).await.expect(404);
    assert_eq!((replayed(&again), &again.json["code"]), ("true", &first.json["code"]));
    let long = keyed(&owner, "/api/tags", "long", &json!({ "name": "x".repeat(2 << 20) })).await;
    assert_before(&long, 413, "longer than a body may be");
}

#[tokio::test]
async fn a_replay_costs_what_a_request_costs() {
    let app = TestApp::start(|config| {
        config.rate_limit.enabled = true;
        config.rate_limit.burst = 3;
        config.rate_limit.per_minute = 60;
    })
    .await;
    let owner = app.actor("owner").await;
    let body = json!({ "name": "Budget" });
    let first = keyed(&owner, "/api/tags", "b", &body).await.expect(201);
    for left in ["1", "0"] {
        let again = keyed(&owner, "/api/tags", "b", &body).await;
        assert_replay(&again, &first, "within the budget");
        assert_eq!(again.header("x-ratelimit-remaining"), left);
    }
    assert_before(&keyed(&owner, "/api/tags", "b", &body).await, 429, "beyond it");
    assert_before(&keyed(&owner, "/api/tags", "new", &body).await, 429, "beyond it");
    app.hand.advance(chrono::TimeDelta::seconds(10));
    assert_eq!(stored(&app).await, 1);
    assert_replay(&keyed(&owner, "/api/tags", "b", &body).await, &first, "once the budget is back");
}

#[tokio::test]
async fn without_a_store_requests_run_and_say_so() {
    let app = TestApp::start(|config| config.idempotency.store = ReplayStore::None).await;
    let owner = app.actor("owner").await;
    for write in enforced(&owner.property("northmoor").await) {
        let (id, before) = (write.id.as_str(), write.list(&owner).await.len());
        for name in ["one", "two"] {
            let answer = keyed(&owner, &write.path, "same", &write.named(name)).await.expect(201);
            assert_eq!((answer.header("idempotency-storage"), replayed(&answer)), ("unavailable", ""), "{id}");
        }
        assert_eq!(write.list(&owner).await.len(), before + 2, "{id}");
        let refused = keyed(&owner, &write.path, "same", &json!({ "unheardOf": 1 })).await.expect(400);
        assert_eq!((refused.header("idempotency-storage"), replayed(&refused)), ("unavailable", ""), "{id}");
        let bad = keyed(&owner, &write.path, "", &write.named("three")).await.expect(400);
        assert_eq!((bad.code(), bad.header("idempotency-storage")), ("invalid_idempotency_key", ""), "{id}");
        let plain = sent(&owner, &write.path, &write.named("four").to_string(), &[]).await.expect(201);
        assert!(!plain.headers.contains_key("idempotency-storage"), "{id}");
    }
    assert_eq!(stored(&app).await, 0);
}
