//! Tests of members: their view of a grant, its acceptance, and its end.

use chrono::{DateTime, TimeDelta, Utc};
use entity::user;
use poem::http::Method;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use serde_json::{Value, json};

use super::grant_of;
use crate::{
    coverage::untracked,
    support::{
        actor::Actor,
        app::{TestApp, start_of_test},
    },
};

const RECEIVED: &str = "/api/team?received=true";

fn team(grant: &Value) -> String {
    format!("/api/team/{}", grant["id"].as_str().unwrap())
}

fn links(property: &str) -> String {
    format!("/api/properties/{property}/share-links")
}

#[tokio::test]
async fn a_member_sees_what_was_granted_and_may_leave() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor, viewer) = (app.actor("owner").await, app.actor("editor").await, app.actor("viewer").await);
    let made = grant_of(&owner, "viewer@demo.test").await;
    let received = viewer.listed(RECEIVED).await;
    assert_eq!(received.len(), 1);
    for field in ["id", "role", "allProperties", "propertyIds", "etag", "createdAt"] {
        assert_eq!(received[0][field], made[field], "{field}");
    }
    assert_eq!(
        (&received[0]["ownerName"], &received[0]["ownerEmail"]),
        (&json!("Demo Owner"), &json!("owner@demo.test"))
    );
    assert_eq!((made.get("ownerName"), made.get("ownerEmail")), (None, None));
    assert_eq!(viewer.listed("/api/team").await, [] as [Value; 0]);
    assert_eq!(viewer.listed("/api/team?received=false").await, [] as [Value; 0]);
    assert_eq!(owner.listed(RECEIVED).await, [] as [Value; 0]);
    assert!(viewer.get("/api/team?received=yes").await.expect(400).hint().starts_with("received"));

    // Only the owner and the recipient of a grant see it.
    editor.delete(&team(&made)).await.expect(404);
    app.actor("stranger").await.delete(&team(&made)).await.expect(404);
    viewer.put(&team(&made), &json!({ "role": "admin" })).await.expect(404);
    let stale = viewer.send(Method::DELETE, &team(&made), None, &[("if-match", "\"x\"")]).await;
    assert_eq!(stale.expect(412).code(), "precondition_failed");
    viewer.delete(&team(&made)).await.expect(204);
    assert_eq!(viewer.listed("/api/properties").await, [] as [Value; 0]);
    assert_eq!(viewer.listed(RECEIVED).await, [] as [Value; 0]);
    assert_eq!(owner.listed("/api/team").await.len(), 1);
    viewer.delete(&team(&made)).await.expect(404);
}

#[tokio::test]
async fn a_received_grant_names_verified_people_and_tracked_properties_only() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let (shown, hidden) = (owner.property("northmoor").await, untracked(&owner).await);
    let grant = json!({ "email": "stranger@demo.test", "role": "viewer", "propertyIds": [shown, hidden] });
    owner.made("/api/team", &grant).await;
    let row = user::Entity::find().filter(user::Column::EmailKey.eq("owner@demo.test"));
    let mut row = row.one(&app.service.db).await.unwrap().unwrap().into_active_model();
    row.email_verified = Set(false);
    row.update(&app.service.db).await.unwrap();
    let received = stranger.listed(RECEIVED).await;
    assert_eq!((&received[0]["ownerName"], received[0].get("ownerEmail")), (&json!("Demo Owner"), None));
    assert_eq!(received[0]["propertyIds"], json!([shown]));
}

#[tokio::test]
async fn an_invitation_does_not_tell_whether_somebody_is_there() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let property = owner.property("northmoor").await;
    let shape = async |email: &str| {
        let grant = json!({ "email": email, "role": "viewer", "propertyIds": [property] });
        let made = owner.post("/api/team", &grant).await.expect(201).json["data"].clone();
        let mut listed = grant_of(&owner, email).await;
        assert_eq!(made, listed);
        for own in ["id", "email", "etag"] {
            listed.as_object_mut().unwrap().remove(own);
        }
        listed
    };
    let nobody = shape("nobody@demo.test").await;
    assert_eq!(shape("stranger@demo.test").await, nobody);
    assert_eq!((&nobody["status"], nobody.get("acceptedAt")), (&json!("pending"), None));

    // Reading lists does not accept it either. The first use of a property accepts that one grant.
    let granted = stranger.property("northmoor").await;
    stranger.listed(RECEIVED).await;
    let before = grant_of(&owner, "stranger@demo.test").await;
    assert_eq!(before["status"], "pending");
    app.hand.advance(TimeDelta::minutes(1));
    stranger.post(&format!("/api/properties/{granted}/annotations"), &json!({})).await.expect(403);
    assert_eq!(grant_of(&owner, "stranger@demo.test").await["status"], "pending");
    stranger.get(&format!("/api/properties/{granted}/annotations")).await.expect(200);
    let after = grant_of(&owner, "stranger@demo.test").await;
    let accepted: DateTime<Utc> = after["acceptedAt"].as_str().unwrap().parse().unwrap();
    assert_eq!((&after["status"], accepted), (&json!("active"), start_of_test() + TimeDelta::minutes(1)));
    assert_eq!(after["etag"], before["etag"], "using a grant does not change it");
    app.hand.advance(TimeDelta::minutes(1));
    stranger.get(&format!("/api/properties/{granted}/annotations")).await.expect(200);
    assert_eq!(grant_of(&owner, "stranger@demo.test").await, after);
    let raised = owner.put(&team(&after), &json!({ "role": "editor" })).await.expect(200);
    assert_eq!(raised.json["data"]["acceptedAt"], after["acceptedAt"]);
}

/// Ends a member's admin role in the given way.
async fn ends(way: &str, owner: &Actor, member: &Actor, grant: &Value) {
    match way {
        "lowered" => drop(owner.put(&team(grant), &json!({ "role": "editor" })).await.expect(200)),
        "removed" => drop(owner.delete(&team(grant)).await.expect(204)),
        _ => drop(member.delete(&team(grant)).await.expect(204)),
    }
}

#[tokio::test]
async fn the_links_that_a_member_made_end_with_the_right_to_make_them() {
    for way in ["lowered", "removed", "left"] {
        let app = TestApp::start(|_| {}).await;
        let (owner, member) = (app.actor("owner").await, app.actor("viewer").await);
        let grant = grant_of(&owner, "viewer@demo.test").await;
        owner.put(&team(&grant), &json!({ "role": "admin" })).await.expect(200);
        let mut theirs = Vec::new();
        for property in grant["propertyIds"].as_array().unwrap() {
            let made = member.post(&links(property.as_str().unwrap()), &json!({})).await.expect(201);
            theirs.push(format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap()));
        }
        let property = grant["propertyIds"][0].as_str().unwrap();
        let own = owner.post(&links(property), &json!({})).await.expect(201).json["data"].clone();
        let own_path = format!("/api/share/{}/performance", own["token"].as_str().unwrap());
        for path in theirs.iter().chain([&own_path]) {
            app.anonymous().get(path).await.expect(200);
        }
        // A change that keeps the permission keeps the links.
        owner.put(&team(&grant), &json!({ "role": "admin" })).await.expect(200);
        app.anonymous().get(&theirs[0]).await.expect(200);

        ends(way, &owner, &member, &grant).await;
        for path in &theirs {
            app.anonymous().get(path).await.expect(404);
        }
        app.anonymous().get(&own_path).await.expect(200);
        assert_eq!(owner.listed(&links(property)).await, [own], "{way}");
    }
}
