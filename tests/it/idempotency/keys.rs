//! Tests of the form and the scope of keys.

use api::operation::{self, Idempotency};
use poem::http::{HeaderValue, Method};
use serde_json::{Value, json};

use super::{Write, assert_replay, enforced, keyed, replayed, sent};
use crate::{
    coverage::documented,
    support::{actor::Actor, app::TestApp, whole::Whole as _},
};

/// Sends a key that the HTTP client's library would reject as text.
async fn raw(app: &TestApp, actor: &Actor, write: &Write, key: &[u8]) -> (u16, Value) {
    let request = sightline::app::http_client().unwrap().post(format!("{}{}", app.service.base_url, write.path));
    let request = request.bearer_auth(actor.token()).header("idempotency-key", HeaderValue::from_bytes(key).unwrap());
    let answer = request.json(&write.named("raw")).send().await.unwrap();
    (answer.status().as_u16(), answer.whole_json().await.unwrap())
}

#[tokio::test]
async fn keys_that_are_none_are_refused_and_nothing_is_written() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let (long, longest) = ("k".repeat(256), "k".repeat(255));
    for write in enforced(&owner.property("northmoor").await) {
        let (id, before) = (&write.id, write.list(&owner).await);
        let body = write.named("bad").to_string();
        let bad: [&[(&str, &str)]; 5] = [
            &[("idempotency-key", "")],
            &[("idempotency-key", &long)],
            &[("idempotency-key", "a\tb")],
            &[("idempotency-key", "a"), ("idempotency-key", "b")],
            &[("idempotency-key", "a"), ("Idempotency-Key", "a")],
        ];
        for headers in bad {
            let answer = sent(&owner, &write.path, &body, headers).await.expect(400);
            assert_eq!((answer.code(), replayed(&answer)), ("invalid_idempotency_key", ""), "{id} {headers:?}");
            assert!(answer.hint().contains("Idempotency-Key"));
            // A key is validated before the body.
            let answer = sent(&owner, &write.path, "[", headers).await.expect(400);
            assert_eq!(answer.code(), "invalid_idempotency_key", "{id} {headers:?}");
        }
        for key in ["schlüssel".as_bytes(), b"\xff", "k\u{a0}".as_bytes()] {
            let (status, json) = raw(&app, &owner, &write, key).await;
            assert_eq!((status, json["code"].as_str()), (400, Some("invalid_idempotency_key")), "{id} {key:?}");
        }
        assert_eq!(write.list(&owner).await, before, "{id}");
        for key in [longest.as_str(), "!", "~ a, b\"\\"] {
            let body = write.named(&format!("good{}", key.len()));
            let first = keyed(&owner, &write.path, key, &body).await.expect(201);
            assert_replay(&keyed(&owner, &write.path, key, &body).await, &first, id);
        }
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_person_one_path_and_its_own_spelling() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let property = owner.property("northmoor").await;
    // The same key on every path, with unrelated bodies.
    let mut firsts = Vec::new();
    for write in enforced(&property) {
        let body = write.named("scoped");
        let first = keyed(&owner, &write.path, "Scope", &body).await.expect(201);
        assert_eq!(replayed(&first), "false", "{}", write.id);
        firsts.push((write, body, first));
    }
    for (write, body, first) in &firsts {
        assert_replay(&keyed(&owner, &write.path, "Scope", body).await, first, &write.id);
        let other = keyed(&owner, &write.path, "scope", &write.named("cased")).await.expect(201);
        assert_eq!(replayed(&other), "false", "{}", write.id);
        let spaced = keyed(&owner, &write.path, "Sco pe", &write.named("spaced")).await.expect(201);
        assert_eq!(replayed(&spaced), "false", "{}", write.id);
    }
    // Keys are separate for each path (also another property's) and for each person.
    let elsewhere = format!("/api/properties/{}/annotations", owner.property("ledgerline").await);
    let note = json!({ "date": "2026-11-01", "text": "scoped" });
    assert_eq!(replayed(&keyed(&owner, &elsewhere, "Scope", &note).await.expect(201)), "false");
    let tag = json!({ "name": "Theirs" });
    let theirs = keyed(&stranger, "/api/tags", "Scope", &tag).await.expect(201);
    assert_eq!((replayed(&theirs), &theirs.json["data"]["name"]), ("false", &json!("Theirs")));
    assert_replay(&keyed(&stranger, "/api/tags", "Scope", &tag).await, &theirs, "the stranger's own");
    // A property id in upper case is the same property.
    let (write, body, first) = firsts.iter().find(|(write, ..)| write.path.contains(&property)).unwrap();
    let capitals = write.path.replace(&property, &property.to_uppercase());
    assert_replay(&keyed(&owner, &capitals, "Scope", body).await, first, "in capitals");
    // Keys belong to the person and not to the token: the owner's next session gets replays.
    let (write, body, first) = &firsts[0];
    assert_replay(&keyed(&app.actor("owner").await, &write.path, "Scope", body).await, first, "another token");
}

#[tokio::test]
async fn where_keys_are_ignored_even_a_malformed_one_has_no_effect() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let long = "k".repeat(300);
    let mut ignored = 0;
    for operation in documented().iter().filter(|operation| operation.id() != "deletePersonalData") {
        let path = operation.at(&property) + &operation.query();
        let found = operation::find(&operation.method, &operation.at(&property)).unwrap();
        if found.idempotency == Some(Idempotency::Enforced) || operation.path.contains("{token}") {
            continue;
        }
        ignored += 1;
        let json = ("content-type", "application/json");
        let without = owner.send(operation.method.clone(), &path, operation.body(), &[json]).await;
        let keys: &[&str] = if operation.method == Method::GET { &[""] } else { &["", &long, "plain", "plain"] };
        for key in keys {
            let headers = [json, ("idempotency-key", key), ("idempotency-key", "second")];
            let with = owner.send(operation.method.clone(), &path, operation.body(), &headers).await;
            // A second deletion finds nothing. If the key had an effect, the first response would be repeated.
            if with.status != without.status {
                assert_eq!((&operation.method, with.status.as_u16()), (&Method::DELETE, 404), "{}", operation.id());
            }
            for header in ["idempotency-replayed", "idempotency-storage"] {
                assert!(!with.headers.contains_key(header), "{} {header}", operation.id());
            }
        }
    }
    assert!(ignored > 40, "{ignored}");
    // A change without key support happens as often as it is sent.
    let tag = owner.send_json(Method::POST, "/api/tags", &json!({ "name": "First" })).await.expect(201);
    for name in ["Second", "Third"] {
        let headers = [("content-type", "application/json"), ("idempotency-key", "same")];
        let body = json!({ "name": name }).to_string();
        let changed = owner.send(Method::PUT, tag.header("location"), Some(body), &headers).await.expect(200);
        assert_eq!(changed.json["data"]["name"], name);
    }
}
