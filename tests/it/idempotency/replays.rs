//! Tests of replays: the first response again, also after changes of the record.

use poem::http::Method;
use serde_json::json;

use super::{assert_replay, enforced, keyed, replayed, sent};
use crate::support::app::TestApp;

#[tokio::test]
async fn every_enforced_operation_answers_again_what_it_answered_first() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for write in enforced(&owner.property("northmoor").await) {
        let (id, before) = (&write.id, write.list(&owner).await.len());
        let body = write.named("twice");
        let first = keyed(&owner, &write.path, "k-1", &body).await.expect(201);
        assert_eq!(replayed(&first), "false", "{id}");
        let after = write.list(&owner).await;
        assert_eq!(after.len(), before + 1, "{id}");
        app.hand.advance(chrono::TimeDelta::minutes(3));
        let again = keyed(&owner, &write.path, "k-1", &body).await;
        assert_replay(&again, &first, id);
        assert_ne!(again.header("x-correlation-id"), first.header("x-correlation-id"), "{id}");
        assert_eq!(again.header("x-api-version"), "2026-09-14");
        assert_eq!(again.header("cache-control"), first.header("cache-control"), "{id}");
        assert_eq!(write.list(&owner).await, after, "{id} ran twice");
        // A different body is not a retry. It does not run, and the key stays valid.
        let other = keyed(&owner, &write.path, "k-1", &write.named("other")).await.expect(422);
        assert_eq!((other.code(), replayed(&other)), ("idempotency_key_reused", ""), "{id}");
        assert!(!other.hint().is_empty());
        assert_replay(&keyed(&owner, &write.path, "k-1", &body).await, &first, id);
        assert_eq!(write.list(&owner).await, after, "{id}");
        // A different key is a different request.
        let another = keyed(&owner, &write.path, "k-2", &write.named("another")).await.expect(201);
        assert_eq!(replayed(&another), "false");
        assert_eq!(write.list(&owner).await.len(), before + 2, "{id}");
    }
}

#[tokio::test]
async fn a_body_is_the_same_by_its_value_and_not_by_its_bytes() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let send = async |body: &str| sent(&owner, "/api/tags", body, &[("idempotency-key", "value")]).await;
    let first = send(r#"{"name":"Größe","order":1}"#).await.expect(201);
    for same in [
        "{\n  \"order\" : 1,\t\"name\" : \"Größe\"\r\n}",
        r#"{"order":1,"name":"Gr\u00f6\u00dfe"}"#,
        r#"{"name":"Größe","order":1.0}"#,
        r#"{"name":"Größe","order":10e-1}"#,
    ] {
        assert_replay(&send(same).await, &first, same);
    }
    for other in [
        r#"{"name":"Größe"}"#,
        r#"{"name":"Größe","order":"1"}"#,
        r#"{"name":"Größe","order":2}"#,
        r#"{"name":"größe","order":1}"#,
        r#"{"name":"Gro\u0308ße","order":1}"#,
        r#"{"name":"Größe","order":1,"x":null}"#,
        r#"[{"name":"Größe","order":1}]"#,
    ] {
        assert_eq!(send(other).await.expect(422).code(), "idempotency_key_reused", "{other}");
    }
}

#[tokio::test]
async fn refusals_of_the_operation_are_kept_too() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for write in enforced(&owner.property("northmoor").await) {
        let mut body = write.named("refused");
        body["unheardOf"] = json!(1);
        let first = keyed(&owner, &write.path, "bad", &body).await.expect(400);
        assert_eq!((first.code(), replayed(&first)), ("invalid_request", "false"), "{}", write.id);
        assert_replay(&keyed(&owner, &write.path, "bad", &body).await, &first, &write.id);
    }
    // The first response is repeated, even if the write would succeed now.
    let body = json!({ "name": "Taken" });
    let holder = keyed(&owner, "/api/tags", "holder", &body).await.expect(201);
    let first = keyed(&owner, "/api/tags", "later", &body).await.expect(400);
    assert!(first.hint().contains("name"), "{}", first.json);
    owner.send(Method::DELETE, holder.header("location"), None, &[]).await.expect(204);
    assert_replay(&keyed(&owner, "/api/tags", "later", &body).await, &first, "a taken name");
    keyed(&owner, "/api/tags", "fresh", &body).await.expect(201);
}

#[tokio::test]
async fn a_record_that_was_deleted_since_is_still_answered() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for write in enforced(&owner.property("northmoor").await) {
        let body = write.named("gone");
        let first = keyed(&owner, &write.path, "gone", &body).await.expect(201);
        let path = if write.path.ends_with("/branded-keywords") {
            format!("{}?keyword=gone", write.path)
        } else {
            first.header("location").to_owned()
        };
        let deleted = owner.send(Method::DELETE, &path, None, &[]).await;
        assert_eq!(deleted.status.as_u16(), 204, "{path}: {}", deleted.json);
        let left = write.list(&owner).await;
        assert_replay(&keyed(&owner, &write.path, "gone", &body).await, &first, &write.id);
        assert_eq!(write.list(&owner).await, left, "{}", write.id);
    }
}
