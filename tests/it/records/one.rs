//! Tests of reading one record: where `Location` leads, its tag, and who finds it.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::{Value, json};

use super::{grant_of, lifecycle::kinds};
use crate::{
    coverage::NOBODYS,
    support::{actor::Actor, app::TestApp},
};

/// A list and a body that creates a record in it, of every kind that has an address of its own.
fn creations(property: &str) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = kinds(property).into_iter().map(|kind| (kind.list, kind.input)).collect();
    found.push((format!("/api/properties/{property}/share-links"), json!({ "name": "For the board" })));
    let grant = json!({ "email": "new@elsewhere.test", "role": "viewer", "allProperties": true });
    found.push(("/api/team".to_owned(), grant));
    found
}

/// Asks for `path` unless it still has the tag.
async fn unless(actor: &Actor, path: &str, tag: &str) -> u16 {
    actor.send(Method::GET, path, None, &[("if-none-match", tag)]).await.status.as_u16()
}

#[tokio::test]
async fn the_location_of_every_creation_leads_to_the_record() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for (list, body) in creations(&owner.property("northmoor").await) {
        let made = owner.post(&list, &body).await.expect(201);
        let path = made.header("location").to_owned();
        let found = owner.get(&path).await.expect(200);
        assert_eq!(found.json, made.json, "{path}");
        assert!(owner.listed(&list).await.contains(&found.json["data"]), "{path}");
        owner.delete(&path).await.expect(204);
        owner.get(&path).await.expect(404);
    }
    let property = owner.property("northmoor").await;
    let keywords = format!("/api/properties/{property}/branded-keywords");
    let made = owner.post(&keywords, &json!({ "keywords": ["another name"] })).await.expect(201);
    assert_eq!(owner.get(made.header("location")).await.expect(200).json["data"], made.json["data"]);
}

#[tokio::test]
async fn a_record_has_a_strong_tag_for_each_state() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for kind in kinds(&owner.property("northmoor").await) {
        let path = owner.post(&kind.list, &kind.input).await.expect(201).header("location").to_owned();
        let first = owner.get(&path).await.expect(200).header("etag").to_owned();
        assert!(first.starts_with('"') && first.ends_with('"') && first.len() > 20, "{first}");
        assert_eq!(unless(&owner, &path, &first).await, 304, "{path}");
        app.hand.advance(TimeDelta::seconds(1));
        let changed = owner.put(&path, &kind.changes[0]).await.expect(200);
        assert_eq!(unless(&owner, &path, &first).await, 200, "{path}");
        let now = owner.get(&path).await.expect(200);
        assert_eq!(now.json, changed.json);
        let with = async |tag: &str, method: Method, body: Option<&Value>| {
            let headers = [("content-type", "application/json"), ("if-match", tag)];
            owner.send(method, &path, body.map(Value::to_string), &headers).await.status.as_u16()
        };
        assert_eq!(with(&first, Method::PUT, Some(&kind.changes[1])).await, 412, "{path}");
        assert_eq!(with(now.header("etag"), Method::PUT, Some(&kind.changes[1])).await, 200, "{path}");
        assert_eq!(with(now.header("etag"), Method::DELETE, None).await, 412, "{path}");
        let last = owner.get(&path).await.expect(200);
        assert_eq!(with(last.header("etag"), Method::DELETE, None).await, 204, "{path}");
    }
}

/// A tag's `etag` is of its name, so that it can be renamed while other tags move. Its answer shows its position, too.
#[tokio::test]
async fn the_tag_of_an_answer_covers_values_beside_the_records_state() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let first = owner.post("/api/tags", &json!({ "name": "First" })).await.expect(201).header("location").to_owned();
    let before = owner.get(&first).await.expect(200);
    owner.made("/api/tags", &json!({ "name": "Another", "order": 0 })).await;
    let after = owner.get(&first).await.expect(200);
    assert_eq!((&before.json["data"]["order"], &after.json["data"]["order"]), (&json!(0), &json!(1)));
    assert_eq!(after.json["data"]["etag"], before.json["data"]["etag"]);
    assert_eq!(unless(&owner, &first, before.header("etag")).await, 200);
    let headers = [("content-type", "application/json"), ("if-match", before.header("etag"))];
    let renamed = json!({ "name": "Renamed" }).to_string();
    owner.send(Method::PUT, &first, Some(renamed), &headers).await.expect(200);
}

#[tokio::test]
async fn a_record_of_another_person_or_property_is_not_found() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer, stranger) = (app.actor("owner").await, app.actor("viewer").await, app.actor("stranger").await);
    let property = viewer.property("").await;
    for (list, body) in creations(&property) {
        let path = owner.post(&list, &body).await.expect(201).header("location").to_owned();
        stranger.get(&path).await.expect(404);
        for id in [NOBODYS, "x"] {
            owner.get(&format!("{list}/{id}")).await.expect(404);
        }
        let of_property = list.starts_with("/api/properties/");
        viewer.get(&path).await.expect(if of_property { 200 } else { 404 });
        if of_property {
            let elsewhere = stranger.property("").await;
            let path = path.replace(&property, &elsewhere);
            stranger.get(&path).await.expect(404);
        }
    }
}

#[tokio::test]
async fn a_single_share_link_shows_its_token_to_managers_only() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let list = format!("/api/properties/{}/share-links", viewer.property("").await);
    let path = owner.post(&list, &json!({ "expiresAt": "2027-01-01T00:00:00Z" })).await.expect(201);
    let path = path.header("location").to_owned();
    assert!(owner.get(&path).await.expect(200).json["data"]["token"].is_string());
    let seen = viewer.get(&path).await.expect(200).json;
    for secret in ["token", "url", "apiUrl"] {
        assert!(seen["data"].get(secret).is_none(), "{seen}");
    }
    app.hand.advance(TimeDelta::days(90));
    app.actor("owner").await.get(&path).await.expect(404);
}

#[tokio::test]
async fn a_grant_is_found_by_both_sides_and_a_system_annotation_by_its_id() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer, editor) = (app.actor("owner").await, app.actor("viewer").await, app.actor("editor").await);
    let made = grant_of(&owner, "viewer@demo.test").await;
    let path = format!("/api/team/{}", made["id"].as_str().unwrap());
    assert_eq!(owner.get(&path).await.expect(200).json["data"], made);
    let received = viewer.listed("/api/team?received=true").await;
    assert_eq!(viewer.get(&path).await.expect(200).json["data"], received[0]);
    editor.get(&path).await.expect(404);

    let list = format!("/api/properties/{}/annotations", viewer.property("").await);
    let all = viewer.listed(&format!("{list}?includeSystem=true")).await;
    let system = all.iter().find(|annotation| annotation["source"] == "system").unwrap();
    assert_eq!(
        viewer.get(&format!("{list}/{}", system["id"].as_str().unwrap())).await.expect(200).json["data"],
        *system
    );
}
