//! Tests of grants: recipients, start and end.

use entity::user::{self, Plan};
use poem::http::Method;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use serde_json::{Value, json};
use sightline::services::users::subscriptions;

use super::{column, contains, grant_of};
use crate::{
    coverage::{NOBODYS, untracked},
    support::{
        actor::Actor,
        app::{TestApp, start_of_test},
    },
};

fn segments(property: &str) -> String {
    format!("/api/properties/{property}/segments")
}

async fn statuses(actor: &Actor, property: &str) -> [u16; 3] {
    let rule = json!({ "name": "Probe", "conditions": [contains("a")] });
    let read = actor.get(&segments(property)).await.status.as_u16();
    let write = actor.post(&segments(property), &rule).await;
    if write.status.as_u16() == 201 {
        actor.delete(write.header("location")).await.expect(204);
    }
    let link = actor.post(&format!("/api/properties/{property}/share-links"), &json!({})).await;
    [read, write.status.as_u16(), link.status.as_u16()]
}

#[tokio::test]
async fn a_change_of_a_grant_holds_from_the_next_request_on() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let property = owner.property("northmoor").await;
    let grant = grant_of(&owner, "viewer@demo.test").await;
    let path = format!("/api/team/{}", grant["id"].as_str().unwrap());
    assert_eq!(statuses(&viewer, &property).await, [200, 403, 403]);
    for (role, expected) in [("admin", [200, 201, 201]), ("editor", [200, 201, 403]), ("viewer", [200, 403, 403])] {
        let changed = owner.put(&path, &json!({ "role": role })).await.expect(200);
        assert_eq!(
            (&changed.json["data"]["role"], &changed.json["data"]["propertyIds"]),
            (&json!(role), &grant["propertyIds"])
        );
        assert_eq!(statuses(&viewer, &property).await, expected, "{role}");
        let listed = viewer.listed("/api/properties").await;
        assert!(column(&listed, "role").iter().all(|found| found == role));
    }
    for wrong in [json!({ "role": "owner" }), json!({ "role": "Admin" })] {
        assert!(owner.put(&path, &wrong).await.expect(400).hint().starts_with("role"));
    }
    owner.delete(&path).await.expect(204);
    assert_eq!(statuses(&viewer, &property).await, [404, 404, 404]);
    assert_eq!(viewer.listed("/api/properties").await, [] as [Value; 0]);
    // Records of the former member stay, and a new grant restores access.
    let again = json!({ "email": "Viewer@DEMO.test", "role": "viewer", "propertyIds": [property] });
    let again = owner.post("/api/team", &again).await.expect(201);
    assert_eq!(
        (&again.json["data"]["status"], &again.json["data"]["email"]),
        (&json!("pending"), &json!("Viewer@DEMO.test"))
    );
    assert_eq!(statuses(&viewer, &property).await, [200, 403, 403]);
    assert_eq!(viewer.listed("/api/properties").await.len(), 1);
}

/// Makes the stranger's address unverified.
async fn unverify(app: &TestApp) {
    let db = &app.service.db;
    let named = user::Column::EmailKey.eq("stranger@demo.test");
    let mut row = user::Entity::find().filter(named).one(db).await.unwrap().unwrap().into_active_model();
    row.email_verified = Set(false);
    row.update(db).await.unwrap();
}

