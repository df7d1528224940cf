//! Tests of behaviour that is the same on every database: records read back as written, one writer per key, and no
//! deadlocks.

use futures_util::future::{join, join_all};
use poem::http::Method;
use sea_orm::{ConnectionTrait as _, DbBackend, Statement};
use serde_json::{Value, json};

use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
};

/// A kind of record whose creation supports idempotency keys: its path, a body, and a replacement if it can be replaced.
struct Kind {
    path: String,
    create: Value,
    replace: Option<Value>,
}

fn kinds(property: &str) -> Vec<Kind> {
    let of_property = |part: &str| format!("/api/properties/{property}/{part}");
    let kind = |path: String, create: Value, replace: Option<Value>| Kind { path, create, replace };
    let contains = |value: &str| json!([{ "operator": "contains", "value": value }]);
    vec![
        kind(of_property("branded-keywords"), json!({ "keywords": ["Café Łódź", "zebra"] }), None),
        kind(
            of_property("segments"),
            json!({ "name": "Ärger", "color": "#2563eb", "conditions": contains("/a/") }),
            Some(json!({ "name": "ärger", "conditions": contains("/b/") })),
        ),
        kind(
            of_property("topic-clusters"),
            json!({ "name": "_tents", "conditions": contains("tent") }),
            Some(json!({ "name": "Tents", "conditions": contains("tents") })),
        ),
        kind(
            of_property("annotations"),
            json!({ "date": "2026-11-16", "endDate": "2026-11-18", "text": "New pages 🏕", "category": "release" }),
            Some(json!({ "date": "2026-11-17", "text": "New pages" })),
        ),
        kind("/api/tags".into(), json!({ "name": "Shops" }), Some(json!({ "name": "shops", "order": 0 }))),
        kind(
            of_property("share-links"),
            json!({ "name": "For the board", "expiresAt": "2030-01-01T00:00:00.123456789+01:00" }),
            None,
        ),
        kind(
            "/api/team".into(),
            json!({ "email": "Colleague@Acme.example", "role": "viewer", "propertyIds": [property] }),
            Some(json!({ "role": "admin" })),
        ),
        kind(
            "/api/filter-presets".into(),
            json!({ "name": "Mobile", "filters": [{ "dimension": "device", "operator": "equals", "value": "MOBILE" }] }),
            Some(
                json!({ "name": "mobile", "filters": [{ "dimension": "query", "operator": "contains", "value": "é" }] }),
            ),
        ),
    ]
}

async fn write(actor: &Actor, method: Method, path: &str, body: &Value, header: (&str, &str)) -> Answer {
    actor.send(method, path, Some(body.to_string()), &[("content-type", "application/json"), header]).await
}

async fn create(actor: &Actor, kind: &Kind, key: &str) -> Answer {
    write(actor, Method::POST, &kind.path, &kind.create, ("idempotency-key", key)).await
}

#[tokio::test]
async fn a_record_reads_as_it_was_written_until_it_is_replaced() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    for kind in kinds(&property) {
        let first = create(&owner, &kind, "k").await.expect(201);
        let again = create(&owner, &kind, "k").await.expect(201);
        assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("false", "true"));
        assert_eq!((&first.bytes, first.header("location")), (&again.bytes, again.header("location")), "{}", kind.path);
        assert_eq!(first.header("etag"), again.header("etag"));

        let (made, now) = (&first.json["data"], owner.listed(&kind.path).await);
        let Some(id) = made["id"].as_str() else {
            assert_eq!(made.as_array(), Some(&now), "{}", kind.path);
            continue;
        };
        let same: Vec<_> = now.iter().filter(|record| record["id"] == id).collect();
        assert_eq!(same, [made], "{}", kind.path);

        let (item, tag) = (format!("{}/{id}", kind.path), made["etag"].as_str().unwrap());
        let (method, body) = kind.replace.map_or((Method::DELETE, Value::Null), |body| (Method::PUT, body));
        write(&owner, method.clone(), &item, &body, ("if-match", "\"stale\"")).await.expect(412);
        let changed = write(&owner, method.clone(), &item, &body, ("if-match", tag)).await;
        if method == Method::DELETE {
            changed.expect(204);
            assert!(owner.listed(&kind.path).await.iter().all(|record| record["id"] != id));
            continue;
        }
        let changed = changed.expect(200).json["data"].clone();
        assert_ne!(changed["etag"], made["etag"], "{}", kind.path);
        assert!(owner.listed(&kind.path).await.contains(&changed), "{}", kind.path);
        write(&owner, method, &item, &body, ("if-match", tag)).await.expect(412);
    }
}

