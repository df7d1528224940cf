//! Tests of changes in part: of a tag's name or position, of a grant's role or properties.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::{Value, json};

use super::{column, contains, grant_of};
use crate::{
    coverage::NOBODYS,
    support::{
        actor::{Actor, Answer},
        app::TestApp,
    },
};

#[tokio::test]
async fn a_tag_keeps_what_a_change_does_not_name() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        ids.push(owner.made("/api/tags", &json!({ "name": name })).await);
    }
    let names = async || column(&owner.listed("/api/tags").await, "name").join(" ");
    let path = format!("/api/tags/{}", ids[2]);
    let moved = owner.put(&path, &json!({ "order": 0 })).await.expect(200).json["data"].clone();
    assert_eq!((&moved["name"], &moved["order"]), (&json!("c"), &json!(0)));
    assert_eq!(names().await, "c a b");
    let renamed = owner.put(&path, &json!({ "name": "C!", "order": null })).await.expect(200).json["data"].clone();
    assert_eq!((&renamed["name"], &renamed["order"]), (&json!("C!"), &json!(0)));
    owner.put(&path, &json!({ "name": "z", "order": 2 })).await.expect(200);
    assert_eq!(names().await, "a b z");
    for nothing in [json!({}), json!({ "name": null }), json!({ "name": null, "order": null })] {
        let answer = owner.put(&path, &nothing).await.expect(400);
        assert_eq!(answer.hint(), "body: changes nothing; send name, order or both", "{nothing}");
    }
    assert!(owner.put(&path, &json!({ "name": "A" })).await.expect(400).hint().starts_with("name"));
    assert_eq!(names().await, "a b z");
}

/// An owner, a member with a grant of the role admin, and the properties that the grant names.
struct Team {
    app: TestApp,
    owner: Actor,
    member: Actor,
    path: String,
    properties: Vec<String>,
}

