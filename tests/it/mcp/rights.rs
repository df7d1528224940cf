//! Tests of rights: tools refuse as the operations behind them do, as results that a model can act on.

use serde_json::{Value, json};

use crate::support::{
    actor::Actor,
    app::{TestApp, shared},
    assistant::Assistant,
};

/// The read tools about one property.
const OF_A_PROPERTY: [&str; 11] = [
    "get_performance",
    "compare_periods",
    "explain_click_change",
    "find_cannibalization",
    "find_growth_opportunities",
    "get_query_insights",
    "get_countries",
    "list_records/annotations",
    "list_records/segments",
    "list_records/topic_clusters",
    "list_records/branded_keywords",
];

#[tokio::test]
async fn a_strangers_property_looks_like_a_missing_one() {
    let app = shared();
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let (assistant, foreign) = (Assistant::of(app, &owner), stranger.property("quietmeadow").await);
    for tool in OF_A_PROPERTY.into_iter().chain(["research_keywords", "get_backlinks"]) {
        let refusals = [&foreign, "quietmeadow.example", "01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f", "nowhere.example"];
        let mut seen: Option<(String, String)> = None;
        for property in refusals {
            let refusal = assistant.refused(tool, json!({ "property": property })).await;
            assert_eq!(refusal.0, "not_found", "{tool} {property}");
            assert_eq!(*seen.get_or_insert(refusal.clone()), refusal, "{tool} {property}");
        }
    }
    let note = json!({ "property": foreign, "date": "2026-11-16", "text": "Launch" });
    assert_eq!(assistant.refused("add_annotation", note).await.0, "not_found");
}

#[tokio::test]
async fn a_property_has_an_id_a_domain_and_a_site() {
    let app = shared();
    let owner = app.actor("owner").await;
    let (assistant, id) = (Assistant::of(app, &owner), owner.property("northmoor").await);
    let listed = owner.listed("/api/properties").await;
    let site = listed.iter().find(|entry| entry["id"] == json!(id)).unwrap()["siteUrl"].as_str().unwrap().to_owned();
    let by_id = assistant.answered("list_records/segments", json!({ "property": id })).await;
    assert!(!by_id["data"].as_array().unwrap().is_empty());
    for name in [site.as_str(), "northmoor.example", "Northmoor.example", "https://northmoor.example/"] {
        assert_eq!(assistant.answered("list_records/segments", json!({ "property": name })).await, by_id, "{name}");
    }
}

#[tokio::test]
async fn each_refusal_says_who_must_act() {
    let app = TestApp::start(|_| {}).await;
    let of = async |name: &str| {
        let actor = app.actor(name).await;
        (Assistant::of(&app, &actor), actor)
    };
    let ((owners, _), (viewers, _), (lapsed, lapsed_person)) =
        (of("owner").await, of("viewer").await, of("lapsed").await);
    let shared_one = viewable(&viewers).await;
    let note = json!({ "property": shared_one, "date": "2026-11-16", "text": "Launch" });
    let (code, text) = viewers.refused("add_annotation", note).await;
    assert!(code == "forbidden" && text.contains("role editor") && text.contains("tell the person"), "{text}");

    let locked = lapsed_person.listed("/api/properties").await[0]["id"].clone();
    for tool in OF_A_PROPERTY {
        let (code, text) = lapsed.refused(tool, json!({ "property": locked })).await;
        assert!(code == "subscription_required" && text.contains("tell the person"), "{tool}: {text}");
    }
    assert!(lapsed.answered("list_properties", json!({})).await["data"][0]["hint"].is_string());

    let research = json!({ "property": "northmoor.example" });
    let (code, text) = owners.refused("research_keywords", research).await;
    assert!(code == "provider_not_connected" && text.contains("tell the person"), "{text}");

    app.simulator().controls().set_faults(vec!["invalid_grant:1".parse().unwrap()]);
    app.hand.advance(chrono::TimeDelta::hours(7));
    let (owners, _) = of("owner").await;
    let (code, text) = owners.refused("get_countries", json!({ "property": "northmoor.example" })).await;
    assert!(code == "search_account_disconnected" && text.contains("tell the person"), "{text}");
}

/// A property that a person sees by a grant.
async fn viewable(assistant: &Assistant) -> Value {
    let listed = assistant.answered("list_properties", json!({})).await;
    let entries = listed["data"].as_array().unwrap();
    entries.iter().find(|entry| entry["role"] == "viewer").unwrap()["id"].clone()
}

#[tokio::test]
async fn tools_need_a_plan_that_includes_them() {
    let app = TestApp::start(|config| config.plans.pro.tool_endpoint = false).await;
    let owner: Actor = app.actor("owner").await;
    let assistant = Assistant::of(&app, &owner);
    let property = owner.property("northmoor").await;
    owner.get(&format!("/api/properties/{property}/segments")).await.expect(200);
    for tool in OF_A_PROPERTY {
        assert_eq!(assistant.refused(tool, json!({ "property": property })).await.0, "subscription_required", "{tool}");
    }
    assert_eq!(owner.get("/api/feature-flags").await.expect(200).json["data"]["mcp"], false);
}

#[tokio::test]
async fn wrong_arguments_tell_how_to_mend_the_call() {
    let app = shared();
    let assistant = Assistant::of(app, &app.actor("owner").await);
    let cases = [
        ("get_performance", json!({}), "property: is required"),
        (
            "get_performance",
            json!({ "property": "northmoor.example", "limit": 5001 }),
            "limit: must be a whole number from 1 to 5000",
        ),
        (
            "get_performance",
            json!({ "property": "northmoor.example", "scope": "rows" }),
            "scope: must be one of totals, series, tables, all",
        ),
        (
            "get_performance",
            json!({ "property": "northmoor.example", "period": "last_decade" }),
            "period: must be yesterday",
        ),
        ("get_performance", json!({ "property": "northmoor.example", "startDate": "2026-11-01" }), "endDate"),
        (
            "get_performance",
            json!({ "property": "northmoor.example", "startDate": "2020-01-01", "endDate": "2020-01-31" }),
            "startDate: must not be before",
        ),
        (
            "get_performance",
            json!({ "property": "northmoor.example", "keyword": "x" }),
            "keyword: is not an argument of this tool",
        ),
        (
            "get_performance",
            json!({ "property": "northmoor.example", "filters": [{ "dimension": "moon", "operator": "equals", "value": "x" }] }),
            "filters",
        ),
        (
            "compare_periods",
            json!({ "property": "northmoor.example", "compareTo": "before" }),
            "compareTo: must be one of previous_period, previous_period_same_weekdays,",
        ),
        (
            "compare_periods",
            json!({ "property": "northmoor.example", "period": "last_13_months", "compareTo": "previous_year" }),
            "compareTo: the window would begin on 2024-10-01",
        ),
        ("add_annotation", json!({ "property": "northmoor.example", "date": "soon", "text": "x" }), "date: "),
        ("add_annotation", json!({ "property": "northmoor.example", "date": "2026-11-16" }), "text: "),
        (
            "add_annotation",
            json!({ "property": "northmoor.example", "date": "2026-11-16", "text": "x", "idempotencyKey": "é" }),
            "Idempotency-Key: ",
        ),
    ];
    for (tool, arguments, advice) in cases {
        let (_, text) = assistant.refused(tool, arguments.clone()).await;
        assert!(text.contains(advice), "{tool} {arguments}: {text}");
        assert!(text.contains("Change the argument that the hint names"), "{text}");
    }
}
