//! Tests of dry runs: they say what a classification would match, they are refused like the write, and they store nothing.

use std::{collections::BTreeMap, sync::LazyLock};

use entity::{audit_event, branded_keyword, classification, replay};
use poem::http::Method;
use sea_orm::{EntityTrait as _, PaginatorTrait as _};
use serde_json::{Value, json};
use sightline::simulator::SearchType;

use super::contains;
use crate::{
    analytics::performance::{Asker, SMALL, site},
    coverage::NOBODYS,
    support::{
        actor::{Actor, Answer},
        app::{TestApp, shared},
        oracle::{Count, Counted, Keys, Sum, Truth, all, by_page, by_query},
    },
};

/// The default window of test apps.
const WINDOW: (&str, &str) = ("2026-10-22", "2026-11-18");

/// The truth about web search for the small site.
static TRUTH: LazyLock<Truth> = LazyLock::new(|| Truth::of(site(SMALL), SearchType::Web, WINDOW.0, WINDOW.1));

/// The path of a list of the property, with a dry run.
fn tried(property: &str, list: &str) -> String {
    format!("/api/properties/{property}/{list}?dryRun=true")
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
    let answer = actor.post(&tried(&property, "segments"), &either).await.expect(200);
    let inside = |counted: Counted<'_>| {
        let url = counted.part.map_or("", |part| &part.url);
        url.contains("/services/") && !url.contains("fern") || url.contains("/about/")
    };
    check(&answer, Count::ByPage, &inside, &by_page);
    let saved = actor.listed(&format!("/api/properties/{property}/segments")).await.swap_remove(0);
    let path = tried(&property, &format!("segments/{}", saved["id"].as_str().unwrap()));
    let answer = actor.put(&path, &rule("other", "/blog/")).await.expect(200);
    check(&answer, Count::ByPage, &|counted| counted.part.is_some_and(|part| part.url.contains("/blog/")), &by_page);
}

#[tokio::test]
async fn a_topic_cluster_would_match_its_queries() {
    let Asker { actor, property } = Asker::small().await;
    let named = |word: &'static str| {
        move |counted: Counted<'_>| !counted.cell.anonymised && counted.cell.query.to_lowercase().contains(word)
    };
    let answer = actor.post(&tried(&property, "topic-clusters"), &rule("x", "kettle")).await.expect(200);
    check(&answer, Count::ByProperty, &named("kettle"), &by_query);
    let saved = actor.listed(&format!("/api/properties/{property}/topic-clusters")).await.swap_remove(0);
    let path = tried(&property, &format!("topic-clusters/{}", saved["id"].as_str().unwrap()));
    let answer = actor.put(&path, &rule("other", "fern")).await.expect(200);
    check(&answer, Count::ByProperty, &named("fern"), &by_query);
}

#[tokio::test]
async fn branded_keywords_would_match_together_with_those_that_are_there() {
    let Asker { actor, property } = Asker::small().await;
    let answer = actor.post(&tried(&property, "branded-keywords"), &json!({ "keywords": ["Workshop"] })).await;
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
    let json = actor.post(&tried(&property, "segments"), &rule("x", "/nowhere/")).await.expect(200).json;
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

/// Each write that can be tried: method, path and a body that would be accepted.
async fn writes(owner: &Actor, property: &str) -> Vec<(Method, String, Value)> {
    let of = |list: &str| format!("/api/properties/{property}/{list}");
    let mut found = vec![(Method::POST, of("branded-keywords"), json!({ "keywords": ["a new name"] }))];
    for list in ["segments", "topic-clusters"] {
        let saved = owner.listed(&of(list)).await.swap_remove(0);
        found.push((Method::POST, of(list), rule("a new name", "a")));
        found.push((
            Method::PUT,
            of(&format!("{list}/{}", saved["id"].as_str().unwrap())),
            rule("a replaced name", "a"),
        ));
    }
    found
}

/// Sends a body with an idempotency key.
async fn keyed(actor: &Actor, method: &Method, path: &str, key: &str, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    actor.send(method.clone(), path, Some(body.to_string()), &headers).await
}

#[tokio::test]
async fn a_dry_run_stores_nothing_and_leaves_its_key_unused() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("stranger").await;
    let property = owner.property(SMALL).await;
    for (method, path, body) in writes(&owner, &property).await {
        let (list, dry) =
            (path.split_once("/properties/").unwrap().1.split('/').nth(1).unwrap(), format!("{path}?dryRun=true"));
        let list = format!("/api/properties/{property}/{list}");
        let (before, records) = (stored(&app).await, owner.get(&list).await.expect(200));
        for refused in ["?dryRun=perhaps", "?dryRun=", "?dryrun=true", "?dryRun=true&dryRun=false"] {
            let answer = keyed(&owner, &method, &format!("{path}{refused}"), "k", &body).await.expect(400);
            assert!(answer.hint().contains("dryRun"), "{refused}: {}", answer.hint());
        }
        for body in [&body, &json!({})] {
            let answer = keyed(&owner, &method, &dry, "k", body).await;
            assert_eq!(answer.status.as_u16(), if *body == json!({}) { 400 } else { 200 }, "{method} {path}");
            assert_eq!((answer.header("idempotency-replayed"), answer.header("etag")), ("", ""), "{method} {path}");
        }
        assert_eq!(stored(&app).await, before, "{method} {path}");
        let after = owner.get(&list).await.expect(200);
        assert_eq!((after.header("etag"), &after.bytes), (records.header("etag"), &records.bytes), "{method} {path}");

        if method == Method::POST {
            assert_eq!(keyed(&owner, &method, &dry, "", &body).await.expect(400).code(), "invalid_idempotency_key");
            let made = keyed(&owner, &method, &format!("{path}?dryRun=false"), "k", &body).await.expect(201);
            assert_eq!(made.header("idempotency-replayed"), "false", "{path}");
            // An answered key belongs to the write, and a dry run does not meet it.
            let words = json!({ "keywords": ["another name"] });
            let other = if path.ends_with("keywords") { words } else { rule("another name", "b") };
            keyed(&owner, &method, &dry, "k", &other).await.expect(200);
            let again = keyed(&owner, &method, &path, "k", &body).await.expect(201);
            assert_eq!((again.header("idempotency-replayed"), &again.bytes), ("true", &made.bytes), "{path}");
        }
    }
}

