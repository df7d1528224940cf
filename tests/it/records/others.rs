//! Tests that records of other people cannot be reached by name, by key or by id.

use poem::http::Method;
use serde_json::{Value, json};

use super::contains;
use crate::support::{actor::Actor, app::TestApp};

fn rule(name: &str) -> Value {
    json!({ "name": name, "conditions": [contains("a")] })
}

fn preset(name: &str) -> Value {
    json!({ "name": name, "filters": [{ "dimension": "query", "operator": "contains", "value": "a" }] })
}

#[tokio::test]
async fn equal_names_and_keys_of_two_people_never_meet() {
    let app = TestApp::start(|_| {}).await;
    let people = [app.actor("owner").await, app.actor("viewer").await, app.actor("stranger").await];
    let headers = [("content-type", "application/json"), ("idempotency-key", "the same")];
    for (path, body) in [("/api/tags", json!({ "name": "Same" })), ("/api/filter-presets", preset("Same"))] {
        let mut ids = Vec::new();
        for person in &people {
            let answer = person.send(Method::POST, path, Some(body.to_string()), &headers).await.expect(201);
            assert_eq!(answer.header("idempotency-replayed"), "false");
            ids.push(answer.json["data"]["id"].as_str().unwrap().to_owned());
        }
        for (person, id) in people.iter().zip(&ids) {
            let own = person.listed(path).await;
            assert_eq!(own.iter().map(|record| record["id"].as_str().unwrap()).collect::<Vec<_>>(), [id]);
            let again = person.send(Method::POST, path, Some(body.to_string()), &headers).await.expect(201);
            assert_eq!(
                (again.header("idempotency-replayed"), again.json["data"]["id"].as_str()),
                ("true", Some(&**id))
            );
        }
    }
}

/// Everything that a person can list.
async fn everything(actor: &Actor, property: &str) -> Vec<Vec<Value>> {
    let mut found = Vec::new();
    for part in ["annotations", "segments", "topic-clusters", "branded-keywords", "share-links"] {
        found.push(actor.listed(&format!("/api/properties/{property}/{part}")).await);
    }
    for path in ["/api/tags", "/api/filter-presets", "/api/team", "/api/properties"] {
        found.push(actor.listed(path).await);
    }
    found
}

/// Sends ids of another person's property and tag in bodies.
async fn ask_in_bodies(stranger: &Actor, own: &str, [theirs, tag]: [&str; 2]) {
    let bodies = [
        (format!("/api/properties/{own}/tags"), json!({ "tagIds": [tag] })),
        ("/api/team".into(), json!({ "email": "x@elsewhere.test", "role": "viewer", "propertyIds": [own, theirs] })),
    ];
    for (path, body) in bodies {
        stranger.post(&path, &body).await.expect(404);
    }
    let selection = json!({ "propertyIds": [own, theirs] });
    let refused = stranger.put("/api/properties/tracking", &selection).await.expect(404);
    assert_eq!(refused.hint(), "propertyIds[1]: is not one of your properties");
}

