//! Tests of previews: they say what a classification would match, they are refused like the write, and they store nothing.

use std::{collections::BTreeMap, sync::LazyLock};

use entity::{audit_event, branded_keyword, classification, replay};
use poem::http::Method;
use sea_orm::{EntityTrait as _, PaginatorTrait as _};
use serde_json::{Value, json};
use simulator::SearchType;

use super::contains;
use crate::{
    analytics::performance::{Asker, SMALL, site},
    support::{
        actor::{Actor, Answer},
        app::TestApp,
        oracle::{Count, Counted, Keys, Sum, Truth, all, by_page, by_query},
    },
};

/// The default window of test apps.
const WINDOW: (&str, &str) = ("2026-10-22", "2026-11-18");

/// The truth about web search for the small site.
static TRUTH: LazyLock<Truth> = LazyLock::new(|| Truth::of(site(SMALL), SearchType::Web, WINDOW.0, WINDOW.1));

/// The path of the preview of a list of the property.
fn preview(property: &str, list: &str) -> String {
    format!("/api/properties/{property}/{list}/preview")
}

/// The expected counts of a part, and its shares of `total`.
fn said(part: Sum, total: Sum) -> Value {
    json!({
        "clicks": part.clicks,
        "impressions": part.impressions,
        "clicksShare": part.clicks as f64 / total.clicks as f64,
        "impressionsShare": part.impressions as f64 / total.impressions as f64,
    })
}

/// Compares a preview with the cells that `wanted` selects.
#[track_caller]
fn check(answer: &Answer, count: Count, wanted: &dyn Fn(Counted<'_>) -> bool, keys: Keys<'_>) {
    let (data, meta) = (&answer.json["data"], &answer.json["meta"]);
    let hides = |counted: Counted<'_>| count == Count::ByProperty && counted.cell.anonymised;
    let rests = |counted: Counted<'_>| !hides(counted) && !wanted(counted);
    let [total, matched, rest, hidden] =
        [&all as &dyn Fn(Counted<'_>) -> bool, wanted, &rests, &hides].map(|of| TRUTH.total(count, of));
    assert!(0 < matched.clicks && matched.clicks < total.clicks, "{matched:?}");
    assert_eq!(Sum::said(&data["matched"]), matched);
    for (name, share) in said(matched, total).as_object().unwrap() {
        assert_eq!(&data["matched"][name], share, "{name}");
    }
    assert_eq!(data["unmatched"], said(rest, total));
    let anonymised = (count == Count::ByProperty).then(|| said(hidden, total));
    assert_eq!(data.get("anonymised"), anonymised.as_ref(), "every page is known");
    let rows: BTreeMap<String, Sum> = TRUTH.by(count, wanted, keys);
    assert_eq!((&data["rows"], &data["rowsCapped"]), (&json!(rows.len()), &json!(false)));
    let mut largest: Vec<(&String, &Sum)> = rows.iter().collect();
    largest.sort_by_key(|(_, sum)| (u64::MAX - sum.clicks, u64::MAX - sum.impressions));
    let shown = data["largest"].as_array().unwrap();
    assert_eq!(shown.len(), rows.len().min(10));
    for (row, (key, sum)) in shown.iter().zip(largest) {
        assert_eq!((row["key"].as_str(), Sum::said(row)), (Some(key.as_str()), *sum));
    }
    assert_eq!(meta["window"], json!({ "startDate": WINDOW.0, "endDate": WINDOW.1 }));
    assert_eq!(meta["aggregation"], if count == Count::ByPage { "byPage" } else { "byProperty" });
    assert_eq!((meta["status"].as_str(), meta["days"]["current"]["counted"].as_u64()), (Some("analysed"), Some(28)));
}

fn rule(name: &str, value: &str) -> Value {
    json!({ "name": name, "conditions": [contains(value)] })
}

#[tokio::test]
async fn a_segment_would_match_its_pages() {
    let Asker { actor, property } = Asker::small().await;
    let either = json!({ "name": "x", "conditions": [
        contains("/services/"),
        { "operator": "not_contains", "value": "fern", "logic": "and" },
        { "operator": "contains", "value": "/about/", "logic": "or" },
    ] });
    let answer = actor.post(&preview(&property, "segments"), &either).await.expect(200);
    let inside = |counted: Counted<'_>| {
        let url = counted.part.map_or("", |part| &part.url);
        url.contains("/services/") && !url.contains("fern") || url.contains("/about/")
    };
    check(&answer, Count::ByPage, &inside, &by_page);
    let unnamed = json!({ "conditions": [contains("/blog/")] });
    let answer = actor.post(&preview(&property, "segments"), &unnamed).await.expect(200);
    check(&answer, Count::ByPage, &|counted| counted.part.is_some_and(|part| part.url.contains("/blog/")), &by_page);
}

#[tokio::test]
async fn a_topic_cluster_would_match_its_queries() {
    let Asker { actor, property } = Asker::small().await;
    let named = |word: &'static str| {
        move |counted: Counted<'_>| !counted.cell.anonymised && counted.cell.query.to_lowercase().contains(word)
    };
    let answer = actor.post(&preview(&property, "topic-clusters"), &rule("x", "kettle")).await.expect(200);
    check(&answer, Count::ByProperty, &named("kettle"), &by_query);
    let unnamed = json!({ "color": "#2563eb", "conditions": [contains("fern")] });
    let answer = actor.post(&preview(&property, "topic-clusters"), &unnamed).await.expect(200);
    check(&answer, Count::ByProperty, &named("fern"), &by_query);
}

#[tokio::test]
async fn a_preview_of_branded_keywords_includes_the_existing_ones() {
    let Asker { actor, property } = Asker::small().await;
    let answer = actor.post(&preview(&property, "branded-keywords"), &json!({ "keywords": ["Workshop"] })).await;
    let words = |text: &str| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "workshop");
    let branded = |counted: Counted<'_>| {
        let query = counted.cell.query.to_lowercase();
        !counted.cell.anonymised && (query.contains("quiet meadow") || words(&query))
    };
    check(&answer.expect(200), Count::ByProperty, &branded, &by_query);
}

