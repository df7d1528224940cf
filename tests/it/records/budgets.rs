//! Tests of the size limits of saved conditions: of one record, and of all records of a kind.

use entity::{annotation, classification, filter_preset, property};
use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use serde_json::{Value, json};
use uuid::Uuid;

use super::lifecycle::kinds;
use crate::support::{
    actor::Actor,
    app::{TestApp, start_of_test},
};

/// A kind of record that contains conditions.
struct Conditional {
    list: String,
    /// The field of the conditions.
    field: &'static str,
}

impl Conditional {
    fn all(property: &str) -> impl Iterator<Item = Self> {
        kinds(property).into_iter().filter_map(|kind| Some(Self { field: kind.conditions()?, list: kind.list }))
    }

    /// A record of 50 conditions whose values have this many letters.
    fn body(&self, name: &str, letters: usize, letter: &str) -> Value {
        let mut condition = json!({ "operator": "contains", "value": letter.repeat(letters) });
        if self.field == "filters" {
            condition["dimension"] = "page".into();
        }
        json!({ "name": name, self.field: vec![condition; 50] })
    }

    async fn refused(&self, actor: &Actor, path: &str, body: &Value, limit: &str) {
        let answer = if path == self.list { actor.post(path, body).await } else { actor.put(path, body).await };
        let answer = answer.expect(400);
        assert_eq!(answer.code(), "invalid_request", "{path}");
        let hint = answer.hint();
        assert!(hint.starts_with(&format!("{}: ", self.field)) && hint.contains(limit), "{path}: {hint}");
    }
}

#[tokio::test]
async fn the_conditions_of_a_record_take_at_most_60_000_bytes() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for kind in Conditional::all(&owner.property("northmoor").await) {
        // Letters of two bytes: the limit counts bytes, not characters.
        let (fits, large) = (kind.body("fits", 550, "ж"), kind.body("large", 600, "ж"));
        kind.refused(&owner, &kind.list, &large, "60,000 bytes").await;
        let id = owner.made(&kind.list, &fits).await;
        let before = owner.listed(&kind.list).await;
        kind.refused(&owner, &format!("{}/{id}", kind.list), &large, "60,000 bytes").await;
        assert_eq!(owner.listed(&kind.list).await, before);
    }
}

/// Inserts 69 records of each kind directly into the database, with 60,000 bytes of conditions each.
async fn fill(app: &TestApp, property_id: Uuid) {
    let (db, now) = (&app.service.db, start_of_test());
    let user_id = property::Entity::find_by_id(property_id).one(db).await.unwrap().unwrap().user_id;
    let conditions = |dimension: &str| {
        let json = |value: String| format!(r#"[{{{dimension}"operator":"contains","value":"{value}"}}]"#);
        json("a".repeat(60_000 - json(String::new()).len()))
    };
    let (saved, filters) = (conditions(""), conditions(r#""dimension":"page","#));
    for n in 1..=69 {
        let (id, name) = (Uuid::from_u128(n), format!("n{n}"));
        for (kind, more) in [(classification::Kind::Segment, 0), (classification::Kind::TopicCluster, 100)] {
            let row = classification::Model {
                id: Uuid::from_u128(n + more),
                property_id,
                created_by: None,
                kind,
                name: name.clone(),
                name_key: name.clone(),
                color: None,
                conditions: saved.clone(),
                created_at: now,
                updated_at: now,
            };
            row.into_active_model().reset_all().insert(db).await.unwrap();
        }
        let (name_key, filters) = (name.clone(), filters.clone());
        let row = filter_preset::Model { id, user_id, name, name_key, filters, created_at: now, updated_at: now };
        row.into_active_model().reset_all().insert(db).await.unwrap();
    }
}

#[tokio::test]
async fn the_conditions_of_a_kind_take_at_most_4_mib_together() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    fill(&app, property.parse().unwrap()).await;
    for kind in Conditional::all(&property) {
        let id = owner.made(&kind.list, &kind.body("last", 900, "a")).await;
        let (path, small) = (format!("{}/{id}", kind.list), kind.body("small", 200, "a"));
        kind.refused(&owner, &kind.list, &small, "4 MiB").await;
        // A replacement counts the new size instead of the old one.
        owner.put(&path, &kind.body("last", 950, "a")).await.expect(200);
        kind.refused(&owner, &path, &kind.body("last", 1_130, "a"), "4 MiB").await;
        owner.put(&path, &kind.body("last", 600, "a")).await.expect(200);
        owner.post(&kind.list, &small).await.expect(201);
        owner.delete(&path).await.expect(204);
        owner.post(&kind.list, &kind.body("instead", 600, "a")).await.expect(201);
    }
    // The limit applies to each property separately.
    let other = owner.property("ledgerline").await;
    for kind in Conditional::all(&other).take(2) {
        owner.made(&kind.list, &kind.body("elsewhere", 1_000, "a")).await;
    }
}

#[tokio::test]
async fn the_texts_of_annotations_take_at_most_4_mib_together() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let path = format!("/api/properties/{property}/annotations");
    let now = start_of_test();
    // Inserts 524 texts of 8,000 bytes directly into the database.
    for n in 1..=524 {
        let row = annotation::Model {
            id: Uuid::from_u128(n),
            property_id: property.parse().unwrap(),
            author_id: None,
            date: now.date_naive(),
            end_date: None,
            text: "\u{1f980}".repeat(2_000),
            category: None,
            created_at: now,
            updated_at: now,
        };
        row.into_active_model().reset_all().insert(&app.service.db).await.unwrap();
    }
    let body = |text: &str| json!({ "date": "2026-11-01", "text": text });
    let (small, large) = (body("small"), body(&"x".repeat(2_000)));
    let id = owner.made(&path, &small).await;
    owner.made(&path, &body(&"x".repeat(2_000))).await;
    for answer in [owner.post(&path, &large).await, owner.put(&format!("{path}/{id}"), &large).await] {
        let answer = answer.expect(400);
        assert!(answer.hint().starts_with("text: ") && answer.hint().contains("4 MiB"), "{}", answer.hint());
    }
    owner.put(&format!("{path}/{id}"), &body("less")).await.expect(200);
}
