//! Tests of the maximum number of records of each kind.

use entity::{
    annotation,
    classification::{self, Kind},
    filter_preset, property, property_tag, share_link, tag, team_grant,
};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, IntoActiveModel};
use serde_json::json;
use uuid::Uuid;

use super::{contains, limits::Desk};
use crate::races::Processes;

/// The id of the first topic cluster inserted. Segments are in the same table, with ids from 1.
const FIRST_CLUSTER: u128 = 1_001;

fn unique(n: u128) -> (Uuid, String) {
    (Uuid::from_u128(n + 1), format!("n{n}"))
}

/// Inserts this many rows into a table, each with an id and a name.
macro_rules! fill {
    ($db:expr, $table:ident, $count:expr, $row:expr) => {{
        let row = $row;
        let rows: Vec<_> = (0..$count).map(|n| row(unique(n))).map($table::Model::into_active_model).collect();
        for rows in rows.chunks(500) {
            let sent = rows.to_vec().into_iter().map(|row| row.reset_all());
            $table::Entity::insert_many(sent).exec_without_returning($db).await.unwrap();
        }
    }};
}

/// Creates the maximum number of records of each kind for a property.
async fn fill_property(desk: &Desk) {
    let (db, now) = (&desk.app.service.db, crate::support::app::start_of_test());
    let property_id: Uuid = desk.property.parse().unwrap();
    let conditions = json!([contains("a")]).to_string();
    let kept = async |path: &str| desk.owner.listed(path).await.len() as u128;
    for (kind, path, first) in [(Kind::Segment, "segments", 1), (Kind::TopicCluster, "topic-clusters", FIRST_CLUSTER)] {
        let present = kept(&desk.of(path)).await;
        fill!(db, classification, 500 - present, |(id, name): (Uuid, String)| classification::Model {
            id: Uuid::from_u128(id.as_u128() - 1 + first),
            property_id,
            created_by: None,
            kind,
            name_key: name.clone(),
            name,
            color: None,
            conditions: conditions.clone(),
            created_at: now,
            updated_at: now,
        });
    }
    fill_annotations(desk, 5_000).await;
    fill_links(desk, 100).await;
}

async fn fill_links(desk: &Desk, count: u128) {
    let (db, now) = (&desk.app.service.db, crate::support::app::start_of_test());
    let property_id: Uuid = desk.property.parse().unwrap();
    fill!(db, share_link, count, |(id, name): (Uuid, String)| share_link::Model {
        id,
        property_id,
        created_by: None,
        grant_id: None,
        token_hash: name.clone().into_bytes(),
        sealed_token: vec![0],
        name: Some(name),
        first_day: None,
        last_day: None,
        filters: None,
        classification: None,
        pinned: None,
        shows_queries: true,
        shows_pages: true,
        shows_notes: true,
        expires_at: None,
        revoked_at: None,
        created_at: now,
    });
}

async fn fill_annotations(desk: &Desk, count: u128) {
    let (db, now) = (&desk.app.service.db, crate::support::app::start_of_test());
    let property_id: Uuid = desk.property.parse().unwrap();
    fill!(db, annotation, count, |(id, text)| annotation::Model {
        id,
        property_id,
        author_id: None,
        date: now.date_naive(),
        end_date: None,
        text,
        category: None,
        created_at: now,
        updated_at: now,
    });
}

/// Creates the maximum number of records of each kind for a person.
async fn fill_person(desk: &Desk) {
    let (db, now) = (&desk.app.service.db, crate::support::app::start_of_test());
    let property = entity::property::Entity::find_by_id(desk.property.parse::<Uuid>().unwrap()).one(db).await;
    let owner_id = property.unwrap().unwrap().user_id;
    let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]).to_string();
    fill!(db, filter_preset, 500, |(id, name): (Uuid, String)| filter_preset::Model {
        id,
        user_id: owner_id,
        name_key: name.clone(),
        name,
        filters: filters.clone(),
        created_at: now,
        updated_at: now,
    });
    let grants = desk.owner.listed("/api/team").await.len() as u128;
    fill!(db, team_grant, 500 - grants, |(id, email): (Uuid, String)| team_grant::Model {
        id,
        owner_id,
        email_key: email.clone(),
        email,
        role: team_grant::Role::Viewer,
        all_properties: true,
        accepted_at: None,
        created_at: now,
        updated_at: now,
    });
    fill!(db, tag, 10_000, |(id, name): (Uuid, String)| tag::Model {
        id,
        user_id: owner_id,
        name_key: name.clone(),
        position: i32::try_from(id.as_u128()).unwrap() - 1,
        name,
        created_at: now,
        updated_at: now,
    });
}