#[tokio::test]
async fn what_matches_nothing_says_so() {
    let Asker { actor, property } = Asker::small().await;
    let json = actor.post(&preview(&property, "segments"), &rule("x", "/nowhere/")).await.expect(200).json;
    let matched = &json["data"]["matched"];
    assert_eq!((&matched["clicks"], &matched["ctr"], &matched["clicksShare"]), (&json!(0), &Value::Null, &json!(0.0)));
    assert_eq!((&json["data"]["rows"], &json["data"]["largest"]), (&json!(0), &json!([])));
    assert_eq!((&json["data"]["unmatched"]["clicksShare"], &json["meta"]["status"]), (&json!(1.0), &json!("analysed")));
}

/// The numbers of rows that a write of a classification could change.
async fn stored(app: &TestApp) -> [u64; 4] {
    let db = &app.service.db;
    [
        classification::Entity::find().count(db).await.unwrap(),
        branded_keyword::Entity::find().count(db).await.unwrap(),
        replay::Entity::find().count(db).await.unwrap(),
        audit_event::Entity::find().count(db).await.unwrap(),
    ]
}

/// The three lists, each with a body that a preview and a creation accept.
fn lists() -> [(&'static str, Value); 3] {
    [
        ("branded-keywords", json!({ "keywords": ["a new name"] })),
        ("segments", rule("a new name", "a")),
        ("topic-clusters", rule("a new name", "a")),
    ]
}

/// Sends a body with an idempotency key.
async fn keyed(actor: &Actor, method: Method, path: &str, key: &str, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    actor.send(method, path, Some(body.to_string()), &headers).await
}

#[tokio::test]
async fn a_preview_stores_nothing_and_takes_any_key() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("stranger").await;
    let property = owner.property(SMALL).await;
    for (list, body) in lists() {
        let (path, list) = (preview(&property, list), format!("/api/properties/{property}/{list}"));
        let (before, records) = (stored(&app).await, owner.get(&list).await.expect(200));
        for key in ["k", "k", ""] {
            let answer = keyed(&owner, Method::POST, &path, key, &body).await.expect(200);
            assert_eq!((answer.header("idempotency-replayed"), answer.header("etag")), ("", ""), "{path}");
        }
        owner.post(&path, &json!({})).await.expect(400);
        assert_eq!(stored(&app).await, before, "{path}");
        let after = owner.get(&list).await.expect(200);
        assert_eq!((after.header("etag"), &after.bytes), (records.header("etag"), &records.bytes), "{path}");
        keyed(&owner, Method::POST, &list, "k", &body).await.expect(201);
    }
}

