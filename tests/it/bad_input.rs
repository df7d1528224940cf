//! Tests of invalid input: always the error envelope, always a hint that names the parameter or field, never a 5xx.

use poem::http::Method;
use proptest::{prelude::*, strategy::ValueTree as _, test_runner::TestRunner};
use serde_json::{Value, json};

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    assistant::Assistant,
    signed_in::Browser,
};

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

async fn performance() -> (Actor, String) {
    let owner = shared().actor("owner").await;
    let path = format!("/api/properties/{}/performance", owner.property("northmoor").await);
    (owner, path)
}

#[track_caller]
fn assert_names(answer: &Answer, name: &str, sent: &str) {
    let sent = &sent[..sent.len().min(300)];
    let said = String::from_utf8_lossy(&answer.bytes);
    assert_eq!(answer.status.as_u16(), 400, "{sent}: {said}");
    let codes = ["invalid_request", "filter_too_complex", "not_available_for_search_type"];
    assert!(codes.contains(&answer.code()), "{sent}: {said}");
    assert!(answer.hint().contains(name), "{sent}: {said}");
    assert!(answer.json.get("correlationId").is_none());
    assert_eq!(answer.header("cache-control"), "no-store");
}

fn filter(dimension: &str, operator: &str, value: &str) -> String {
    json!([{ "dimension": dimension, "operator": operator, "value": value }]).to_string()
}

#[tokio::test]
async fn parameters_that_are_not_allowed_are_named() {
    let (owner, path) = performance().await;
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("startDate", &[("startDate", "2026-02-30"), ("endDate", "2026-03-01")]),
        ("startDate", &[("startDate", "2026-10-1"), ("endDate", "2026-10-02")]),
        ("startDate", &[("startDate", "yesterday"), ("endDate", "2026-10-02")]),
        ("startDate", &[("startDate", "2026-10-01\0"), ("endDate", "2026-10-02")]),
        ("startDate", &[("startDate", ""), ("endDate", "2026-10-02")]),
        ("startDate", &[("startDate", "2026-10-03"), ("endDate", "2026-10-02")]),
        ("startDate", &[("startDate", "2020-01-01"), ("endDate", "2026-10-02")]),
        ("endDate", &[("startDate", "2026-10-03"), ("endDate", "2026-13-02")]),
        ("endDate", &[("startDate", "2026-10-03"), ("endDate", "2027-01-01")]),
        ("endDate", &[("startDate", "2026-10-03"), ("endDate", "9999-12-31")]),
        ("endDate", &[("startDate", "2026-10-03")]),
        ("startDate", &[("endDate", "2026-10-03")]),
        ("compareEnd", &[("compareStart", "2026-10-03")]),
        ("compareStart", &[("compareEnd", "2026-10-03")]),
        ("compareStart", &[("compareStart", "2026-10-03"), ("compareEnd", "2026-10-01")]),
        ("compareStart", &[("compareStart", "0000-00-00"), ("compareEnd", "2026-10-01")]),
        ("compareStart", &[("compareStart", "2020-01-01"), ("compareEnd", "2020-02-01")]),
        ("compareEnd", &[("compareStart", "2026-10-03"), ("compareEnd", "2027-10-01")]),
        ("classification", &[("classification", "segment:1")]),
        ("classification", &[("classification", "segment:")]),
        ("classification", &[("classification", "Branded")]),
        ("classification", &[("classification", " ")]),
        ("classification", &[("classification", "topicCluster:01900000-0000-7000-8000-00000000000\0")]),
        ("queryLimit", &[("queryLimit", "0")]),
        ("queryLimit", &[("queryLimit", "5001")]),
        ("queryLimit", &[("queryLimit", "-1")]),
        ("queryLimit", &[("queryLimit", "1e4")]),
        ("queryLimit", &[("queryLimit", "10.5")]),
        ("queryLimit", &[("queryLimit", "99999999999999999999")]),
        ("pageLimit", &[("pageLimit", "many")]),
        ("pageLimit", &[("pageLimit", " ")]),
        ("pageLimit", &[("pageLimit", "٣")]),
        ("searchType", &[("searchType", "news")]),
        ("searchType", &[("searchType", "WEB")]),
        ("scope", &[("scope", "charts")]),
        ("scope", &[("scope", "tables,series")]),
    ];
    for (name, query) in cases {
        let answer = owner.ask(&path, query).await;
        assert_names(&answer, name, &format!("{query:?}"));
    }
}