/// Annotations are not counted at each write, and their number is exact all the same.
#[tokio::test]
async fn the_last_annotation_that_fits_is_the_five_thousandth() {
    let desk = Desk::new().await;
    fill_annotations(&desk, 4_997).await;
    let (path, body) = (desk.of("annotations"), json!({ "date": "2026-11-01", "text": "x" }));
    for _ in 0..3 {
        desk.owner.made(&path, &body).await;
    }
    desk.refused(&path, &body, "body").await;
    desk.owner.delete(&format!("{path}/{}", Uuid::from_u128(1))).await.expect(204);
    desk.owner.made(&path, &body).await;
    desk.refused(&path, &body, "body").await;
}

#[tokio::test]
async fn each_kind_of_record_has_its_most() {
    let desk = Desk::new().await;
    let (db, now) = (&desk.app.service.db, crate::support::app::start_of_test());
    fill_property(&desk).await;
    fill_person(&desk).await;
    let annotation = json!({ "date": "2026-11-01", "text": "x" });
    let grant = json!({ "email": "x@elsewhere.test", "role": "viewer", "allProperties": true });
    let others = [(desk.of("annotations"), annotation), ("/api/team".into(), grant)];
    for (path, body) in desk.named("x").into_iter().chain(others) {
        desk.refused(&path, &body, "body").await;
        let id = Uuid::from_u128(if path.ends_with("topic-clusters") { FIRST_CLUSTER } else { 1 });
        desk.owner.delete(&format!("{path}/{id}")).await.expect(204);
        desk.owner.made(&path, &body).await;
    }
    // Links that are not active do not count. Links that were inserted directly cannot be shown.
    desk.refused(&desk.of("share-links"), &json!({}), "body").await;
    let mut expired =
        share_link::Entity::find_by_id(Uuid::from_u128(1)).one(db).await.unwrap().unwrap().into_active_model();
    expired.expires_at = Set(Some(now));
    expired.update(db).await.unwrap();
    desk.owner.made(&desk.of("share-links"), &json!({})).await;
    desk.refused(&desk.of("share-links"), &json!({}), "body").await;
}

#[tokio::test]
async fn a_tag_is_on_a_thousand_properties_at_most() {
    let desk = Desk::new().await;
    let db = &desk.app.service.db;
    let tag = desk.owner.made("/api/tags", &json!({ "name": "everywhere" })).await;
    let tag_id: Uuid = tag.parse().unwrap();
    let own = property::Entity::find_by_id(desk.property.parse::<Uuid>().unwrap()).one(db).await.unwrap().unwrap();
    let untracked = property::Model { tracked: false, tracked_at: None, ..own };
    fill!(db, property, 999, |(id, site_url)| property::Model { id, site_url, ..untracked.clone() });
    fill!(db, property_tag, 999, |(property_id, _)| property_tag::Model { tag_id, property_id });
    let ledgerline = desk.owner.property("ledgerline").await;
    let (body, there) = (json!({ "tagIds": [tag_id] }), format!("/api/properties/{ledgerline}/tags"));
    for _ in 0..2 {
        desk.owner.post(&desk.of("tags"), &body).await.expect(200);
        let refused = desk.owner.post(&there, &body).await.expect(400);
        assert_eq!(refused.hint(), format!("tagIds: {tag_id} is already on 1000 properties, the maximum"));
    }
    desk.owner.post(&desk.of("tags"), &json!({ "tagIds": [] })).await.expect(200);
    desk.owner.post(&there, &body).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_records_at_once_one_takes_the_last_place() {
    let Desk { app, owner, property } = Desk::new().await;
    let desk = Desk { app, owner: owner.clone(), property };
    fill_links(&desk, 99).await;
    fill_annotations(&desk, 5_000 - 1).await;
    let (links, annotations) = (desk.of("share-links"), desk.of("annotations"));
    let processes = Processes::of(desk.app).await;
    for (path, body) in [(links, json!({})), (annotations, json!({ "date": "2026-11-01", "text": "x" }))] {
        assert_eq!(processes.made(&owner, &path, &body, "body").await, 1, "{path}");
    }
}