/// The name of a record that is replaced is taken, so a preview does not ask whose it is.
#[tokio::test]
async fn a_preview_takes_a_name_that_is_taken() {
    let Asker { actor, property } = Asker::small().await;
    for list in ["segments", "topic-clusters"] {
        let saved = actor.listed(&format!("/api/properties/{property}/{list}")).await.swap_remove(0);
        let body = rule(saved["name"].as_str().unwrap(), "a");
        actor.post(&preview(&property, list), &body).await.expect(200);
    }
}

#[tokio::test]
async fn a_dry_run_is_refused_with_the_name_of_the_preview() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("stranger").await;
    let property = owner.property(SMALL).await;
    for (list, body) in lists() {
        let path = format!("/api/properties/{property}/{list}");
        let (before, way_out) = (stored(&app).await, format!("POST /api/properties/{{id}}/{list}/preview"));
        for query in ["dryRun=true", "dryRun=false", "dryRun", "dry%52un=true"] {
            let answer = keyed(&owner, Method::POST, &format!("{path}?{query}"), "k", &body).await.expect(400);
            assert!(answer.hint().starts_with("dryRun: ") && answer.hint().contains(&way_out), "{}", answer.hint());
            assert_eq!(answer.header("idempotency-replayed"), "");
        }
        assert_eq!(stored(&app).await, before, "{path}");
        let made = keyed(&owner, Method::POST, &path, "k", &body).await.expect(201);
        assert_eq!(made.header("idempotency-replayed"), "false", "{path}");
        if let Some(id) = made.json["data"]["id"].as_str() {
            let answer = owner.put(&format!("{path}/{id}?dryRun=true"), &body).await.expect(400);
            assert!(answer.hint().contains(&way_out), "{}", answer.hint());
        }
    }
    let answer = owner.post("/api/tags?dryRun=true", &json!({ "name": "x" })).await.expect(400);
    assert!(answer.hint().starts_with("dryRun: not a parameter here"), "{}", answer.hint());
    assert_eq!(owner.listed("/api/tags").await.iter().filter(|tag| tag["name"] == "x").count(), 0);
}

#[tokio::test]
async fn a_preview_is_refused_like_the_write() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("stranger").await;
    let property = owner.property(SMALL).await;
    let many =
        |count: usize, letters: usize| (0..count).map(|n| format!("{n}{}", "x".repeat(letters))).collect::<Vec<_>>();
    let mut cases = vec![
        ("branded-keywords", json!({ "keywords": ["fine", "\u{ff0d}"] })),
        ("branded-keywords", json!({ "keywords": [] })),
        ("branded-keywords", json!({ "keywords": many(200, 1) })),
        ("branded-keywords", json!({ "keywords": many(60, 90) })),
    ];
    for list in ["segments", "topic-clusters"] {
        cases.push((list, rule(" ", "a")));
        cases.push((list, json!({ "name": "x", "conditions": [] })));
        cases.push((list, json!({ "name": "x", "conditions": [{ "operator": "matches_regex", "value": "(" }] })));
        cases.push((list, json!({ "name": "x", "color": "red", "conditions": [contains("a")] })));
        cases.push((list, json!({ "name": "x", "conditions": [contains("a")], "order": 1 })));
    }
    for (list, body) in cases {
        let tried = owner.post(&preview(&property, list), &body).await;
        let write = owner.post(&format!("/api/properties/{property}/{list}"), &body).await;
        assert!(write.status.is_client_error(), "{list}: {}", write.json);
        assert_eq!((tried.status, &tried.json), (write.status, &write.json), "{list} {body}");
    }
}

#[tokio::test]
async fn a_preview_needs_the_role_of_the_write_and_a_readable_site() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor, viewer) = (app.actor("owner").await, app.actor("editor").await, app.actor("viewer").await);
    let property = viewer.property("").await;
    for (list, body) in lists() {
        assert_eq!(viewer.post(&preview(&property, list), &body).await.expect(403).code(), "forbidden");
        editor.post(&preview(&editor.property("northmoor").await, list), &body).await.expect(200);
    }
    // A site that the search engine refuses cannot be previewed, and can be classified.
    let faults = vec!["permission403:1".parse().unwrap()];
    app.simulator().controls().set_faults(faults);
    let body = rule("unread", "/never read before/");
    let answer = owner.post(&preview(&property, "segments"), &body).await.expect(409);
    assert_eq!(answer.code(), "search_site_refused");
    owner.post(&format!("/api/properties/{property}/segments"), &body).await.expect(201);
}
