//! Tests of days far from today, wherever a caller can name one.

use chrono::{NaiveDate, TimeDelta};
use poem::http::Method;
use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Value, json};

use crate::{
    coverage::{Documented, documented},
    parameters::real_path,
    support::{
        actor::Actor,
        app::{TestApp, shared},
        assistant::{Assistant, text},
        contract::DOCUMENT,
        signed_in::Browser,
    },
};

/// Days at the ends of calendars and of formats, and texts that are none.
const EDGES: [&str; 16] = [
    "-262143-01-01",
    "-262142-12-31",
    "-0001-12-31",
    "0000-01-01",
    "0001-01-01",
    "1899-12-31",
    "1900-01-01",
    "2200-12-31",
    "2201-01-01",
    "9999-12-31",
    "+10000-01-01",
    "+262142-12-31",
    "2026-02-30",
    "2026-11-1",
    "soon",
    "2026-11-01\u{0}",
];

/// The edges, and days drawn from the whole calendar of the library.
fn days() -> Vec<String> {
    let all = (NaiveDate::MAX - NaiveDate::MIN).num_days();
    let drawn = (0..=all).prop_map(|after| (NaiveDate::MIN + TimeDelta::days(after)).to_string());
    let mut runner = TestRunner::deterministic();
    let drawn = (0..8).map(|_| drawn.new_tree(&mut runner).unwrap().current());
    EDGES.into_iter().map(str::to_owned).chain(drawn).collect()
}

/// Returns whether a caller may name the day.
fn is_taken(day: &str) -> bool {
    let year = day.split_once('-').map_or("", |(year, _)| year);
    day.parse::<NaiveDate>().is_ok() && day.len() == 10 && ("1900"..="2200").contains(&year)
}

#[track_caller]
fn judge(status: u16, said: &str, names: &[&str], day: &str, asked: &str) {
    let case = format!("{asked} {names:?}={day:?}: {status} {said}");
    assert!(status < 500, "{case}");
    if !is_taken(day) {
        let is_named =
            names.iter().any(|name| [*name, label(name)].iter().any(|name| said.contains(&format!("{name}: must "))));
        assert!(status == 400 && is_named, "{case}");
    }
}

/// The label of a field of days on pages.
fn label(name: &str) -> &str {
    match name {
        "startDate" => "First day",
        "endDate" => "Last day",
        "compareStart" => "First day of the comparison",
        "compareEnd" => "Last day of the comparison",
        other => other,
    }
}

/// The parameters of a question with this value.
fn holding<'q>(question: &[(&'q str, &'q str)], day: &str) -> Vec<&'q str> {
    question.iter().filter(|(_, value)| *value == day).map(|(name, _)| *name).collect()
}

/// Follows the references of a schema, and those that it only describes.
fn resolved(schema: &Value) -> &Value {
    match schema["$ref"]
        .as_str()
        .map(|reference| &reference[1..])
        .or(schema["allOf"][0]["$ref"].as_str().map(|of| &of[1..]))
    {
        Some(reference) => resolved(DOCUMENT.pointer(reference).unwrap()),
        None => schema,
    }
}

/// Collects the fields with a day or a time, each with its path from the body and its format.
fn fields(schema: &Value, at: &str, found: &mut Vec<(String, String)>) {
    let schema = resolved(schema);
    if let Some(format @ ("date" | "date-time")) = schema["format"].as_str() {
        found.push((at.to_owned(), format.to_owned()));
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        fields(field, &format!("{at}/{name}"), found);
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        for part in schema[choice].as_array().into_iter().flatten() {
            fields(part, at, found);
        }
    }
    if schema["items"].is_object() {
        fields(&schema["items"], &format!("{at}/0"), found);
    }
}

/// The dates among the query parameters of an operation.
fn dated(operation: &Documented) -> Vec<&str> {
    let parameters = operation.says["parameters"].as_array().into_iter().flatten();
    let dated =
        parameters.filter(|parameter| ["date", "date-time"].map(Value::from).contains(&parameter["schema"]["format"]));
    dated.map(|parameter| parameter["name"].as_str().unwrap()).collect()
}

/// Questions with the day in the parameter `name`, alone and on both sides of its window.
fn questions<'q>(name: &'q str, day: &'q str, names: &[&'q str]) -> Vec<Vec<(&'q str, &'q str)>> {
    let pairs = [("startDate", "endDate"), ("compareStart", "compareEnd")];
    let other = pairs
        .into_iter()
        .find_map(|(start, end)| if name == start { Some(end) } else { (name == end).then_some(start) });
    let Some(other) = other.filter(|other| names.contains(other)) else { return vec![vec![(name, day)]] };
    let mut all = vec![vec![(name, day), (other, "2026-11-01")], vec![(name, day), (other, day)]];
    if names.contains(&"compareStart") && name.ends_with("Date") {
        all.push(vec![(name, day), (other, day), ("compare", "previous_year")]);
    }
    all
}

/// The body of an operation's example with `value` at the path.
fn with(body: &Value, at: &str, value: &str) -> Value {
    let mut body = body.clone();
    let mut field = &mut body;
    for name in at.split('/').skip(1) {
        if field.is_null() {
            *field = json!({ "startDate": "2026-11-01", "endDate": "2026-11-02" });
        }
        field = &mut field[name];
    }
    *field = json!(value);
    body
}

/// An app with a property that has a share link.
async fn linked() -> (TestApp, Actor, String) {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    owner.made(&format!("/api/properties/{property}/share-links"), &json!({ "name": "Days" })).await;
    (app, owner, property)
}