impl Team {
    async fn new() -> Self {
        let app = TestApp::start(|_| {}).await;
        let (owner, member) = (app.actor("owner").await, app.actor("viewer").await);
        let grant = grant_of(&owner, "viewer@demo.test").await;
        let path = format!("/api/team/{}", grant["id"].as_str().unwrap());
        owner.put(&path, &json!({ "role": "admin" })).await.expect(200);
        let named = grant["propertyIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned());
        let properties = named.collect();
        Self { app, owner, member, path, properties }
    }

    async fn change(&self, body: &Value) -> Answer {
        self.owner.put(&self.path, body).await
    }

    /// The properties that the member sees, and the member's roles there.
    async fn seen(&self) -> (Vec<String>, Vec<String>) {
        let listed = self.member.listed("/api/properties").await;
        let (mut ids, mut roles) = (column(&listed, "id"), column(&listed, "role"));
        ids.sort();
        roles.dedup();
        (ids, roles)
    }
}

#[tokio::test]
async fn a_grant_keeps_what_a_change_does_not_name() {
    let team = Team::new().await;
    let first = &team.properties[0];
    assert_eq!(team.seen().await.0.len(), 2);
    let narrowed = team.change(&json!({ "propertyIds": [first] })).await.expect(200).json["data"].clone();
    assert_eq!(
        (&narrowed["role"], &narrowed["allProperties"], &narrowed["propertyIds"]),
        (&json!("admin"), &json!(false), &json!([first]))
    );
    assert_eq!(team.seen().await, (vec![first.clone()], vec!["admin".to_owned()]));
    assert_eq!(grant_of(&team.owner, "viewer@demo.test").await, narrowed);

    let lowered = team.change(&json!({ "role": "editor", "propertyIds": null })).await.expect(200).json["data"].clone();
    assert_eq!((&lowered["role"], &lowered["propertyIds"]), (&json!("editor"), &json!([first])));
    let widened = team.change(&json!({ "allProperties": true })).await.expect(200).json["data"].clone();
    assert_eq!(
        (&widened["role"], &widened["allProperties"], &widened["propertyIds"]),
        (&json!("editor"), &json!(true), &json!([]))
    );
    let (ids, roles) = team.seen().await;
    assert_eq!((ids.len(), roles), (team.owner.listed("/api/properties").await.len(), vec!["editor".to_owned()]));
    let both = json!({ "role": "viewer", "propertyIds": team.properties, "allProperties": false });
    team.change(&both).await.expect(200);
    let mut expected = team.properties.clone();
    expected.sort();
    assert_eq!(team.seen().await, (expected, vec!["viewer".to_owned()]));
    // A property that the grant no longer covers is not found, as if it had never been granted.
    let other = column(&team.owner.listed("/api/properties").await, "id");
    let other = other.iter().find(|id| !team.properties.contains(id)).unwrap();
    team.member.get(&format!("/api/properties/{other}/segments")).await.expect(404);
}

#[tokio::test]
async fn a_change_of_a_grant_is_held_to_the_rules_of_an_invitation() {
    let team = Team::new().await;
    let before = grant_of(&team.owner, "viewer@demo.test").await;
    let (first, all) = (&team.properties[0], json!({ "propertyIds": team.properties, "allProperties": true }));
    for (name, body) in [
        ("body", json!({})),
        ("body", json!({ "role": null, "propertyIds": null, "allProperties": null })),
        ("propertyIds", json!({ "propertyIds": [] })),
        ("propertyIds", json!({ "propertyIds": [first, first] })),
        ("propertyIds", json!({ "allProperties": false })),
        ("propertyIds", json!({ "role": "viewer", "allProperties": false })),
        ("propertyIds", all),
        ("propertyIds[0]", json!({ "propertyIds": ["x"] })),
        ("email", json!({ "email": "x@elsewhere.test" })),
    ] {
        let answer = team.change(&body).await.expect(400);
        assert!(answer.hint().starts_with(&format!("{name}:")), "{body}: {}", answer.hint());
    }
    let foreign = team.app.actor("stranger").await.property("quietmeadow").await;
    for stray in [foreign.as_str(), NOBODYS] {
        team.change(&json!({ "role": "viewer", "propertyIds": [first, stray] })).await.expect(404);
    }
    assert_eq!(grant_of(&team.owner, "viewer@demo.test").await, before, "what is refused changes nothing");
}

#[tokio::test]
async fn share_links_end_for_the_properties_that_a_grant_no_longer_covers() {
    let team = Team::new().await;
    let mut links = Vec::new();
    for property in &team.properties {
        let list = format!("/api/properties/{property}/share-links");
        let link = team.member.post(&list, &json!({})).await.expect(201).json["data"].clone();
        links.push(format!("/api/share/{}/performance", link["token"].as_str().unwrap()));
    }
    let open = async |path: &str| team.app.anonymous().get(path).await.status.as_u16();
    team.change(&json!({ "allProperties": true })).await.expect(200);
    team.change(&json!({ "propertyIds": team.properties })).await.expect(200);
    assert_eq!((open(&links[0]).await, open(&links[1]).await), (200, 200));
    team.change(&json!({ "propertyIds": [team.properties[1]] })).await.expect(200);
    assert_eq!((open(&links[0]).await, open(&links[1]).await), (404, 200));
    team.change(&json!({ "role": "viewer" })).await.expect(200);
    assert_eq!(open(&links[1]).await, 404);
}

#[tokio::test]
async fn every_change_of_a_grant_makes_a_new_tag() {
    let team = Team::new().await;
    let mut tags = vec![grant_of(&team.owner, "viewer@demo.test").await["etag"].as_str().unwrap().to_owned()];
    for change in [
        json!({ "propertyIds": [team.properties[0]] }),
        json!({ "propertyIds": [team.properties[1]] }),
        json!({ "allProperties": true }),
        json!({ "propertyIds": team.properties, "role": "editor" }),
    ] {
        let send = async |tag: &str| {
            let headers = [("content-type", "application/json"), ("if-match", tag)];
            team.owner.send(Method::PUT, &team.path, Some(change.to_string()), &headers).await
        };
        for stale in &tags[..tags.len() - 1] {
            send(stale).await.expect(412);
        }
        let changed = send(tags.last().unwrap()).await.expect(200);
        tags.push(changed.header("etag").to_owned());
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 5);
}

#[tokio::test]
async fn a_member_writes_only_where_the_grant_still_covers_the_property() {
    let team = Team::new().await;
    let rule = json!({ "name": "Mine", "conditions": [contains("a")] });
    let list = |property: &str| format!("/api/properties/{property}/segments");
    for property in &team.properties {
        team.member.post(&list(property), &rule).await.expect(201);
    }
    team.app.hand.advance(TimeDelta::seconds(1));
    team.change(&json!({ "propertyIds": [team.properties[0]] })).await.expect(200);
    let again = json!({ "name": "Mine too", "conditions": [contains("a")] });
    team.member.post(&list(&team.properties[0]), &again).await.expect(201);
    team.member.post(&list(&team.properties[1]), &again).await.expect(404);
}
