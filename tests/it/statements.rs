//! Tests of the number of statements per request. One of them admits the caller.

use entity::client_use;
use poem::http::Method;
use sea_orm::{EntityTrait as _, PaginatorTrait as _};
use serde_json::{Value, json};

use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
    signed_in::Browser,
};

/// The lowest number of statements of five requests. Those of work in the background may come between.
async fn fewest(app: &TestApp, ask: impl AsyncFn() -> Answer) -> u64 {
    ask().await.expect(200);
    let mut fewest = u64::MAX;
    for _ in 0..5 {
        let before = app.service.statements.count();
        ask().await.expect(200);
        fewest = fewest.min(app.service.statements.count() - before);
    }
    fewest
}

#[tokio::test]
async fn reads_send_few_statements() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let property = owner.property("northmoor").await;
    let link = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
    let shared = format!("/api/share/{}/performance", link.json["data"]["token"].as_str().unwrap());
    let performance = format!("/api/properties/{property}/performance?scope=all");
    let members = format!("/api/properties/{}/performance", viewer.property("").await);
    let nobody = app.anonymous();
    // The owner's own list: admission, properties, accounts and tags, and the order of those that a plan limits. A member's list: owners as well.
    let one = format!("/api/properties/{property}");
    let cases: [(&Actor, &str, u64); 11] = [
        (&owner, "/api", 1),
        (&owner, &performance, 1),
        (&viewer, &members, 1),
        (&nobody, &shared, 1),
        (&owner, "/api/tags", 3),
        (&owner, &one, 3),
        (&owner, "/api/properties", 5),
        (&viewer, "/api/properties", 6),
        (&owner, "/api/billing/summary", 2),
        (&owner, "/api/feature-flags", 1),
        (&nobody, "/api/billing/plans", 0),
    ];
    for (actor, path, most) in cases {
        let sent = fewest(&app, async || actor.get(path).await).await;
        assert!(sent <= most, "GET {path}: {sent} statements");
    }
}

/// The lowest number of statements of five visits of a page.
async fn fewest_of_page(app: &TestApp, browser: &Browser, path: &str) -> u64 {
    let mut fewest = u64::MAX;
    for _ in 0..6 {
        let before = app.service.statements.count();
        browser.get(path).await.expect(200);
        fewest = fewest.min(app.service.statements.count() - before);
    }
    fewest
}

/// A page admits its visitor once. It reads the names of the visitor's sites, and the classifications and the saved filters that narrow
/// its question. The overview also reads its notes and their authors, and, to explain a change, branded keywords and notes.
#[tokio::test]
async fn pages_send_few_statements() {
    let app = TestApp::start(|_| {}).await;
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(&app, "owner").await);
    let property = owner.property("northmoor").await;
    for (page, most) in [("", 8), ("/queries", 4), ("/pages", 4), ("/countries", 4), ("/growth", 6)] {
        let sent = fewest_of_page(&app, &browser, &format!("/p/{property}{page}")).await;
        assert!(sent <= most, "{page}: {sent} statements");
    }
}

#[tokio::test]
async fn a_preview_begins_no_transaction() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/segments/preview", owner.property("northmoor").await);
    let segment = json!({ "name": "tried", "conditions": [{ "operator": "contains", "value": "/blog/" }] });
    let sent = fewest(&app, async || owner.post(&path, &segment).await).await;
    assert!(sent <= 1, "{sent} statements");
}

/// Admission knows the caller and the owner. One statement names all other authors.
#[tokio::test]
async fn a_list_of_records_names_all_authors_by_one_statement_at_most() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor, viewer) = (app.actor("owner").await, app.actor("editor").await, app.actor("viewer").await);
    let property = owner.property("northmoor").await;
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    for (author, name) in [(&owner, "a"), (&owner, "b"), (&editor, "c"), (&editor, "d")] {
        author.made(&of("annotations"), &json!({ "date": "2026-11-16", "text": name })).await;
        let conditions = json!([{ "operator": "contains", "value": "a" }]);
        author.made(&of("segments"), &json!({ "name": name, "conditions": conditions })).await;
    }
    for list in [of("annotations"), of("segments")] {
        for (reader, most) in [(&owner, 3), (&editor, 2), (&viewer, 3)] {
            let sent = fewest(&app, async || reader.get(&list).await).await;
            assert!(sent <= most, "GET {list}: {sent} statements");
        }
    }
}

#[tokio::test]
async fn a_keyed_create_sends_at_most_eight_statements_and_one_for_the_audit_trail() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let northmoor = owner.property("northmoor").await;
    let property = editor.property("").await;
    let conditions = json!([{ "operator": "contains", "value": "a" }]);
    let note = json!({ "date": "2026-11-16", "text": "note" });
    let filter = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
    let of = |property: &str, kind: &str| format!("/api/properties/{property}/{kind}");
    let cases: [(&Actor, String, Value); 9] = [
        (&owner, "/api/tags".into(), json!({ "name": "Shops" })),
        (&owner, "/api/filter-presets".into(), json!({ "name": "Shops", "filters": filter })),
        (&owner, "/api/team".into(), json!({ "email": "x@test.example", "role": "viewer", "allProperties": true })),
        (&owner, of(&northmoor, "share-links"), json!({})),
        (&owner, of(&northmoor, "annotations"), note.clone()),
        (&editor, of(&property, "annotations"), note),
        (&editor, of(&property, "segments"), json!({ "name": "Shops", "conditions": conditions })),
        (&editor, of(&property, "topic-clusters"), json!({ "name": "Shops", "conditions": conditions })),
        (&editor, of(&property, "branded-keywords"), json!({ "keywords": ["shops"] })),
    ];
    // The first use of a grant is recorded, and beside the requests that of a client.
    editor.get(&of(&property, "annotations")).await.expect(200);
    while client_use::Entity::find().count(&app.service.db).await.unwrap() < 2 {
        tokio::task::yield_now().await;
    }
    for (actor, path, body) in cases {
        let before = app.service.statements.count();
        let key = [("content-type", "application/json"), ("idempotency-key", "once")];
        actor.send(Method::POST, &path, Some(body.to_string()), &key).await.expect(201);
        let sent = app.service.statements.count() - before;
        let noted = path == "/api/team" || path.ends_with("/share-links");
        assert!(sent <= 8 + u64::from(noted), "POST {path}: {sent} statements");
    }
}
