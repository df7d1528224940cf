//! Tests of the traces of a person in the files after a deletion.

use std::fs;

use chrono::TimeDelta;
use poem::http::Method;
use sea_orm::DatabaseBackend;
use serde_json::json;

use super::delete;
use crate::support::{actor::Actor, app::TestApp, signed_in::Browser};

/// The mark in everything that a person writes.
const MARK: &str = "Quagga-7316";

async fn own_property(actor: &Actor) -> String {
    let listed = actor.listed("/api/properties").await;
    let own = listed.iter().find(|property| property["role"] == "owner").unwrap();
    own["id"].as_str().unwrap().to_owned()
}

/// Fills tables with texts that hold `mark`, between texts of somebody else.
async fn planted(app: &TestApp, writer: &Actor, other: &Actor) {
    let (own, theirs) = (writer.property("northmoor").await, own_property(other).await);
    for number in 0..40 {
        let text = |of: &str| format!("{of} {number} {}", "x".repeat(number * 37));
        for (actor, property, of) in [(writer, &own, MARK), (other, &theirs, "kept")] {
            let note = json!({ "date": "2026-11-16", "text": text(of) });
            actor.made(&format!("/api/properties/{property}/annotations"), &note).await;
        }
    }
    let filters = json!([{ "dimension": "query", "operator": "contains", "value": MARK }]);
    writer.made("/api/filter-presets", &json!({ "name": format!("Preset {MARK}"), "filters": filters })).await;
    writer.made("/api/tags", &json!({ "name": MARK })).await;
    let conditions = json!([{ "operator": "contains", "value": MARK }]);
    for kind in ["segments", "topic-clusters"] {
        let rule = json!({ "name": MARK, "conditions": conditions });
        writer.made(&format!("/api/properties/{own}/{kind}"), &rule).await;
    }
    let invited = json!({ "email": format!("{MARK}@demo.test"), "role": "viewer", "allProperties": true });
    writer.made("/api/team", &invited).await;
    // The names of browsers, and what expires by itself.
    Browser::signed_in(app, "owner").await.get("/account").await.expect(200);
}

/// The files that hold a text, in any case.
fn readable_in(app: &TestApp, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let mut found = Vec::new();
    for entry in fs::read_dir(app.folder()).unwrap() {
        let entry = entry.unwrap();
        let bytes = fs::read(entry.path()).unwrap().to_ascii_lowercase();
        if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
            found.push(entry.file_name().into_string().unwrap());
        }
    }
    found
}

#[tokio::test]
async fn what_a_person_wrote_is_in_no_file_after_they_have_left() {
    let app = TestApp::start(|_| {}).await;
    if app.service.db.get_database_backend() != DatabaseBackend::Sqlite {
        // PostgreSQL keeps files of its own. docs/PRIVACY.md says for how long.
        return;
    }
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    planted(&app, &owner, &stranger).await;
    // The text of a record before its change, and a record that was deleted by itself.
    let tag = owner.made("/api/tags", &json!({ "name": format!("{MARK} gone") })).await;
    owner.put(&format!("/api/tags/{tag}"), &json!({ "name": format!("{MARK} renamed") })).await.expect(200);
    owner.send(Method::DELETE, &format!("/api/tags/{tag}"), None, &[]).await.expect(204);
    app.service.sweep().await;
    assert_eq!(readable_in(&app, MARK), ["sightline.db"], "a sweep moves the log into the file");
    owner.made("/api/tags", &json!({ "name": format!("{MARK} in the log") })).await;

    app.hand.advance(TimeDelta::seconds(1));
    delete(&owner).await.expect(204);
    assert!(!readable_in(&app, MARK).contains(&"sightline.db-wal".to_owned()), "the log is empty before the answer");
    // Stored answers of others may name the person for a day. Here, nobody else's do.
    app.service.sweep().await;
    for text in [MARK, "owner@demo.test", "demo-owner"] {
        assert_eq!(readable_in(&app, text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(readable_in(&app, "kept 39"), ["sightline.db"], "what others wrote is there");
    let theirs = own_property(&stranger).await;
    assert_eq!(stranger.listed(&format!("/api/properties/{theirs}/annotations")).await.len(), 40);
}
