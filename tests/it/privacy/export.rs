//! Tests of the export: it validates against its schema, which every answer of a test does, and holds every row of the person.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};
use serde_json::Value;
use sightline::services::privacy::tables::{Ownership, Person, TABLES, Table};
use uuid::Uuid;

use super::{Named, deletion::busy};
use crate::support::{
    app::{TestApp, start_of_test},
    contract::DOCUMENT,
    signed_in::Browser,
};

/// The columns whose values an export repeats as they are, where a table has them.
const REPEATED: [&str; 14] = [
    "name",
    "email",
    "site_url",
    "text",
    "category",
    "keyword",
    "client_id",
    "path",
    "what",
    "whom",
    "user_agent",
    "issuer",
    "subject",
    "account",
];

/// The tables whose rows are shown without their id.
const WITHOUT_ID: [&str; 5] = ["session", "issuer_session", "replay", "branded_keyword", "provider_connection"];

/// The names of the columns of a table.
async fn columns(db: &DatabaseConnection, table: &str) -> BTreeSet<String> {
    let backend = db.get_database_backend();
    let sql = if backend == DbBackend::Sqlite {
        format!("SELECT name FROM pragma_table_info('{table}')")
    } else {
        format!(
            "SELECT column_name::text AS name FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = '{table}'"
        )
    };
    let rows = db.query_all_raw(Statement::from_string(backend, sql)).await.unwrap();
    rows.iter().map(|row| row.try_get("", "name").unwrap()).collect()
}

/// The number of rows for which a condition holds, and the values that the export repeats.
async fn rows(db: &DatabaseConnection, person: &Person, table: &Table, of: &str) -> (usize, BTreeSet<String>) {
    let columns = columns(db, table.name).await;
    let sql = format!("SELECT * FROM {} WHERE {of}", table.name);
    let rows = db.query_all_raw(person.fill(db.get_database_backend(), &sql)).await.unwrap();
    let mut values = BTreeSet::new();
    for row in &rows {
        if columns.contains("id") && !WITHOUT_ID.contains(&table.name) {
            values.insert(row.try_get::<Uuid>("", "id").unwrap().to_string());
        }
        for name in REPEATED.iter().filter(|name| columns.contains(**name)) {
            values.extend(row.try_get::<Option<String>>("", name).unwrap());
        }
    }
    (rows.len(), values)
}

fn count(value: &Value) -> usize {
    value.as_array().map_or(usize::from(!value.is_null()), Vec::len)
}

/// The number of items of a list within the items of a section.
fn within(section: &Value, name: &str) -> usize {
    section.as_array().unwrap().iter().map(|item| count(&item[name])).sum()
}

/// The number of rows of a table that the export shows.
fn shown(data: &Value, table: &str) -> usize {
    let records = &data["propertyRecords"];
    let tokens =
        |kind: &str| data["applicationTokens"].as_array().unwrap().iter().filter(|token| token["kind"] == kind).count();
    match table {
        "account" => count(&data["localAccount"]),
        "account_link" => count(&data["localAccount"]["links"]),
        "issuer_session" => count(&data["issuerSessions"]),
        "session" => count(&data["sessions"]),
        "consent" => count(&data["consents"]),
        "authorization_code" => tokens("authorization_code"),
        "refresh_token" => tokens("refresh_token"),
        "oauth_grant" => count(&data["applicationGrants"]),
        "client_use" => count(&data["applicationUses"]),
        "client_refusal" => count(&data["applicationRefusals"]),
        "replay" => count(&data["storedReplays"]),
        "filter_preset" => count(&data["filterPresets"]),
        "property_tag" => within(&data["tags"], "propertyIds"),
        "tag" => count(&data["tags"]),
        "property_preference" => count(&data["preferences"]),
        "annotation" => within(records, "annotations"),
        "branded_keyword" => within(records, "brandedKeywords"),
        "classification" => within(records, "segments") + within(records, "topicClusters"),
        "share_link" => within(records, "shareLinks"),
        "team_grant_property" => {
            within(&data["grantsMade"], "propertyIds") + within(&data["grantsReceived"], "propertyIds")
        }
        "team_grant" => count(&data["grantsMade"]) + count(&data["grantsReceived"]),
        "property_account" => count(&data["propertyListings"]),
        "property" => count(&data["properties"]),
        "search_account" => count(&data["searchAccounts"]),
        "provider_connection" => count(&data["providers"]),
        "audit_event" => events(data, false),
        "users" => count(&data["profile"]),
        other => panic!("say how many rows of {other} the export shows"),
    }
}