#[tokio::test]
async fn one_key_at_two_processes_makes_one_record() {
    let first = TestApp::start(|_| {}).await;
    let Some(second) = first.beside().await else { return };
    let owner = first.actor("owner").await;
    let beside = Actor::with_token(&format!("http://{}", second.service.address), owner.token());
    let property = owner.property("northmoor").await;
    for kind in kinds(&property) {
        let before = owner.listed(&kind.path).await.len();
        let at_once = (0..20).map(|number| create(if number % 2 == 0 { &owner } else { &beside }, &kind, "at once"));
        let answers = join_all(at_once).await;
        let made = answers.iter().filter(|answer| answer.header("idempotency-replayed") == "false").count();
        assert_eq!(made, 1, "{}", kind.path);
        for answer in &answers {
            let fits = match answer.status.as_u16() {
                201 => true,
                409 => answer.code() == "idempotency_in_progress" && answer.header("retry-after") == "1",
                _ => false,
            };
            assert!(fits, "{}: {} {}", kind.path, answer.status, answer.json);
        }
        let replay = create(&beside, &kind, "at once").await.expect(201);
        assert_eq!(replay.header("idempotency-replayed"), "true");
        let more = kind.create["keywords"].as_array().map_or(1, Vec::len);
        assert_eq!(beside.listed(&kind.path).await.len(), before + more, "{}", kind.path);
    }
}

#[tokio::test]
async fn more_writers_than_connections_do_not_deadlock() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let tag = owner.send_json(Method::POST, "/api/tags", &json!({ "name": "Shops" })).await.expect(201);
    let tagged = format!("/api/tags/{}/properties", tag.json["data"]["id"].as_str().unwrap());
    let notes = format!("/api/properties/{property}/annotations");
    // An annotation locks its property and then refers to its author. A tag's properties lock their owner and then refer to
    // the property.
    let rounds = (0..24).map(|number| {
        let (owner, notes, tagged, property) = (&owner, &notes, &tagged, &property);
        async move {
            let note = json!({ "date": "2026-11-16", "text": format!("note {number}") });
            let key = format!("note {number}");
            let note = write(owner, Method::POST, notes, &note, ("idempotency-key", &key));
            let tagging = json!({ "propertyIds": [property] });
            join(note, owner.send_json(Method::POST, tagged, &tagging)).await
        }
    });
    for (note, tagging) in join_all(rounds).await {
        note.expect(201);
        tagging.expect(200);
    }
    assert_eq!(owner.listed(&notes).await.len(), 24);
    assert_eq!(owner.listed("/api/tags").await[0]["rowsMatched"], 1);
}

#[tokio::test]
async fn a_selection_changes_while_its_properties_are_written_to() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let tracked: Vec<Value> = owner.listed("/api/properties").await.iter().map(|p| p["id"].clone()).collect();
    let rounds = (0..24).map(|number| {
        let (owner, tracked) = (&owner, &tracked);
        async move {
            let notes = format!("/api/properties/{}/annotations", tracked[0].as_str().unwrap());
            let note = json!({ "date": "2026-11-16", "text": format!("note {number}") });
            let key = format!("note {number}");
            let selection = json!({ "propertyIds": tracked[usize::from(number % 2 == 0)..] });
            let selected = owner.send_json(Method::PUT, "/api/properties/tracking", &selection);
            join(write(owner, Method::POST, &notes, &note, ("idempotency-key", &key)), selected).await
        }
    });
    for (note, selected) in join_all(rounds).await {
        assert!([201, 404].contains(&note.status.as_u16()), "{}", note.json);
        selected.expect(200);
    }
}

#[tokio::test]
async fn names_may_grow_when_they_are_folded_and_are_ordered_by_code_point() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
    // Compatibility folding turns this character into eighteen.
    let long = "\u{fdfa}".repeat(100);
    for name in ["b", "_c", "ä", "A c", "Ab", "z", &long] {
        let preset = json!({ "name": name, "filters": filters });
        owner.send_json(Method::POST, "/api/filter-presets", &preset).await.expect(201);
        owner.send_json(Method::POST, "/api/filter-presets", &preset).await.expect(400);
    }
    let presets = owner.listed("/api/filter-presets").await;
    let names: Vec<_> = presets.iter().map(|preset| preset["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["_c", "A c", "Ab", "b", "z", "ä", &long]);
}

#[tokio::test]
async fn every_text_column_of_postgres_is_ordered_by_its_bytes() {
    let app = TestApp::start(|_| {}).await;
    let db = &app.service.db;
    if db.get_database_backend() != DbBackend::Postgres {
        return;
    }
    let others = "SELECT table_name || '.' || column_name AS other FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name <> 'seaql_migrations'
            AND data_type IN ('character varying', 'text') AND collation_name IS DISTINCT FROM 'C'";
    let others = db.query_all_raw(Statement::from_string(DbBackend::Postgres, others)).await.unwrap();
    let others: Vec<String> = others.iter().map(|row| row.try_get("", "other").unwrap()).collect();
    assert!(others.is_empty(), "end their migration with `order_text_by_bytes`: {others:?}");
}
