//! Tests of the tracked selection by people without the right to a property, and without a plan.

use entity::user::Plan;
use poem::http::Method;
use serde_json::{Value, json};
use sightline::services::users::subscriptions;

use crate::{
    coverage::{NOBODYS, untracked},
    support::{
        actor::{Actor, Answer},
        app::{TestApp, start_of_test},
    },
};

const TRACKING: &str = "/api/properties/tracking";

/// Every form of a selection that names these properties, with the field that names them.
fn selections(ids: &[&str]) -> [(&'static str, Value); 3] {
    ["propertyIds", "add", "remove"].map(|field| (field, json!({ field: ids })))
}

async fn select(actor: &Actor, body: &Value) -> Answer {
    actor.send_json(Method::PUT, TRACKING, body).await
}

#[tokio::test]
async fn tracking_without_the_right_is_refused_alike_under_every_plan() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let seen = editor.property("northmoor").await;
    let foreign = app.actor("stranger").await.property("quietmeadow").await;
    let hidden = [foreign, untracked(&owner).await, NOBODYS.to_owned()];
    for plan in [Plan::Free, Plan::None, Plan::Pro] {
        subscriptions::set(&app.service.db, "editor@demo.test", plan, start_of_test()).await.unwrap();
        for (field, body) in selections(&[&seen]) {
            let refused = select(&editor, &body).await.expect(403);
            assert_eq!(refused.code(), "forbidden");
            assert_eq!(refused.hint(), format!("{field}[0]: this needs the role owner on the property."), "{plan:?}");
        }
        for stray in &hidden {
            for (field, body) in selections(&[stray, &seen]) {
                let refused = select(&editor, &body).await.expect(404);
                assert_eq!(refused.hint(), format!("{field}[0]: is not one of your properties"), "{plan:?}");
            }
        }
    }
    owner.get(&format!("/api/properties/{seen}/performance")).await.expect(200);
}

#[tokio::test]
async fn without_a_plan_no_selection_is_taken_whatever_it_is() {
    let app = TestApp::start(|_| {}).await;
    let lapsed = app.actor("lapsed").await;
    let own = lapsed.property("oakandanvil").await;
    let before = lapsed.get(TRACKING).await.expect(200).json;
    let mut bodies: Vec<Value> = selections(&[&own]).into_iter().map(|(_, body)| body).collect();
    bodies.extend([json!({ "propertyIds": [] }), json!({}), json!({ "add": 7 }), json!([])]);
    for body in bodies {
        let refused = select(&lapsed, &body).await.expect(402);
        assert_eq!(refused.code(), "subscription_required", "{body}");
        assert!(refused.hint().starts_with("Subscribe to a plan that includes this."), "{body}: {}", refused.hint());
    }
    assert_eq!(lapsed.get(TRACKING).await.expect(200).json, before);
    // A plan that tracks some properties refuses what is beyond its quota.
    subscriptions::set(&app.service.db, "lapsed@demo.test", Plan::Free, start_of_test()).await.unwrap();
    let all: Vec<Value> =
        before["data"]["properties"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    if all.len() > 1 {
        assert_eq!(select(&lapsed, &json!({ "propertyIds": all })).await.expect(402).code(), "property_quota_exceeded");
    }
    select(&lapsed, &json!({ "propertyIds": [own] })).await.expect(200);
}