#[tokio::test]
async fn a_grant_waits_for_somebody_with_the_verified_address() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    unverify(&app).await;
    let grant = json!({ "email": "STRANGER@demo.test", "role": "editor", "allProperties": true });
    let made = owner.post("/api/team", &grant).await.expect(201).json["data"].clone();
    assert_eq!((&made["status"], made.get("acceptedAt")), (&json!("pending"), None));
    assert_eq!((&made["allProperties"], &made["propertyIds"]), (&json!(true), &json!([])));
    let stranger = app.actor("stranger").await;
    assert_eq!(statuses(&stranger, &property).await, [200, 201, 403]);
    let active = grant_of(&owner, "STRANGER@demo.test").await;
    assert_eq!((&active["status"], active["acceptedAt"].is_string()), (&json!("active"), true));
    // A grant on all properties includes properties tracked later, and never untracked ones.
    let spare = untracked(&owner).await;
    stranger.get(&segments(&spare)).await.expect(404);
    let mut tracked = column(&owner.listed("/api/properties").await, "id");
    tracked.push(spare.clone());
    owner.put("/api/properties/tracking", &json!({ "propertyIds": tracked })).await.expect(200);
    stranger.get(&segments(&spare)).await.expect(200);
    // Granted properties cannot be granted further.
    let onwards = json!({ "email": "viewer@demo.test", "role": "viewer", "propertyIds": [property] });
    stranger.post("/api/team", &onwards).await.expect(403);
    let theirs = app.actor("stranger").await.property("quietmeadow").await;
    owner.get(&segments(&theirs)).await.expect(404);
}

/// A full-width letter and a Kelvin sign: different mailboxes.
#[tokio::test]
async fn a_grant_to_an_address_that_only_looks_the_same_reaches_nobody() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let property = owner.property("northmoor").await;
    for email in ["ｓtranger@demo.test", "stranger@demo.te\u{17f}t"] {
        let grant = json!({ "email": email, "role": "admin", "allProperties": true });
        assert_eq!(owner.post("/api/team", &grant).await.expect(201).json["data"]["status"], "pending", "{email}");
        assert_eq!(statuses(&stranger, &property).await, [404, 404, 404], "{email}");
    }
}

#[tokio::test]
async fn untracking_closes_a_property_to_everyone() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let property = owner.property("northmoor").await;
    let link = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
    let shared = format!("/api/share/{}/performance", link.json["data"]["token"].as_str().unwrap());
    let tracked = column(&owner.listed("/api/properties").await, "id");
    let rest: Vec<&String> = tracked.iter().filter(|id| **id != property).collect();
    let track =
        async |ids: Value| owner.put("/api/properties/tracking", &json!({ "propertyIds": ids })).await.expect(200);
    track(json!(rest)).await;
    for actor in [&owner, &editor] {
        assert_eq!(statuses(actor, &property).await, [404, 404, 404]);
    }
    app.anonymous().get(&shared).await.expect(404);
    track(json!(tracked)).await;
    assert_eq!(statuses(&editor, &property).await, [200, 201, 403]);
    app.anonymous().get(&shared).await.expect(200);
}

#[tokio::test]
async fn what_cannot_be_granted_is_refused_clearly() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let property = owner.property("northmoor").await;
    let foreign = stranger.property("quietmeadow").await;
    let before = owner.listed("/api/team").await;
    let email = "new@elsewhere.test";
    let upper = property.to_uppercase();
    let cases = [
        ("email", json!({ "email": "OWNER@demo.test", "role": "viewer", "allProperties": true })),
        ("email", json!({ "email": "Viewer@Demo.test", "role": "viewer", "allProperties": true })),
        ("email", json!({ "email": "nobody", "role": "viewer", "allProperties": true })),
        ("email", json!({ "email": "moc\u{202e}@tset.test", "role": "viewer", "allProperties": true })),
        ("email", json!({ "email": "a\u{1b}@elsewhere.test", "role": "viewer", "allProperties": true })),
        ("email", json!({ "email": "a b@elsewhere.test", "role": "viewer", "allProperties": true })),
        (
            "email",
            json!({ "email": format!("{}@elsewhere.test", "a".repeat(320)), "role": "viewer", "allProperties": true }),
        ),
        ("email", json!({ "role": "viewer", "allProperties": true })),
        ("role", json!({ "email": email, "role": "owner", "allProperties": true })),
        ("role", json!({ "email": email, "allProperties": true })),
        ("propertyIds", json!({ "email": email, "role": "viewer" })),
        ("propertyIds", json!({ "email": email, "role": "viewer", "allProperties": false })),
        ("propertyIds", json!({ "email": email, "role": "viewer", "propertyIds": [] })),
        ("propertyIds", json!({ "email": email, "role": "viewer", "propertyIds": [property], "allProperties": true })),
        ("propertyIds", json!({ "email": email, "role": "viewer", "propertyIds": [property, property] })),
        ("propertyIds", json!({ "email": email, "role": "viewer", "propertyIds": [property, upper] })),
        ("propertyIds[0]", json!({ "email": email, "role": "viewer", "propertyIds": ["x"] })),
        ("properties", json!({ "email": email, "role": "viewer", "properties": [property] })),
    ];
    for (name, body) in cases {
        let answer = owner.post("/api/team", &body).await.expect(400);
        assert!(answer.hint().starts_with(name), "{body}: {}", answer.hint());
    }
    for stray in [foreign.as_str(), NOBODYS] {
        let body = json!({ "email": email, "role": "viewer", "propertyIds": [property, stray] });
        owner.post("/api/team", &body).await.expect(404);
    }
    assert_eq!(owner.listed("/api/team").await, before);
}