#[tokio::test]
async fn ids_of_others_are_not_found_and_nothing_changes() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let (theirs, own) = (owner.property("northmoor").await, stranger.property("quietmeadow").await);
    let of = |part: &str| format!("/api/properties/{theirs}/{part}");
    let annotation = json!({ "date": "2026-11-01", "text": "x" });
    let tag = owner.made("/api/tags", &json!({ "name": "x" })).await;
    let preset_id = owner.made("/api/filter-presets", &preset("x")).await;
    let member = owner.listed("/api/team").await[0]["id"].as_str().unwrap().to_owned();
    let of_property = [
        ("annotations", owner.made(&of("annotations"), &annotation).await, Some(annotation.clone())),
        ("segments", owner.made(&of("segments"), &rule("x")).await, Some(rule("y"))),
        ("topic-clusters", owner.made(&of("topic-clusters"), &rule("x")).await, Some(rule("y"))),
        ("share-links", owner.made(&of("share-links"), &json!({})).await, None),
    ];
    let mut asked = vec![
        (Method::PUT, format!("/api/tags/{tag}"), Some(json!({ "name": "y" }))),
        (Method::DELETE, format!("/api/tags/{tag}"), None),
        (Method::GET, format!("/api/tags/{tag}/properties"), None),
        (Method::POST, format!("/api/tags/{tag}/properties"), Some(json!({ "propertyIds": [] }))),
        (Method::PUT, format!("/api/filter-presets/{preset_id}"), Some(preset("y"))),
        (Method::DELETE, format!("/api/filter-presets/{preset_id}"), None),
        (Method::PUT, format!("/api/team/{member}"), Some(json!({ "role": "admin" }))),
        (Method::DELETE, format!("/api/team/{member}"), None),
    ];
    let siblings = owner.listed("/api/properties").await;
    let sibling =
        siblings.iter().find(|property| property["id"] != *theirs).unwrap()["id"].as_str().unwrap().to_owned();
    for (part, id, body) in &of_property {
        // Under the other person's property, the own property, and another property of the same owner.
        for (property, actor) in [(&theirs, &stranger), (&own, &stranger), (&sibling, &owner)] {
            let path = format!("/api/properties/{property}/{part}/{id}");
            if std::ptr::eq(actor, &raw const owner) {
                actor.send(Method::DELETE, &path, None, &[]).await.expect(404);
                if let Some(body) = body {
                    actor.put(&path, body).await.expect(404);
                }
                continue;
            }
            asked.push((Method::DELETE, path.clone(), None));
            asked.extend(body.as_ref().map(|body| (Method::PUT, path, Some(body.clone()))));
        }
    }
    let before = [everything(&owner, &theirs).await, everything(&stranger, &own).await];
    for (method, path, body) in asked {
        let headers = [("content-type", "application/json"), ("if-match", "*")];
        let answer = stranger.send(method.clone(), &path, body.map(|body| body.to_string()), &headers).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (404, "not_found"), "{method} {path}");
    }
    for (part, kind) in [("segments", "segment"), ("topic-clusters", "topicCluster")] {
        let id = &of_property.iter().find(|(name, ..)| *name == part).unwrap().1;
        let question = [("classification", format!("{kind}:{id}"))];
        let question: Vec<(&str, &str)> = question.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = stranger.ask(&format!("/api/properties/{own}/performance"), &question).await.expect(404);
        assert!(answer.hint().starts_with("classification: "), "{}", answer.hint());
    }
    ask_in_bodies(&stranger, &own, [&theirs, &tag]).await;
    let after = [everything(&owner, &theirs).await, everything(&stranger, &own).await];
    assert_eq!(after, before);
}

/// A tag says nothing about its record: neither that it is current, nor that it exists.
#[tokio::test]
async fn the_tag_of_another_persons_record_opens_nothing() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let theirs = owner.property("northmoor").await;
    let note = json!({ "date": "2026-11-01", "text": "x" });
    let annotations = format!("/api/properties/{theirs}/annotations");
    let paths = [
        format!("/api/tags/{}", owner.made("/api/tags", &json!({ "name": "x" })).await),
        format!("/api/filter-presets/{}", owner.made("/api/filter-presets", &preset("x")).await),
        format!("{annotations}/{}", owner.made(&annotations, &note).await),
        annotations,
        format!("/api/properties/{theirs}"),
        format!("/api/properties/{theirs}/performance"),
    ];
    for path in paths {
        let tag = owner.get(&path).await.expect(200).header("etag").to_owned();
        owner.send(Method::GET, &path, None, &[("if-none-match", &tag)]).await.expect(304);
        for tag in [tag.as_str(), "*"] {
            let read = stranger.send(Method::GET, &path, None, &[("if-none-match", tag)]).await.expect(404);
            assert_eq!((read.code(), read.header("etag")), ("not_found", ""), "{path} {tag}");
            let gone = stranger.send(Method::DELETE, &path, None, &[("if-match", tag)]).await;
            assert!([404, 405].contains(&gone.status.as_u16()), "{path} {tag}: {}", gone.status);
        }
        owner.get(&path).await.expect(200);
    }
    // A key of another person's write is a new one, and repeats nothing of theirs.
    let headers = [("content-type", "application/json"), ("idempotency-key", "theirs")];
    let body = json!({ "name": "Secret plans" }).to_string();
    owner.send(Method::POST, "/api/tags", Some(body), &headers).await.expect(201);
    let other = json!({ "name": "Something else" }).to_string();
    let made = stranger.send(Method::POST, "/api/tags", Some(other), &headers).await.expect(201);
    assert_eq!((made.header("idempotency-replayed"), &made.json["data"]["name"]), ("false", &json!("Something else")));
}
