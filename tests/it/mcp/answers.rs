//! Tests of answers: each tool says what the operation behind it says.

use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};

use super::as_said;
use crate::support::{
    actor::Actor,
    app::{TestApp, shared},
    assistant::{Assistant, text},
};

/// A tool, its operation, and the arguments that may be drawn, each with its values.
struct Pair {
    tool: &'static str,
    path: &'static str,
    /// The parameters that stand for `limit`, or none if the tool cuts the lists itself.
    limits: &'static [&'static str],
    compares: bool,
    scope: bool,
    /// The parameters that the tool always sends.
    fixed: &'static [(&'static str, &'static str)],
    drawn: &'static [(&'static str, &'static [&'static str])],
}

const SLICE: [(&str, &[&str]); 5] = [
    ("searchType", &["web", "image"]),
    ("classification", &["branded", "nonBranded"]),
    ("filters", &[r#"[{"dimension":"device","operator":"equals","value":"mobile"}]"#]),
    ("dataState", &["final", "all"]),
    ("granularity", &["week", "month"]),
];

const PAIRS: [Pair; 7] = [
    Pair {
        tool: "get_performance",
        path: "performance",
        limits: &["queryLimit", "pageLimit"],
        compares: false,
        scope: true,
        fixed: &[],
        drawn: &[SLICE[0], SLICE[1], SLICE[2], SLICE[3], SLICE[4], ("scope", &["series", "tables", "all"])],
    },
    Pair {
        tool: "compare_periods",
        path: "performance",
        limits: &["queryLimit", "pageLimit"],
        compares: true,
        scope: true,
        fixed: &[],
        drawn: &[SLICE[0], SLICE[1], SLICE[2], SLICE[3]],
    },
    Pair {
        tool: "explain_click_change",
        path: "performance",
        limits: &["explainLimit"],
        compares: true,
        scope: false,
        fixed: &[("explain", "true"), ("scope", "totals")],
        drawn: &[SLICE[0], SLICE[1], SLICE[2], SLICE[3]],
    },
    Pair {
        tool: "find_cannibalization",
        path: "cannibalization",
        limits: &["limit"],
        compares: true,
        scope: false,
        fixed: &[],
        drawn: &[SLICE[1], ("minQueryImpressions", &["10", "80"]), ("includeBranded", &["true", "false"])],
    },
    Pair {
        tool: "find_growth_opportunities",
        path: "growth-opportunities",
        limits: &["limit"],
        compares: true,
        scope: false,
        fixed: &[],
        drawn: &[SLICE[2], ("kind", &["rank", "snippet"]), ("minImpressions", &["10", "300"])],
    },
    Pair {
        tool: "get_query_insights",
        path: "query-insights",
        limits: &["limit"],
        compares: true,
        scope: false,
        fixed: &[],
        drawn: &[SLICE[2], SLICE[4], ("minImpressions", &["5"])],
    },
    Pair {
        tool: "get_countries",
        path: "countries",
        limits: &["limit"],
        compares: true,
        scope: false,
        fixed: &[],
        drawn: &[
            SLICE[0],
            SLICE[1],
            ("sort", &["-impressions", "position"]),
            ("metricFilters", &["countries.impressions>=10"]),
            ("offset", &["2"]),
        ],
    },
];

const PERIODS: [&str; 5] = ["yesterday", "last_7_days", "last_28_days", "last_month", "last_week"];

/// Draws arguments, asks the tool and the operation, and compares.
async fn agree(pair: &Pair, draw: &mut SmallRng, assistant: &Assistant, person: &Actor, property: &str) {
    let mut arguments = json!({ "property": property });
    let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let mut query: Vec<(String, String)> = pair.fixed.iter().map(own).collect();
    for (name, values) in pair.drawn {
        if draw.random_bool(0.5) {
            let value = values[draw.random_range(0..values.len())];
            arguments[*name] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
            query.push(((*name).to_owned(), value.to_owned()));
        }
    }
    if pair.scope && !query.iter().any(|(name, _)| name == "scope") {
        query.push(("scope".to_owned(), "tables".to_owned()));
    }
    let limit = [100, 25, 3][draw.random_range(0..3)];
    // The operation bounds no countries, so the tool cuts them where it shows few rows.
    let limit = if pair.scope { 500 } else { limit };
    arguments["limit"] = json!(limit);
    query.extend(pair.limits.iter().map(|name| ((*name).to_owned(), limit.to_string())));
    if draw.random_bool(0.8) {
        arguments["period"] = json!(PERIODS[draw.random_range(0..PERIODS.len())]);
    }
    if pair.compares && draw.random_bool(0.5) {
        arguments["compareTo"] =
            json!(["previous_period", "previous_year", "previous_year_same_weekdays"][draw.random_range(0..3)]);
    }
    let said = assistant.answered(pair.tool, arguments.clone()).await;
    for (window, [start, end]) in
        [("window", ["startDate", "endDate"]), ("compareWindow", ["compareStart", "compareEnd"])]
    {
        if let Some(window) = said["meta"].get(window) {
            query.push((start.to_owned(), window["startDate"].as_str().unwrap().to_owned()));
            query.push((end.to_owned(), window["endDate"].as_str().unwrap().to_owned()));
        }
    }
    let always = ["compare_periods", "explain_click_change"].contains(&pair.tool);
    let compared = arguments.get("compareTo").is_some() || always;
    assert_eq!(said["meta"].get("compareWindow").is_some(), compared, "{arguments}");
    let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let answer = person.ask(&format!("/api/properties/{property}/{}", pair.path), &query).await.expect(200);
    assert!(is_close(&answer.json, &said, COARSE), "{} {arguments} {query:?}: {said}", pair.tool);
    let (mut said, mut expected) = (said, as_said(answer.json));
    // The operation is asked by dates, and beside those some parameters have no effect.
    for one in [&mut said, &mut expected] {
        one["meta"].as_object_mut().unwrap().remove("ignored");
    }
    if pair.tool == "get_query_insights" && arguments.get("granularity").is_none() {
        remove_series(&mut expected["data"]);
    }
    assert_eq!(said, expected, "{} {arguments} {query:?}", pair.tool);
}

/// Half of the last decimal of CTRs, shares, scores and money, and of other figures.
const FINE: f64 = 0.000_05;
const COARSE: f64 = 0.005;

/// True if `said` holds nothing that `exact` does not hold, up to the rounding that docs/design/tools.md documents. It is written
/// without the code that rounds, which must not round a count.
fn is_close(exact: &Value, said: &Value, most: f64) -> bool {
    match (exact, said) {
        (Value::Number(exact), Value::Number(_)) if exact.is_i64() || exact.is_u64() => json!(exact) == *said,
        (Value::Number(exact), Value::Number(said)) => {
            (exact.as_f64().unwrap() - said.as_f64().unwrap()).abs() <= most * 1.001
        }
        (Value::Array(exact), Value::Array(said)) => {
            exact.len() == said.len() && exact.iter().zip(said).all(|(exact, said)| is_close(exact, said, most))
        }
        (Value::Object(exact), Value::Object(said)) => said.iter().all(|(name, said)| {
            let is_ratio = ["ctr", "hhi", "splitScore", "competition", "amount"].contains(&name.as_str());
            let is_fine = is_ratio || name.ends_with("Share") || name.ends_with("Ctr");
            // The effects on clicks have the names of metrics.
            let most = if is_fine && !exact.contains_key("demand") { FINE } else { most };
            // A change is that of two rounded figures.
            let most = if name == "absolute" { 2.0 * most } else { most };
            exact.get(name).is_some_and(|exact| is_close(exact, said, most))
        }),
        (Value::String(_), Value::String(_)) => true,
        (exact, said) => exact == said,
    }
}

/// Removes the series of an answer.
fn remove_series(value: &mut Value) {
    for (_, value) in value.as_object_mut().into_iter().flatten() {
        remove_series(value);
    }
    if let Value::Object(fields) = value {
        fields.retain(|name, _| !["series", "previousSeries"].contains(&name.as_str()));
    }
}

#[tokio::test]
async fn tools_about_search_data_say_what_the_operations_say() {
    let app = shared();
    let owner = app.actor("owner").await;
    let assistant = Assistant::of(app, &owner);
    let property = owner.property("northmoor").await;
    let mut draw = SmallRng::seed_from_u64(30);
    for pair in &PAIRS {
        for _ in 0..4 {
            agree(pair, &mut draw, &assistant, &owner, &property).await;
        }
    }
}

#[tokio::test]
async fn tools_about_records_say_what_the_operations_say() {
    let app = shared();
    let owner = app.actor("owner").await;
    let assistant = Assistant::of(app, &owner);
    let property = owner.property("northmoor").await;
    for (tool, arguments, path) in [
        ("list_properties", json!({}), "/api/properties?sort=-clicks".to_owned()),
        (
            "list_properties",
            json!({ "days": 7, "search": "NORTH", "sort": "change.clicks" }),
            "/api/properties?days=7&search=NORTH&sort=change.clicks".to_owned(),
        ),
        (
            "list_properties",
            json!({ "compareTo": "previous_year", "limit": 3 }),
            "/api/portfolio?compare=previous_year&movers=3&series=false".to_owned(),
        ),
        ("get_connection_health", json!({}), "/api/accounts/health".to_owned()),
        ("get_connection_health", json!({ "random_string": "dummy" }), "/api/accounts/health".to_owned()),
        ("list_records/annotations", json!({}), format!("/api/properties/{property}/annotations")),
        (
            "list_records/annotations",
            json!({ "includeSystem": true, "period": "last_7_days" }),
            format!(
                "/api/properties/{property}/annotations?includeSystem=true&startDate=2026-11-15&endDate=2026-11-21"
            ),
        ),
        ("list_records/segments", json!({}), format!("/api/properties/{property}/segments")),
        ("list_records/topic_clusters", json!({}), format!("/api/properties/{property}/topic-clusters")),
        ("list_records/branded_keywords", json!({}), format!("/api/properties/{property}/branded-keywords")),
        (
            "list_records/branded_keywords",
            json!({ "suggest": true }),
            format!("/api/properties/{property}/branded-keywords?suggest=true"),
        ),
        ("list_records/tags", json!({}), "/api/tags".to_owned()),
        ("list_records/filter_presets", json!({}), "/api/filter-presets".to_owned()),
    ] {
        let mut arguments = arguments;
        if path.contains(&property) {
            arguments["property"] = json!(property);
        }
        let said = assistant.answered(tool, arguments).await;
        let expected = as_said(owner.get(&path).await.expect(200).json);
        assert_eq!(said, expected, "{tool}");
    }
}

#[tokio::test]
async fn tools_about_providers_say_what_the_operations_say() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    owner
        .put("/api/integrations/provider-a", &json!({ "login": "good@demo.test", "password": "demo" }))
        .await
        .expect(200);
    let assistant = Assistant::of(&app, &owner);
    let property = owner.property("northmoor").await;
    for (tool, path, arguments, query) in [
        (
            "research_keywords",
            "keyword-research",
            json!({ "keywords": "shoes", "limit": 5, "trend": true }),
            vec![("keywords", "shoes"), ("limit", "5"), ("trend", "true")],
        ),
        ("get_backlinks", "backlinks", json!({ "scope": "links" }), vec![("scope", "links"), ("limit", "10")]),
        // The summary costs least.
        ("get_backlinks", "backlinks", json!({}), vec![("scope", "summary"), ("limit", "10")]),
    ] {
        let mut arguments = arguments;
        arguments["property"] = json!(property);
        let path = format!("/api/properties/{property}/{path}");
        owner.ask(&path, &query).await.expect(200);
        let kept = owner.ask(&path, &query).await.expect(200);
        assert_eq!(
            assistant.answered(tool, arguments).await,
            as_said(kept.json),
            "{tool}: a kept answer is not paid twice"
        );
    }
}

#[tokio::test]
async fn the_text_says_the_dates_the_rows_and_what_is_left_out() {
    let app = shared();
    let assistant = Assistant::of(app, &app.actor("owner").await);
    let asked = |limit| json!({ "property": "northmoor.example", "period": "last_7_days", "limit": limit });
    let result = assistant.call("get_performance", asked(25)).await;
    let readable = text(&result);
    let window = &result["structuredContent"]["meta"]["window"];
    assert_eq!(*window, json!({ "startDate": "2026-11-12", "endDate": "2026-11-18" }));
    let tables = &result["structuredContent"]["data"]["tables"];
    for table in ["queries", "pages", "countries"] {
        assert_eq!(tables[table].as_array().unwrap().len(), 25, "{table}");
        assert!(readable.contains(&format!("tables.{table} (25)")), "{table}");
    }
    for said in ["Window: 2026-11-12 to 2026-11-18", "State: analysed", "Table queries: rows shown 25, matched "] {
        assert!(readable.contains(said), "{said} is not in {readable}");
    }
    let size = &result["_meta"]["sightline/size"];
    let (tokens, json_tokens) = (size["textTokens"].as_u64().unwrap(), size["structuredTokens"].as_u64().unwrap());
    assert!(tokens < json_tokens && tokens < 5_000, "{tokens} {json_tokens}");
    let line = readable.lines().find(|line| line.starts_with("Shown in part: ")).unwrap();
    for table in
        ["queries 25 of ", "pages 25 of ", "countries 25 of ", "a larger limit shows more", "rounded to 4 decimals"]
    {
        assert!(line.contains(table), "{table} is not in {line}");
    }
    let all = assistant.answered("get_performance", asked(60)).await;
    assert_eq!(all["data"]["tables"]["queries"].as_array().unwrap().len(), 60);
}

#[tokio::test]
async fn rows_by_dimensions_are_those_of_the_operation() {
    let app = shared();
    let owner = app.actor("owner").await;
    let (assistant, property) = (Assistant::of(app, &owner), owner.property("northmoor").await);
    let path = format!("/api/properties/{property}/performance/query");
    let slice = json!({ "filters": [{ "dimension": "device", "operator": "equals", "value": "MOBILE" }], "sort": "-impressions", "limit": 4, "offset": 2 });
    for (tool, dimensions, dates) in [
        ("get_performance", json!(["query", "page"]), json!({ "startDate": "2026-11-12", "endDate": "2026-11-18" })),
        (
            "compare_periods",
            json!(["country", "device"]),
            json!({ "startDate": "2026-11-12", "endDate": "2026-11-18", "compare": "previous_period" }),
        ),
    ] {
        let mut arguments = slice.clone();
        (arguments["property"], arguments["dimensions"]) = (json!("northmoor.example"), dimensions.clone());
        arguments["period"] = json!("last_7_days");
        let result = assistant.call(tool, arguments).await;
        let mut body = slice.clone();
        body["dimensions"] = dimensions.clone();
        body.as_object_mut().unwrap().extend(dates.as_object().unwrap().clone());
        let said = as_said(owner.post(&path, &body).await.expect(200).json);
        assert_eq!(result["structuredContent"]["data"], said["data"], "{tool}");
        assert_eq!(result["structuredContent"]["meta"]["question"], said["meta"]["question"], "{tool}");
        let columns =
            format!("\nkeys.{} | keys.{} | clicks", dimensions[0].as_str().unwrap(), dimensions[1].as_str().unwrap());
        let readable = text(&result);
        assert!(readable.contains("Table rows: rows shown 4, ") && readable.contains(&columns), "{readable}");
    }
}

/// The bytes of a list hold one of the person's places until they are sent, so the cache must keep a copy of them.
#[tokio::test]
async fn lists_that_were_answered_hold_no_place() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let (assistant, property) = (Assistant::of(&app, &owner), owner.property("northmoor").await);
    for day in 1..=9 {
        let note = json!({ "property": property, "date": format!("2026-11-0{day}"), "text": "Launch" });
        assistant.answered("add_annotation", note).await;
        let listed = assistant.answered("list_records/annotations", json!({ "property": property })).await;
        assert!(listed["data"].as_array().unwrap().len() >= day, "{listed}");
    }
}

/// Search data ends days ago. A note of yesterday is there all the same.
#[tokio::test]
async fn a_period_of_notes_ends_today() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let (assistant, property) = (Assistant::of(&app, &owner), owner.property("northmoor").await);
    for day in ["2026-11-14", "2026-11-15", "2026-11-21"] {
        let note = json!({ "date": day, "text": day });
        owner.made(&format!("/api/properties/{property}/annotations"), &note).await;
    }
    let asked = json!({ "property": property, "period": "last_7_days" });
    let said = assistant.answered("list_records/annotations", asked).await;
    let days: Vec<_> = said["data"].as_array().unwrap().iter().map(|note| note["date"].clone()).collect();
    assert_eq!(days, ["2026-11-21", "2026-11-15"]);
}