/// Only the owner of a property grants it. No plan changes that, so none is offered.
#[tokio::test]
async fn granting_without_the_right_is_refused_alike_under_every_plan() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let property = owner.property("northmoor").await;
    let hidden = app.actor("stranger").await.property("quietmeadow").await;
    let grant = grant_of(&owner, "editor@demo.test").await["id"].as_str().unwrap().to_owned();
    let theirs = format!("/api/team/{grant}");
    owner.put(&theirs, &json!({ "role": "admin" })).await.expect(200);
    let invitation = |ids: &[&str]| json!({ "email": "new@elsewhere.test", "role": "viewer", "propertyIds": ids });
    for plan in [Plan::Free, Plan::None, Plan::Pro] {
        subscriptions::set(&app.service.db, "editor@demo.test", plan, start_of_test()).await.unwrap();
        let refused = editor.post("/api/team", &invitation(&[&property])).await.expect(403);
        assert_eq!(refused.code(), "forbidden");
        assert_eq!(refused.hint(), "propertyIds[0]: this needs the role owner on the property.", "{plan:?}");
        for stray in [hidden.as_str(), NOBODYS] {
            let refused = editor.post("/api/team", &invitation(&[stray, &property])).await.expect(404);
            assert_eq!(refused.hint(), "propertyIds[0]: is not one of your properties", "{plan:?}");
        }
        let role = json!({ "role": "admin", "propertyIds": [property] });
        for path in [theirs.as_str(), "/api/team/x", &format!("/api/team/{NOBODYS}")] {
            editor.put(path, &role).await.expect(404);
        }
    }
    // A request that rights allow and the plan does not is refused before its body is judged.
    subscriptions::set(&app.service.db, "editor@demo.test", Plan::Free, start_of_test()).await.unwrap();
    for body in [json!({}), json!({ "propertyIds": 7 }), json!({ "propertyIds": ["x"] }), invitation(&[])] {
        editor.post("/api/team", &body).await.expect(402);
    }
}

#[tokio::test]
async fn a_plan_without_a_team_makes_no_grants_and_still_takes_them_back() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let grant = grant_of(&owner, "viewer@demo.test").await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/team/{grant}");
    let body = json!({ "email": "new@elsewhere.test", "role": "viewer", "allProperties": true });
    for plan in [Plan::Free, Plan::None] {
        subscriptions::set(&app.service.db, "owner@demo.test", plan, start_of_test()).await.unwrap();
        let answer = owner.post("/api/team", &body).await.expect(402);
        assert!(answer.code() == "subscription_required" && !answer.hint().is_empty());
        owner.put(&path, &json!({ "role": "admin" })).await.expect(402);
        assert_eq!(owner.listed("/api/team").await.len(), 2);
    }
    owner.send(Method::DELETE, &path, None, &[]).await.expect(204);
    subscriptions::set(&app.service.db, "owner@demo.test", Plan::Agency, start_of_test()).await.unwrap();
    owner.made("/api/team", &body).await;
}