#[tokio::test]
async fn a_dry_run_is_refused_like_the_write() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("stranger").await;
    let property = owner.property(SMALL).await;
    let of = |list: &str| format!("/api/properties/{property}/{list}");
    let mut cases = vec![
        (Method::POST, of("branded-keywords"), json!({ "keywords": ["fine", "\u{ff0d}"] })),
        (Method::POST, of("branded-keywords"), json!({ "keywords": [] })),
        (
            Method::POST,
            of("branded-keywords"),
            json!({ "keywords": (0..200).map(|n| format!("k{n}")).collect::<Vec<_>>() }),
        ),
        (
            Method::POST,
            of("branded-keywords"),
            json!({ "keywords": (0..60).map(|n| format!("{n}{}", "x".repeat(90))).collect::<Vec<_>>() }),
        ),
    ];
    for list in ["segments", "topic-clusters"] {
        let taken = owner.listed(&of(list)).await.swap_remove(0)["name"].as_str().unwrap().to_uppercase();
        let id = owner.made(&of(list), &rule("mine", "a")).await;
        for (method, path) in [(Method::POST, of(list)), (Method::PUT, of(&format!("{list}/{id}")))] {
            cases.push((method.clone(), path.clone(), rule(&taken, "a")));
            cases.push((method.clone(), path.clone(), rule(" ", "a")));
            cases.push((method.clone(), path.clone(), json!({ "name": "x", "conditions": [] })));
            let regex = json!({ "name": "x", "conditions": [{ "operator": "matches_regex", "value": "(" }] });
            cases.push((method, path, regex));
        }
        cases.push((Method::PUT, of(&format!("{list}/{NOBODYS}")), rule("x", "a")));
    }
    for (method, path, body) in cases {
        let dry = owner.send_json(method.clone(), &format!("{path}?dryRun=true"), &body).await;
        let write = owner.send_json(method.clone(), &path, &body).await;
        assert!(write.status.is_client_error(), "{method} {path}: {}", write.json);
        assert_eq!((dry.status, &dry.json), (write.status, &write.json), "{method} {path} {body}");
    }
}

#[tokio::test]
async fn a_dry_run_needs_the_role_and_the_state_that_the_write_needs() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let property = viewer.property("").await;
    for (method, path, body) in writes(&owner, &property).await {
        let path = format!("{path}?dryRun=true");
        assert_eq!(viewer.send_json(method.clone(), &path, &body).await.expect(403).code(), "forbidden");
        if method == Method::PUT {
            let tagged = async |tag: &str| {
                let headers = [("content-type", "application/json"), ("if-match", tag)];
                owner.send(Method::PUT, &path, Some(body.to_string()), &headers).await
            };
            tagged("\"x\"").await.expect(412);
            tagged("*").await.expect(200);
        }
    }
    // A site that the search engine refuses cannot be previewed, and can be classified.
    let faults = vec!["permission403:1".parse().unwrap()];
    app.simulator().controls().set_faults(faults);
    let body = rule("unread", "/never read before/");
    let answer = owner.post(&tried(&property, "segments"), &body).await.expect(409);
    assert_eq!(answer.code(), "search_site_refused");
    owner.post(&format!("/api/properties/{property}/segments"), &body).await.expect(201);
}

#[tokio::test]
async fn only_writes_of_classifications_can_be_tried() {
    let owner = shared().actor("owner").await;
    let answer = owner.post("/api/tags?dryRun=true", &json!({ "name": "x" })).await.expect(400);
    assert!(answer.hint().starts_with("dryRun: not a parameter here"), "{}", answer.hint());
}
