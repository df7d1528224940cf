//! Tests that the stored responses of one person have limited bytes and rows.

use chrono::TimeDelta;
use entity::{replay, user};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};
use serde_json::json;
use sightline::config::Bytes;
use uuid::Uuid;

use super::{assert_replay, keyed, replayed};
use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, start_of_test},
};

const TAGS: &str = "/api/tags";

async fn tag(actor: &Actor, name: &str) -> Answer {
    keyed(actor, TAGS, name, &json!({ "name": name })).await
}

fn storage(answer: &Answer) -> &str {
    answer.header("idempotency-storage")
}

#[tokio::test]
async fn beyond_the_bytes_of_a_person_an_answer_is_given_and_not_kept() {
    let app = TestApp::start(|config| config.idempotency.max_bytes_per_user = Bytes(2_000)).await;
    let (owner, stranger) = (app.actor("owner").await, app.actor("stranger").await);
    let first = tag(&owner, "n0").await.expect(201);
    let mut made = 1;
    let unkept = loop {
        let answer = tag(&owner, &format!("n{made}")).await.expect(201);
        assert_eq!(replayed(&answer), "false");
        if !storage(&answer).is_empty() {
            break answer;
        }
        made += 1;
        assert!(made < 20, "nothing bounds what is kept");
    };
    assert_eq!(storage(&unkept), "unavailable");
    assert!(made > 2, "{made}");
    assert_eq!(owner.listed(TAGS).await.len(), made + 1, "it was written nevertheless");
    // A stored response is replayed. Without one, the write runs again.
    assert_replay(&tag(&owner, "n0").await, &first, "kept");
    let again = tag(&owner, &format!("n{made}")).await.expect(400);
    assert_eq!((replayed(&again), storage(&again)), ("false", "unavailable"));
    let kept: i64 =
        replay::Entity::find().all(&app.service.db).await.unwrap().iter().map(|row| i64::from(row.size)).sum();
    assert!((1_000..=2_000).contains(&kept), "{kept}");
    // Each person has a separate budget.
    assert_eq!(storage(&tag(&stranger, "theirs").await.expect(201)), "");
    // An expired response takes no space.
    app.hand.advance(TimeDelta::hours(25));
    let owner = app.actor("owner").await;
    let later = tag(&owner, "later").await.expect(201);
    assert_eq!(storage(&later), "");
    assert_replay(&tag(&owner, "later").await, &later, "room again");
}

#[tokio::test]
async fn a_person_has_at_most_5_000_kept_answers() {
    let app = TestApp::start(|_| {}).await;
    let (db, now, owner) = (&app.service.db, start_of_test(), app.actor("owner").await);
    let named = user::Column::EmailKey.eq("owner@demo.test");
    let user_id = user::Entity::find().filter(named).one(db).await.unwrap().unwrap().id;
    let row = |n: u128| replay::Model {
        id: Uuid::from_u128(n + 1),
        user_id,
        method: "POST".into(),
        path: TAGS.into(),
        idempotency_key: format!("{n}"),
        request_hash: vec![0],
        status: 201,
        content_type: None,
        location: None,
        etag: None,
        body: vec![0],
        size: 1,
        api_version: api::VERSION.to_owned(),
        created_at: now,
        expires_at: now + TimeDelta::hours(24),
    };
    let rows: Vec<_> = (0..4_999).map(row).map(|row| row.into_active_model().reset_all()).collect();
    for rows in rows.chunks(500) {
        replay::Entity::insert_many(rows.to_vec()).exec_without_returning(db).await.unwrap();
    }
    assert_eq!(storage(&tag(&owner, "the last").await.expect(201)), "");
    assert_eq!(storage(&tag(&owner, "one more").await.expect(201)), "unavailable");
    assert_eq!(replay::Entity::find().count(db).await.unwrap(), 5_000);
}
