//! Tests of null in request bodies: for an optional field it means absent.

use serde_json::{Value, json};

use super::contains;
use crate::support::app::TestApp;

/// Removes what differs between two records of the same content.
fn content(mut record: Value) -> Value {
    for own in ["id", "name", "email", "order", "etag", "token", "url", "apiUrl", "createdAt", "updatedAt"] {
        record.as_object_mut().unwrap().remove(own);
    }
    record
}

#[tokio::test]
async fn null_for_an_optional_field_means_that_it_is_absent() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    let rule = |name: &str| json!({ "name": name, "conditions": [contains("a")] });
    let mut colourless = rule("colourless");
    colourless["color"] = Value::Null;
    colourless["conditions"][0]["logic"] = Value::Null;
    let filter = json!({ "dimension": "query", "operator": "contains", "value": "a" });
    let mut first = filter.clone();
    first["logic"] = Value::Null;
    let note = json!({ "date": "2026-11-01", "text": "note" });
    let bare = json!({ "date": "2026-11-01", "text": "note", "endDate": null, "category": null });
    let grant = |email: &str| json!({ "email": email, "role": "viewer", "allProperties": true });
    let mut named = grant("b@elsewhere.test");
    named["propertyIds"] = Value::Null;
    let mut cases = vec![
        (of("annotations"), note, bare),
        ("/api/tags".to_owned(), json!({ "name": "a" }), json!({ "name": "b", "order": null })),
        ("/api/team".to_owned(), grant("a@elsewhere.test"), named),
        (of("share-links"), json!({}), json!({ "name": null, "expiresAt": null })),
        (
            "/api/filter-presets".to_owned(),
            json!({ "name": "a", "filters": [filter] }),
            json!({ "name": "b", "filters": [first] }),
        ),
    ];
    for kind in ["segments", "topic-clusters"] {
        cases.push((of(kind), rule("plain"), colourless.clone()));
    }
    for (list, absent, null) in cases {
        let expected = content(owner.post(&list, &absent).await.expect(201).json["data"].clone());
        let made = owner.post(&list, &null).await.expect(201).json["data"].clone();
        assert_eq!(content(made), expected, "{list}: {null}");
    }
}

#[tokio::test]
async fn null_removes_an_optional_field_and_is_refused_for_a_required_one() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let list = format!("/api/properties/{}/annotations", owner.property("northmoor").await);
    let whole = json!({ "date": "2026-11-01", "endDate": "2026-11-03", "text": "note", "category": "release" });
    let path = format!("{list}/{}", owner.made(&list, &whole).await);
    let bare = json!({ "date": "2026-11-01", "endDate": null, "text": "note", "category": null });
    let changed = owner.put(&path, &bare).await.expect(200).json["data"].clone();
    assert_eq!((changed.get("endDate"), changed.get("category")), (None, None));
    for (body, name) in [
        (json!({ "date": null, "text": "note" }), "date"),
        (json!({ "date": "2026-11-01", "text": null }), "text"),
        (json!({ "date": "2026-11-01", "text": "note", "end": null }), "end"),
    ] {
        assert!(owner.put(&path, &body).await.expect(400).hint().starts_with(&format!("{name}:")), "{body}");
    }
}