fn events(data: &Value, elsewhere: bool) -> usize {
    data["auditTrail"].as_array().unwrap().iter().filter(|event| event["elsewhere"] == elsewhere).count()
}

#[tokio::test]
async fn the_export_of_every_demo_person_holds_every_row_of_theirs() {
    let app = TestApp::start(|_| {}).await;
    let busy = busy(&app).await;
    let db = &app.service.db;
    let mut filled = BTreeMap::new();
    for name in ["owner", "editor", "viewer", "stranger", "lapsed"] {
        let actor = if name == "owner" { busy.owner.clone() } else { app.actor(name).await };
        // The use of a client is recorded beside the first request.
        actor.get("/api/tags").await.expect(200);
        while actor.get("/api/privacy/access").await.expect(200).json["data"]["applicationUses"][0].is_null() {
            tokio::task::yield_now().await;
        }
        let answer = actor.get("/api/privacy/access").await.expect(200);
        let (data, text) = (&answer.json["data"], answer.json.to_string());
        let user = Named::find(db, &format!("demo-{name}")).await.user;
        let person = Person::new(&user, start_of_test());
        for table in TABLES {
            let Ownership::Deleted { of, shown: sections } = table.rows else { continue };
            if sections.is_empty() {
                continue;
            }
            let (stored, values) = rows(db, &person, table, of).await;
            assert_eq!(shown(data, table.name), stored, "{name}: rows of {}", table.name);
            for value in values {
                let json = Value::from(value.as_str()).to_string();
                assert!(text.contains(&json), "{name}: {value} of {} is not in the export", table.name);
            }
            *filled.entry(table.name).or_insert(0) += stored;
            for mention in table.mentions {
                let (_, values) = rows(db, &person, table, mention.of).await;
                for value in values {
                    let json = Value::from(value.as_str()).to_string();
                    assert!(text.contains(&json), "{name}: {value} of {} is not in the export", table.name);
                }
            }
        }
    }
    let empty: Vec<_> = filled.iter().filter(|(_, rows)| **rows == 0).map(|(table, _)| *table).collect();
    assert_eq!(empty, ["account", "account_link", "client_refusal"], "nobody has rows there, so nothing was tested");
}

#[tokio::test]
async fn no_secret_is_shown() {
    let app = TestApp::start(|_| {}).await;
    let busy = busy(&app).await;
    let answer = busy.owner.get("/api/privacy/access").await.expect(200);
    assert_eq!(answer.header("content-type"), "application/json; charset=utf-8");
    let text = String::from_utf8(answer.bytes).unwrap();
    let token = busy.links[0].split('/').nth(3).unwrap();
    for secret in [busy.owner.token(), token, busy.tokens["refresh_token"].as_str().unwrap()] {
        assert!(!text.contains(secret), "{secret}");
    }
    let names: BTreeSet<&str> = text.split('"').collect();
    for hidden in ["passwordHash", "refreshToken", "sealedToken", "tokenHash", "idempotencyKey"] {
        assert!(!names.contains(hidden), "{hidden}");
    }
    assert!(text.contains("\"grantStored\":true"));
}

#[tokio::test]
async fn what_others_stored_is_left_out() {
    let app = TestApp::start(|_| {}).await;
    let busy = busy(&app).await;
    let text = String::from_utf8(busy.owner.get("/api/privacy/access").await.expect(200).bytes).unwrap();
    let stranger = Named::find(&app.service.db, "demo-stranger").await.user;
    assert!(!text.contains(&stranger.id.to_string()) && !text.contains("demo-stranger"));
    let notes = busy.stranger.listed(&format!("/api/properties/{}/annotations", busy.elsewhere)).await;
    let seen: Vec<bool> = notes.iter().map(|note| text.contains(note["id"].as_str().unwrap())).collect();
    assert_eq!(seen.iter().filter(|seen| **seen).count(), 1, "the person's own note, and not the stranger's");
}

#[tokio::test]
async fn an_export_is_a_schema_of_the_document_and_opens_with_a_session() {
    let app = TestApp::start(|_| {}).await;
    assert!(DOCUMENT["components"]["schemas"]["PersonalData"]["required"].as_array().unwrap().len() > 15);
    let browser = Browser::signed_in(&app, "viewer").await;
    let page = browser.get("/api/privacy/access").await;
    assert_eq!(page.status, 200);
    let data: Value = serde_json::from_str(&page.body).unwrap();
    assert_eq!(data["data"]["profile"]["email"], "viewer@demo.test");
    assert!(data["data"]["sessions"][0]["userAgent"].as_str().unwrap().contains("Firefox"));
}
