//! Tests of the states of an answer: each tool tells its possible states apart, and says what the person should do.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{
    actor::Actor,
    app::{TestApp, shared},
    assistant::{Assistant, text},
};

/// Tools that analyse search data.
const ANALYSES: [&str; 7] = [
    "get_performance",
    "compare_periods",
    "explain_click_change",
    "find_cannibalization",
    "find_growth_opportunities",
    "get_query_insights",
    "get_countries",
];
/// Tools about the person.
const OF_THE_PERSON: [&str; 2] = ["list_properties", "get_connection_health"];
/// Tools for what is stored here: no state of search data reaches them.
const RECORDS: [&str; 5] = [
    "list_records/annotations",
    "add_annotation",
    "list_records/segments",
    "list_records/topic_clusters",
    "list_records/branded_keywords",
];
/// Tools that ask providers.
const PROVIDERS: [&str; 2] = ["research_keywords", "get_backlinks"];

const NORTHMOOR: &str = "northmoor.example";

/// Calls a tool about `property`. Returns the name of the state, or the code of a refusal without one.
async fn state(assistant: &Assistant, tool: &str, property: &str, more: &Value) -> String {
    let mut arguments = if OF_THE_PERSON.contains(&tool) { json!({}) } else { json!({ "property": property }) };
    if tool == "add_annotation" {
        arguments = json!({ "property": property, "date": "2026-11-16", "text": "Launch" });
    }
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    let result = assistant.call(tool, arguments).await;
    let meta = &result["_meta"];
    let Some(state) = meta.get("sightline/state") else {
        return meta["sightline/error"]["code"].as_str().unwrap_or("none").to_owned();
    };
    let (name, advice) = (state["name"].as_str().unwrap(), state["advice"].as_str().unwrap());
    assert!(text(&result).lines().any(|line| line == format!("State: {name} - {advice}")), "{tool}: {}", text(&result));
    name.to_owned()
}

/// The advice that a tool gives.
async fn advice(assistant: &Assistant, tool: &str) -> String {
    let arguments = if OF_THE_PERSON.contains(&tool) { json!({}) } else { json!({ "property": NORTHMOOR }) };
    let result = assistant.call(tool, arguments).await;
    result["_meta"]["sightline/state"]["advice"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_tool_has_its_place_here() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let list = assistant.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    let listed: BTreeSet<&str> = list.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let known = [&ANALYSES[..], &OF_THE_PERSON, &RECORDS, &PROVIDERS].concat();
    let known: BTreeSet<&str> = known.iter().filter_map(|tool| tool.split('/').next()).collect();
    assert_eq!(listed, known);
}

#[tokio::test]
async fn analyses_with_numbers_without_and_of_days_that_are_still_counted() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let nowhere = json!({ "filters": [{ "dimension": "page", "operator": "equals", "value": "https://northmoor.example/nowhere" }] });
    for tool in ANALYSES {
        for (more, expected) in [
            (json!({}), "analysed"),
            (nowhere.clone(), "no_search_data"),
            (json!({ "period": "yesterday" }), "not_final_yet"),
        ] {
            assert_eq!(state(&assistant, tool, NORTHMOOR, &more).await, expected, "{tool} {more}");
        }
    }
    for tool in RECORDS.into_iter().filter(|tool| *tool != "add_annotation") {
        assert_eq!(state(&assistant, tool, NORTHMOOR, &json!({})).await, "none", "{tool}");
    }
    for tool in OF_THE_PERSON {
        assert_eq!(state(&assistant, tool, NORTHMOOR, &json!({})).await, "none", "{tool}");
    }
}

#[tokio::test]
async fn a_person_without_a_search_account_is_told_to_connect_one() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for grant in owner.listed("/api/team").await {
        owner.delete(&format!("/api/team/{}", grant["id"].as_str().unwrap())).await.expect(204);
    }
    let viewer = Assistant::of(&app, &app.actor("viewer").await);
    for tool in [&ANALYSES[..], &OF_THE_PERSON, &RECORDS, &PROVIDERS].concat() {
        assert_eq!(state(&viewer, tool, NORTHMOOR, &json!({})).await, "never_connected", "{tool}");
    }
    let page = format!("Connect yours at {}/account.", app.service.base_url);
    for tool in ["list_properties", "get_connection_health", "get_performance"] {
        assert!(advice(&viewer, tool).await.contains(&page), "{tool}");
    }
    let (code, _) = viewer.refused("get_performance", json!({ "property": NORTHMOOR })).await;
    assert_eq!(code, "not_found", "the code is the operation's");
}

#[tokio::test]
async fn a_person_with_a_property_is_not_told_to_connect() {
    let viewer = Assistant::of(shared(), &shared().actor("viewer").await);
    for tool in ANALYSES {
        assert_eq!(state(&viewer, tool, "quietmeadow.example", &json!({})).await, "not_found", "{tool}");
    }
    assert_eq!(state(&viewer, "get_connection_health", "", &json!({})).await, "never_connected");
}

#[tokio::test]
async fn a_person_who_tracks_nothing_is_told_to_choose() {
    let app = TestApp::start(|_| {}).await;
    let stranger = app.actor("stranger").await;
    stranger.put("/api/properties/tracking", &json!({ "propertyIds": [] })).await.expect(200);
    let assistant = Assistant::of(&app, &stranger);
    for tool in ["list_properties", "get_performance", "list_records/segments"] {
        assert_eq!(state(&assistant, tool, "quietmeadow.example", &json!({})).await, "nothing_tracked", "{tool}");
        assert!(advice(&assistant, tool).await.contains("Choose properties at "), "{tool}");
    }
    let portfolio = json!({ "compareTo": "previous_period" });
    assert_eq!(state(&assistant, "list_properties", "", &portfolio).await, "nothing_tracked");
    assert_eq!(state(&assistant, "get_connection_health", "", &json!({})).await, "none");
}

#[tokio::test]
async fn an_account_without_access_must_be_reconnected() {
    let app = TestApp::start(|_| {}).await;
    app.simulator().controls().set_faults(vec!["invalid_grant:1".parse().unwrap()]);
    app.hand.advance(chrono::TimeDelta::hours(7));
    let of = async |name: &str| -> Actor { app.actor(name).await };
    let owner = of("owner").await;
    let property = owner.property("northmoor").await;
    let (owners, viewers) = (Assistant::of(&app, &owner), Assistant::of(&app, &of("viewer").await));
    for tool in ANALYSES.into_iter().chain(OF_THE_PERSON) {
        assert_eq!(state(&owners, tool, &property, &json!({})).await, "must_reconnect", "{tool}");
    }
    for tool in RECORDS {
        assert_eq!(state(&owners, tool, &property, &json!({})).await, "none", "{tool}");
    }
    for tool in PROVIDERS {
        assert_eq!(state(&owners, tool, &property, &json!({})).await, "provider_not_connected", "{tool}");
    }
    let page = format!("Reconnect your search account at {}/account.", app.service.base_url);
    for tool in ["list_properties", "get_connection_health", "get_countries"] {
        assert!(advice(&owners, tool).await.contains(&page), "{tool}");
    }
    assert_eq!(
        advice(&viewers, "get_countries").await,
        "The owner of the property, \"Demo Owner (owner@demo.test)\", must reconnect the search account."
    );
}