#[tokio::test]
async fn days_that_end_in_a_panic() {
    let (_app, owner, property) = linked().await;
    let (mut asked, mut sent) = (0, 0);
    for operation in documented() {
        let path = real_path(&owner, &operation, &property).await;
        let names = dated(&operation);
        for (name, day) in names.iter().flat_map(|name| days().into_iter().map(move |day| (*name, day))) {
            for question in questions(name, &day, &names) {
                let answer = owner.ask(&path, &question).await;
                judge(answer.status.as_u16(), answer.hint(), &holding(&question, &day), &day, operation.id());
                asked += 1;
            }
        }
        let Some(body) = operation.body() else { continue };
        let (body, mut found) = (serde_json::from_str::<Value>(&body).unwrap(), Vec::new());
        fields(&operation.says["requestBody"]["content"]["application/json"]["schema"], "", &mut found);
        for ((at, format), day) in found.iter().flat_map(|field| days().into_iter().map(move |day| (field, day))) {
            let value = if format == "date" { day.clone() } else { format!("{day}T12:00:00Z") };
            let answer = owner.send_json(operation.method.clone(), &path, &with(&body, at, &value)).await;
            judge(answer.status.as_u16(), answer.hint(), &[at.rsplit('/').next().unwrap()], &day, operation.id());
            sent += 1;
        }
    }
    assert!(asked > 2_000 && sent > 200, "{asked} questions, {sent} bodies");
}

#[tokio::test]
async fn days_that_end_in_a_panic_on_a_page() {
    let (app, owner, property) = linked().await;
    let links = owner.listed(&format!("/api/properties/{property}/share-links")).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let (names, mut asked) = (["startDate", "endDate", "compareStart", "compareEnd"], 0);
    for (pattern, _) in
        sightline::web::dashboard::paths().filter(|(pattern, _)| pattern.contains("/:") && !pattern.contains(":part"))
    {
        let path = pattern.replace(":id", &property).replace(":token", links[0]["token"].as_str().unwrap());
        let path = path.replace("*conditions", "country=usa/overview");
        let of_page = names.into_iter().chain(pattern.ends_with("/notes").then_some("day"));
        for (name, day) in of_page.flat_map(|name| days().into_iter().map(move |day| (name, day))) {
            for question in questions(name, &day, &names) {
                let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&question).finish();
                let page = browser.get(&format!("{path}?{query}")).await;
                judge(page.status.as_u16(), &page.body, &holding(&question, &day), &day, pattern);
                asked += 1;
            }
        }
    }
    assert!(asked > 2_000, "{asked}");
}

#[tokio::test]
async fn days_that_end_in_a_panic_in_a_form() {
    let app = TestApp::start(|_| {}).await;
    let property = app.actor("owner").await.property("northmoor").await;
    let browser = Browser::signed_in(&app, "owner").await;
    for (page, action, button, names) in [
        ("notes", "add_note", "", &["date", "endDate"][..]),
        ("settings", "links.make", "", &["startDate", "endDate", "ends"]),
        ("settings", "links.make", "again", &["startDate", "endDate", "ends"]),
    ] {
        for (name, day) in names.iter().flat_map(|name| days().into_iter().map(move |day| (*name, day))) {
            let fixed = [("do", action), ("button", button), ("days", "fixed"), ("text", "x"), ("show", "queries")];
            let others =
                names.iter().filter(|other| **other != name && name != "ends").map(|other| (*other, "2026-11-01"));
            let form: Vec<(&str, &str)> = fixed.into_iter().chain([(name, day.as_str())]).chain(others).collect();
            let sent = browser
                .send(Method::POST, &format!("/p/{property}/{page}"), &form, &[("origin", &app.service.base_url)])
                .await;
            assert!(sent.status.as_u16() < 500, "{action} {button} {name}={day}: {} {}", sent.status, sent.body);
        }
    }
}

#[tokio::test]
async fn days_that_end_in_a_panic_in_a_tool() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let list = assistant.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    let mut called = 0;
    for tool in list.as_array().unwrap() {
        let (tool, arguments) =
            (tool["name"].as_str().unwrap(), tool["inputSchema"]["properties"].as_object().unwrap());
        let names: Vec<&str> = arguments
            .iter()
            .filter(|(_, says)| says["pattern"] == "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")
            .map(|(name, _)| name.as_str())
            .collect();
        for (name, day) in names.iter().flat_map(|name| days().into_iter().map(move |day| (*name, day))) {
            // A tool names its comparison otherwise.
            let questions = questions(name, &day, &names).into_iter().filter(|question| question.len() < 3);
            for question in questions {
                let mut call = json!({ "property": "northmoor.example" });
                for (name, value) in [("kind", "annotations"), ("date", "2026-11-01"), ("text", "x")]
                    .into_iter()
                    .filter(|(name, _)| arguments.contains_key(*name))
                {
                    call[name] = json!(value);
                }
                if tool == "find_growth_opportunities" {
                    call["kind"] = json!("rank");
                }
                for (name, day) in &question {
                    call[name] = json!(day);
                }
                let result = assistant.call(tool, call).await;
                let said = text(&result);
                let code = result["_meta"]["sightline/error"]["code"].as_str().unwrap_or_default();
                assert_ne!(code, "internal_error", "{tool} {name}={day}: {said}");
                let status = if code == "invalid_request" { 400 } else { 200 };
                judge(status, &said, &holding(&question, &day), &day, tool);
                called += 1;
            }
        }
    }
    assert!(called > 100, "{called}");
}
