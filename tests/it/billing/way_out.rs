//! Tests of refusals that somebody ends by subscribing: they say where, and who.

use entity::user::Plan;
use serde_json::json;
use sightline::services::users::subscriptions;

use crate::support::{
    actor::Answer,
    app::{TestApp, start_of_test},
    assistant::Assistant,
};

/// Asserts that a 402 leads to the page of plans, and returns its hint without that.
#[track_caller]
fn leads_to_plans(answer: Answer, page: &str) -> String {
    let answer = answer.expect(402);
    assert_eq!(answer.header("link"), format!("<{page}>; rel=\"payment\""));
    let fields: Vec<&String> = answer.json.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["error", "code", "hint"], "the page is in the hint");
    let way = format!(" Plans are at {page}.");
    answer.hint().strip_suffix(&way).unwrap_or_else(|| panic!("{}", answer.hint())).to_owned()
}

#[tokio::test]
async fn a_refusal_for_the_plan_says_where_to_subscribe_and_who_must() {
    let app = TestApp::start(|config| config.plans.pro.tracked_properties = 4).await;
    let page = format!("{}/subscribe", app.service.base_url);
    let (owner, editor, lapsed) = (app.actor("owner").await, app.actor("editor").await, app.actor("lapsed").await);
    let mut all = owner.get("/api/properties/tracking").await.expect(200).json["data"]["properties"].clone();
    let all: Vec<_> = all.as_array_mut().unwrap().iter().map(|property| property["id"].clone()).collect();
    let beyond = owner.put("/api/properties/tracking", &json!({ "propertyIds": all })).await;
    assert_eq!(leads_to_plans(beyond, &page), "propertyIds: the plan tracks at most 4 properties; this would track 5.");
    let own = lapsed.property("oakandanvil").await;
    let own = lapsed.get(&format!("/api/properties/{own}/annotations")).await;
    assert_eq!(leads_to_plans(own, &page), "Subscribe to a plan that includes this.");
    let invitation = json!({ "email": "x@demo.test", "role": "viewer", "allProperties": true });
    let feature = editor.post("/api/team", &invitation).await;
    assert_eq!(leads_to_plans(feature, &page), "Subscribe to a plan that includes this.");

    let shared = editor.property("northmoor").await;
    subscriptions::set(&app.service.db, "owner@demo.test", Plan::None, start_of_test()).await.unwrap();
    let annotations = editor.get(&format!("/api/properties/{shared}/annotations")).await;
    let hint =
        "The owner of the property, \"Demo Owner (owner@demo.test)\", must subscribe to a plan that includes this.";
    assert_eq!(leads_to_plans(annotations, &page), hint);
    let listed = editor.listed("/api/properties").await;
    assert_eq!(listed[0]["hint"], hint, "the list names the same person");
    let grant = &editor.listed("/api/team?received=true").await[0];
    assert_eq!((&grant["ownerName"], &grant["ownerEmail"]), (&json!("Demo Owner"), &json!("owner@demo.test")));
    let said = Assistant::of(&app, &editor).call("list_records/annotations", json!({ "property": shared })).await;
    assert!(said.to_string().contains(&page), "{said}");
}

/// Readers of a share link are told nothing about the owner.
#[tokio::test]
async fn a_page_elsewhere_is_named_and_readers_of_a_link_learn_no_name() {
    let app = TestApp::start(|config| config.subscribe_url = "https://plans.example/?a=b".parse().ok()).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("lapsed").await);
    let own = stranger.property("oakandanvil").await;
    let own = stranger.get(&format!("/api/properties/{own}/annotations")).await;
    leads_to_plans(own, "https://plans.example/?a=b");
    let property = owner.property("northmoor").await;
    let made = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
    let link = format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap());
    app.anonymous().get(&link).await.expect(200);
    app.simulator().controls().set_faults(vec!["invalid_grant:1".parse().unwrap()]);
    app.hand.advance(chrono::TimeDelta::hours(7));
    let refused = app.anonymous().get(&link).await.expect(409);
    assert_eq!(refused.hint(), "The owner of the property must reconnect the search account.");
}
