//! Tests after a change to a smaller plan: nothing is deleted, the properties tracked longest stay accessible, and the
//! others return a clear error.

use chrono::TimeDelta;
use entity::user::Plan;
use serde_json::{Value, json};
use sightline::services::users::subscriptions;

use super::column;
use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, start_of_test},
};

async fn set_plan(app: &TestApp, plan: Plan) {
    subscriptions::set(&app.service.db, "owner@demo.test", plan, start_of_test()).await.unwrap();
}

async fn track(owner: &Actor, ids: &[String]) -> Answer {
    owner.put("/api/properties/tracking", &json!({ "propertyIds": ids })).await
}

fn annotations(property: &str) -> String {
    format!("/api/properties/{property}/annotations")
}

async fn link_to(owner: &Actor, property: &str) -> String {
    let made = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
    format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap())
}

/// Tracks the owner's properties one after the other, the editor's last. Returns them in that order.
async fn tracked_in_order(app: &TestApp, owner: &Actor) -> Vec<String> {
    let editors = column(&app.actor("editor").await.listed("/api/properties").await, "id");
    let mut ids = column(&owner.listed("/api/properties").await, "id");
    ids.sort_by_key(|id| editors.contains(id));
    track(owner, &[]).await.expect(200);
    for count in 1..=ids.len() {
        app.hand.advance(TimeDelta::seconds(1));
        track(owner, &ids[..count]).await.expect(200);
    }
    ids
}

fn locked(answer: Answer) -> String {
    let answer = answer.expect(402);
    assert_eq!(answer.code(), "subscription_required");
    answer.hint().to_owned()
}

async fn states(actor: &Actor, ids: &[String]) -> Vec<(Value, bool)> {
    let listed = actor.listed("/api/properties").await;
    let state = |id: &String| listed.iter().find(|entry| entry["id"] == *id);
    ids.iter().filter_map(state).map(|entry| (entry["access"].clone(), entry.get("headline").is_some())).collect()
}

#[tokio::test]
async fn the_properties_tracked_longest_stay_open_within_the_quota() {
    let app = TestApp::start(|config| {
        config.plans.free.tracked_properties = 2;
        (config.plans.free.team, config.plans.free.share_links) = (true, true);
    })
    .await;
    let (owner, editor, stranger) = (app.actor("owner").await, app.actor("editor").await, app.actor("stranger").await);
    let ids = tracked_in_order(&app, &owner).await;
    let note = json!({ "date": "2026-11-01", "text": "kept" });
    for id in &ids {
        owner.post(&annotations(id), &note).await.expect(201);
    }
    let links = [link_to(&owner, &ids[1]).await, link_to(&owner, &ids[2]).await];
    set_plan(&app, Plan::Free).await;

    for id in &ids[..2] {
        owner.get(&annotations(id)).await.expect(200);
    }
    let open = |state: bool| (json!(if state { "ok" } else { "subscription_required" }), state);
    assert_eq!(states(&owner, &ids).await, [open(true), open(true), open(false), open(false)]);
    for (place, id) in ids.iter().enumerate().skip(2) {
        let own = locked(owner.get(&annotations(id)).await);
        assert!(own.contains("untrack") && own.contains(&format!("{} properties", place + 1)), "{own}");
        // The role is checked before the plan, and visibility before the role.
        let members = locked(editor.get(&annotations(id)).await);
        assert!(members.contains("owner"), "{members}");
        editor.post(&format!("/api/properties/{id}/share-links"), &json!({})).await.expect(403);
        stranger.get(&annotations(id)).await.expect(404);
    }
    app.anonymous().get(&links[0]).await.expect(200);
    app.anonymous().get(&links[1]).await.expect(404);

    // Untracking other properties unlocks them, with all their data.
    assert_eq!(track(&owner, &ids[1..]).await.expect(402).code(), "property_quota_exceeded");
    track(&owner, &ids[1..3]).await.expect(200);
    assert_eq!(owner.listed(&annotations(&ids[2])).await.len(), 1);
    app.anonymous().get(&links[1]).await.expect(200);
    editor.post(&annotations(&ids[2]), &note).await.expect(201);
    // A larger plan unlocks them, too. A property that is tracked again comes last.
    set_plan(&app, Plan::Pro).await;
    app.hand.advance(TimeDelta::seconds(1));
    track(&owner, &ids).await.expect(200);
    assert_eq!(states(&owner, &ids).await, vec![open(true); 4]);
    set_plan(&app, Plan::Free).await;
    assert_eq!(states(&owner, &ids).await, [open(false), open(true), open(true), open(false)]);
}

#[tokio::test]
async fn a_plan_without_a_team_is_the_owners_alone() {
    let app = TestApp::start(|config| {
        config.plans.free.tracked_properties = 25;
        config.plans.free.share_links = true;
    })
    .await;
    let (owner, editor, viewer) = (app.actor("owner").await, app.actor("editor").await, app.actor("viewer").await);
    let shared = column(&viewer.listed("/api/properties").await, "id");
    let link = link_to(&owner, &shared[0]).await;
    set_plan(&app, Plan::Free).await;
    for id in &shared {
        owner.get(&annotations(id)).await.expect(200);
        for member in [&editor, &viewer] {
            let hint = locked(member.get(&annotations(id)).await);
            assert!(hint.contains("owner") && hint.contains("team"), "{hint}");
        }
        let note = json!({ "date": "2026-11-01", "text": "x" });
        locked(editor.post(&annotations(id), &note).await);
        viewer.post(&annotations(id), &note).await.expect(403);
    }
    assert!(states(&viewer, &shared).await.iter().all(|(access, shown)| access == "subscription_required" && !shown));
    app.anonymous().get(&link).await.expect(200);
    // The grants still exist, and members can still leave.
    let received = viewer.listed("/api/team?received=true").await;
    viewer.delete(&format!("/api/team/{}", received[0]["id"].as_str().unwrap())).await.expect(204);
    set_plan(&app, Plan::Pro).await;
    editor.get(&annotations(&shared[0])).await.expect(200);
    viewer.get(&annotations(&shared[0])).await.expect(404);
}
