//! Tests of the names of authors: who made a record, as the people of its property see it.

use entity::user;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use serde_json::{Value, json};

use super::{contains, grant_of};
use crate::support::{actor::Actor, app::TestApp};

/// A property on which the owner and the editor may write, and the viewer may read.
struct Shared {
    app: TestApp,
    owner: Actor,
    editor: Actor,
    viewer: Actor,
    property: String,
}

impl Shared {
    async fn new() -> Self {
        let app = TestApp::start(|_| {}).await;
        let (owner, editor, viewer) = (app.actor("owner").await, app.actor("editor").await, app.actor("viewer").await);
        let property = owner.property("northmoor").await;
        Self { app, owner, editor, viewer, property }
    }

    fn of(&self, part: &str) -> String {
        format!("/api/properties/{}/{part}", self.property)
    }

    /// The kinds of records that an editor writes, each with the body of a record.
    fn kinds(&self, name: &str) -> [(String, Value); 3] {
        let rule = json!({ "name": name, "conditions": [contains("a")] });
        let note = json!({ "date": "2026-11-01", "text": name });
        [(self.of("segments"), rule.clone()), (self.of("topic-clusters"), rule), (self.of("annotations"), note)]
    }

    /// The record of a list as the viewer sees it.
    async fn seen(&self, list: &str, id: &str) -> Value {
        let listed = self.viewer.listed(list).await;
        listed.into_iter().find(|record| record["id"] == id).unwrap()
    }

    /// Changes the stored record of the editor.
    async fn change_editor(&self, change: impl FnOnce(&mut user::ActiveModel)) {
        let db = &self.app.service.db;
        let named = user::Column::EmailKey.eq("editor@demo.test");
        let mut row = user::Entity::find().filter(named).one(db).await.unwrap().unwrap().into_active_model();
        change(&mut row);
        row.update(db).await.unwrap();
    }
}

#[tokio::test]
async fn every_reader_of_a_record_sees_its_author() {
    let shared = Shared::new().await;
    for (author, name) in [(&shared.owner, "Demo Owner"), (&shared.editor, "Demo Editor")] {
        for (list, body) in shared.kinds(name) {
            let made = author.post(&list, &body).await.expect(201).json["data"].clone();
            assert_eq!(made["createdBy"], name, "{list}");
            assert_eq!(shared.seen(&list, made["id"].as_str().unwrap()).await, made);
        }
    }
    let link = shared.owner.post(&shared.of("share-links"), &json!({})).await.expect(201).json["data"].clone();
    assert_eq!(link["createdBy"], "Demo Owner");
    assert_eq!(shared.seen(&shared.of("share-links"), link["id"].as_str().unwrap()).await["createdBy"], "Demo Owner");
}

#[tokio::test]
async fn a_change_keeps_the_author_of_a_record() {
    let shared = Shared::new().await;
    for (list, body) in shared.kinds("Made by the editor") {
        let id = shared.editor.made(&list, &body).await;
        let changed = shared.owner.put(&format!("{list}/{id}"), &body).await.expect(200);
        assert_eq!(changed.json["data"]["createdBy"], "Demo Editor", "{list}");
        assert_eq!(shared.seen(&list, &id).await["createdBy"], "Demo Editor", "{list}");
    }
}

#[tokio::test]
async fn an_author_without_a_name_is_known_by_a_verified_address_or_not_at_all() {
    let shared = Shared::new().await;
    let list = shared.of("segments");
    let id = shared.editor.made(&list, &json!({ "name": "Named", "conditions": [contains("a")] })).await;
    shared.change_editor(|row| row.name = Set(None)).await;
    assert_eq!(shared.seen(&list, &id).await["createdBy"], "editor@demo.test");
    shared.change_editor(|row| row.email_verified = Set(false)).await;
    assert_eq!(shared.seen(&list, &id).await.get("createdBy"), None);
}

#[tokio::test]
async fn an_author_keeps_the_name_without_a_grant_and_loses_it_by_leaving() {
    let shared = Shared::new().await;
    let mut made = Vec::new();
    for (list, body) in shared.kinds("Made by the editor") {
        made.push((list.clone(), shared.editor.made(&list, &body).await));
    }
    let grant = grant_of(&shared.owner, "editor@demo.test").await["id"].as_str().unwrap().to_owned();
    shared.owner.delete(&format!("/api/team/{grant}")).await.expect(204);
    for (list, id) in &made {
        assert_eq!(shared.seen(list, id).await["createdBy"], "Demo Editor", "{list}");
    }
    shared.editor.send(poem::http::Method::POST, "/api/privacy/delete", None, &[]).await.expect(204);
    for (list, id) in &made {
        assert_eq!(shared.seen(list, id).await.get("createdBy"), None, "{list}");
    }
}

#[tokio::test]
async fn system_annotations_have_no_author() {
    let shared = Shared::new().await;
    let answer = shared.viewer.get(&shared.of("annotations?includeSystem=true")).await.expect(200);
    let system: Vec<&Value> =
        answer.json["data"].as_array().unwrap().iter().filter(|note| note["source"] == "system").collect();
    assert!(!system.is_empty() && system.iter().all(|note| note.get("createdBy").is_none()));
}