#[tokio::test]
async fn filters_that_are_not_allowed_are_named() {
    let (owner, path) = performance().await;
    let many = Value::from(vec![json!({"dimension": "query", "operator": "contains", "value": "a"}); 51]).to_string();
    let wide = filter("query", "contains", &"x".repeat(4097));
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("filters", &[("filters", &many)]),
        ("filters", &[("filters", &wide)]),
        ("filters", &[("filters", " ")]),
        ("filters", &[("filters", "[")]),
        ("filters", &[("filters", "null")]),
        ("filters", &[("filters", "{}")]),
        ("filters", &[("filters", "[[]]")]),
        ("filters", &[("filters", r#"[{"dimension":"query","operator":"contains"}]"#)]),
        ("filters", &[("filters", r#"[{"dimension":"query","operator":"contains","value":1}]"#)]),
        ("filters", &[("filters", r#"[{"dimension":"date","operator":"contains","value":"a"}]"#)]),
        ("filters", &[("filters", r#"[{"dimension":"query","operator":"like","value":"a"}]"#)]),
        ("filters", &[("filters", r#"[{"dimension":"query","operator":"equals","value":"a","logic":"xor"}]"#)]),
        ("filters", &[("filters", r#"[{"dimension":"query","operator":"equals","value":"a","why":"b"}]"#)]),
        ("filters", &[("filters", &filter("query", "equals", ""))]),
        ("filters", &[("filters", &filter("query", "equals", "a\0b"))]),
        ("filters", &[("filters", &filter("query", "matches_regex", "("))]),
        ("filters", &[("filters", &filter("query", "matches_regex", r"(a)\1"))]),
        ("filters", &[("filters", &filter("query", "matches_regex", "(?=a)"))]),
        ("filters", &[("filters", &filter("page", "matches_regex", "((((a{1000}){1000}){1000}){1000})"))]),
        ("filters", &[("filters", &filter("country", "equals", "narnia"))]),
        ("filters", &[("filters", &filter("country", "equals", "xx"))]),
        ("filters", &[("filters", &filter("device", "equals", "watch"))]),
        ("filters", &[("filters", &filter("device", "or_list", "mobile,watch"))]),
        ("filters", &[("filters", &filter("query", "or_list", ","))]),
        ("filters", &[("filters", &filter("query", "or_list", " , , "))]),
        ("filters", &[("filters", &filter("searchAppearance", "matches_regex", "("))]),
    ];
    for (name, query) in cases {
        let answer = owner.ask(&path, query).await;
        assert_names(&answer, name, &format!("{query:?}"));
    }
}

#[tokio::test]
async fn query_strings_are_decoded_strictly() {
    let (owner, path) = performance().await;
    let cases = [
        ("scope", "scope=tables&scope=tables".to_owned()),
        ("scope", "scope=tables&sc%6Fpe=all".into()),
        ("scope", "scope=%zz".into()),
        ("scope", "scope=%".into()),
        ("scope", "scope=%ff%fe".into()),
        ("scope", "scope=tables%00".into()),
        ("searchType", "searchType=%C3%28".into()),
        ("query string", "%ff=1".into()),
        ("filters", format!("filters={}", "x".repeat(60_000))),
        ("filters", format!("filters={}", "%5B".repeat(20_000))),
        ("filters", format!("filters=[{{%22{}%22:1}}]", "k".repeat(50_000))),
        ("classification", format!("classification={}", "x".repeat(60_000))),
        ("startDate", format!("endDate=2026-10-01&startDate={}", "1".repeat(60_000))),
    ];
    for (name, query) in cases {
        assert_names(&owner.get(&format!("{path}?{query}")).await, name, &query);
    }
    let name = "n".repeat(60_000);
    let answer = owner.get(&format!("{path}?{name}=%zz")).await;
    assert_names(&answer, "nnnn", &name);
    owner.get(&format!("{path}?&&&")).await.expect(200);
    for (name, unknown) in [
        ("x", "x=1&x=2"),
        ("Scope", "Scope=charts"),
        ("query string", "="),
        ("days", "days=0"),
        ("token", "scope=all&token=%41"),
        ("utm_source", "utm_source=a+b"),
    ] {
        assert_names(&owner.get(&format!("{path}?{unknown}")).await, name, unknown);
    }
    for days in ["0", "-1", "481", "28.5", "x", "%20", "28&days=28"] {
        assert_names(&owner.get(&format!("/api/properties?days={days}")).await, "days", days);
    }
}

/// `PUT /api/properties/tracking` with this body.
async fn track(owner: &Actor, body: impl Into<String>, headers: &[(&str, &str)]) -> Answer {
    owner.send(Method::PUT, "/api/properties/tracking", Some(body.into()), headers).await
}

#[tokio::test]
async fn bodies_that_are_not_allowed_are_refused_by_field() {
    let owner = shared().actor("owner").await;
    let long_name = json!({ "k".repeat(5000): 1, "propertyIds": [] }).to_string();
    let twice = "01900000-0000-7000-8000-000000000000";
    let cases = [
        ("body", String::new()),
        ("body", "nonsense".to_owned()),
        ("body", "{\"propertyIds\":[".into()),
        ("body", "{\"propertyIds\":[]} x".into()),
        ("body", "[]".into()),
        ("body", "null".into()),
        ("body", "\"x\"".into()),
        ("body", "[".repeat(100_000)),
        ("body", format!("{}{}", "{\"a\":".repeat(50_000), "}".repeat(50_000))),
        ("propertyIds", "{}".into()),
        ("propertyIds", "{\"propertyIds\":null}".into()),
        ("propertyIds", "{\"propertyIds\":\"all\"}".into()),
        ("propertyIds[0]", "{\"propertyIds\":[1]}".into()),
        ("propertyIds[1]", json!({ "propertyIds": [twice, "x"] }).to_string()),
        ("propertyIds", json!({ "propertyIds": [twice, twice] }).to_string()),
        ("propertyIds", json!({ "propertyIds": vec![Value::Null; 1001] }).to_string()),
        ("tracked", "{\"propertyIds\":[],\"tracked\":true}".into()),
        ("kkkk", long_name),
    ];
    for (name, body) in cases {
        assert_names(&track(&owner, body.clone(), JSON).await, name, &body);
    }
    let id = owner.property("northmoor").await;
    for (body, name) in
        [(json!({"favorite": "yes"}), "favorite"), (json!({"favorite": 1}), "favorite"), (json!({}), "favorite")]
    {
        let answer = owner.send_json(Method::PUT, &format!("/api/properties/{id}/favorite"), &body).await;
        assert_names(&answer, name, &body.to_string());
    }
}

/// JSON that costs a reader, or means two things, wherever JSON is read.
#[tokio::test]
async fn json_that_costs_or_is_ambiguous_is_refused_everywhere() {
    let owner = shared().actor("owner").await;
    let property = owner.property("northmoor").await;
    let assistant = Assistant::of(shared(), &owner);
    let members: Vec<String> = (0..60_000).map(|number| format!("\"{number}\":0")).collect();
    let documents = [
        "[".repeat(200_000),
        format!("{}1{}", "{\"name\":".repeat(50_000), "}".repeat(50_000)),
        format!("[{}0]", "0,".repeat(400_000)),
        format!("{{{}}}", members.join(",")),
        format!("\"{}\"", "x".repeat(1_000_000)),
        format!("{{\"name\":{}}}", "9".repeat(900_000)),
        "{\"name\":1e999999999}".into(),
        "{\"name\":\"a\",\"name\":\"b\"}".into(),
        "{\"name\":\"\\ud800\"}".into(),
        "{\"\\u0000\":\"\\u0000\"}".into(),
        "\u{feff}{\"name\":NaN}".into(),
        "{\"name\":\"a\"}{\"name\":\"b\"}".into(),
    ];
    for document in documents {
        for (method, path) in [
            (Method::POST, "/api/tags".to_owned()),
            (Method::PUT, "/api/properties/tracking".into()),
            (Method::POST, format!("/api/properties/{property}/performance/query")),
            (Method::POST, "/oauth/register".into()),
        ] {
            let answer = owner.send(method, &path, Some(document.clone()), JSON).await;
            assert!([400, 413].contains(&answer.status.as_u16()), "{path} {document:.40}: {}", answer.status);
        }
        let reply = assistant.send(Method::POST, document.clone(), &[]).await;
        assert!([400, 413].contains(&reply.status.as_u16()), "{document:.40}: {} {:.300}", reply.status, reply.text);
    }
}

#[tokio::test]
async fn other_kinds_of_bodies_and_too_large_ones_are_refused() {
    let owner = shared().actor("owner").await;
    let body = "{\"propertyIds\":[]}";
    let cases: [&[(&str, &str)]; 8] = [
        &[],
        &[("content-type", "text/plain")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/json-patch+json")],
        &[("content-type", "nonsense")],
        &[("content-type", "application/json"), ("content-encoding", "gzip")],
        &[("content-type", "application/json"), ("content-encoding", "br")],
        &[("content-type", "application/json"), ("content-encoding", "identity, gzip")],
    ];
    for headers in cases {
        let answer = track(&owner, body, headers).await.expect(415);
        assert_eq!(answer.code(), "unsupported_media_type");
        assert!(answer.hint().starts_with("Content-"), "{}", answer.hint());
    }
    let answer = track(&owner, "x".repeat(1024 * 1024 + 1), JSON).await.expect(413);
    assert_eq!((answer.code(), answer.hint()), ("payload_too_large", "body: at most 1 MiB"));
    let padded = format!("{}{{}}", " ".repeat(1024 * 1024 - 2));
    assert_names(&track(&owner, padded, JSON).await, "propertyIds", "exactly 1 MiB");
}

#[tokio::test]
async fn who_asks_is_judged_before_the_body_is_read() {
    let large = || Some("x".repeat(1024 * 1024 + 1));
    let compressed = [("content-type", "application/json"), ("content-encoding", "gzip")];
    let anonymous = shared().anonymous();
    anonymous.send(Method::PUT, "/api/properties/tracking", large(), JSON).await.expect(401);
    anonymous.send(Method::PUT, "/api/properties/tracking", Some("x".into()), &compressed).await.expect(401);
    let stranger = shared().actor("stranger").await;
    let id = shared().actor("owner").await.property("northmoor").await;
    let path = format!("/api/properties/{id}/favorite");
    stranger.send(Method::PUT, &path, large(), JSON).await.expect(404);
    stranger.send(Method::PUT, &path, Some("x".into()), &compressed).await.expect(404);
    // Forms of the issuer are limited as well.
    let answer = anonymous.send(Method::POST, "/oauth/token", large(), &[]).await.expect(413);
    assert_eq!(answer.code(), "payload_too_large");
}

/// Query strings of parameter names with values near the limits, and of noise.
fn query_string() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        8 => prop::sample::select(vec![
            "startDate", "endDate", "compareStart", "compareEnd", "classification", "searchType", "filters", "scope",
            "queryLimit", "pageLimit", "days", "compare", "period", "metric", "offset", "find",
        ])
        .prop_map(str::to_owned),
        1 => "[ -~]{0,8}",
    ];
    let value = prop_oneof![
        4 => prop::sample::select(vec![
            "2026-10-01", "2026-10-31", "2025-07-21", "2026-11-21", "2026-02-29", "branded", "nonBranded",
            "segment:01900000-0000-7000-8000-000000000000", "web", "image", "discover", "tables", "all", "1", "5000",
            r#"[{"dimension":"query","operator":"contains","value":"a"}]"#,
            r#"[{"dimension":"page","operator":"not_contains","value":"b","logic":"or"}]"#,
            r#"[{"dimension":"country","operator":"equals","value":"usa"},{"dimension":"query","operator":"equals","value":"a","logic":"or"}]"#,
            "[]", "0", "-1", "-262143-01-01", "0000-01-01", "1900-01-01", "2200-12-31", "9999-12-31", "+262142-12-31",
            "previous_year", "previous_calendar_period", "last_480_days", "last_year",
        ])
        .prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => any::<String>(),
    ];
    prop::collection::vec((name, value), 0..5)
        .prop_map(|pairs| url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
}

/// Every response of the API is validated against the document on arrival, so this test checks only the status.
#[tokio::test]
async fn no_query_string_is_a_fault() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let [performance, links] = ["performance", "share-links"].map(|name| format!("/api/properties/{property}/{name}"));
    let link = owner.post(&links, &json!({ "name": "Noise" })).await.expect(201).json["data"]["token"].clone();
    let (browser, link) = (Browser::signed_in(&app, "owner").await, link.as_str().unwrap());
    let pages = [format!("/p/{property}"), format!("/share/{link}"), format!("/p/{property}/queries"), "/".to_owned()];
    let mut runner = TestRunner::deterministic();
    for _ in 0..150 {
        let query = query_string().new_tree(&mut runner).unwrap().current();
        for path in [performance.as_str(), "/api/properties"] {
            let answer = owner.get(&format!("{path}?{query}")).await;
            match answer.status.as_u16() {
                200 => assert!(answer.json["data"].is_object() || answer.json["data"].is_array(), "{query}"),
                404 => assert!(query.contains("classification="), "{query}"),
                _ => assert_names(&answer, "", &query),
            }
        }
        for page in &pages {
            let shown = browser.get(&format!("{page}?{query}")).await;
            assert!(
                [200, 400, 404].contains(&shown.status.as_u16()),
                "{page}?{query}: {} {}",
                shown.status,
                shown.body
            );
        }
    }
}
