//! Tests that faults get the usual response and leave the key unchanged, and that stored responses are encrypted.

use entity::replay;
use sea_orm::{ColumnTrait as _, ConnectionTrait as _, EntityTrait as _, QueryFilter as _, sea_query::Expr};
use serde_json::json;

use super::{assert_replay, keyed, replayed};
use crate::support::app::TestApp;

#[tokio::test]
async fn a_fault_is_not_kept_and_tells_nothing_of_the_inside() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let db = &app.service.db;
    let body = json!({ "name": "Patience" });
    db.execute_unprepared("ALTER TABLE tag RENAME TO tag_away").await.unwrap();
    for _ in 0..2 {
        let fault = keyed(&owner, "/api/tags", "fault", &body).await.expect(500);
        assert_eq!(replayed(&fault), "false");
        assert_eq!(fault.json["error"], "An unexpected error occurred.");
        assert_eq!(fault.json["correlationId"], fault.header("x-correlation-id"), "{}", fault.json);
        assert_eq!(fault.hint(), "");
    }
    db.execute_unprepared("ALTER TABLE tag_away RENAME TO tag").await.unwrap();
    let first = keyed(&owner, "/api/tags", "fault", &body).await.expect(201);
    assert_eq!(replayed(&first), "false");
    assert_replay(&keyed(&owner, "/api/tags", "fault", &body).await, &first, "once it works");
}

#[tokio::test]
async fn the_token_of_a_share_link_is_stored_encrypted() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/share-links", owner.property("northmoor").await);
    let made = keyed(&owner, &path, "link", &json!({ "name": "Board" })).await.expect(201);
    let token = made.json["data"]["token"].as_str().unwrap().to_owned();
    let rows = replay::Entity::find().all(&app.service.db).await.unwrap();
    assert_eq!(rows.len(), 1);
    let body = String::from_utf8_lossy(&rows[0].body).into_owned();
    assert!(!body.contains(&token), "{body}");
    assert_replay(&keyed(&owner, &path, "link", &json!({ "name": "Board" })).await, &made, "the link");
}

/// Nobody who can write the database can swap the answers of two requests.
#[tokio::test]
async fn stored_answers_that_are_swapped_open_nothing() {
    let app = TestApp::start(|_| {}).await;
    let (owner, db) = (app.actor("owner").await, &app.service.db);
    for key in ["one", "two"] {
        keyed(&owner, "/api/tags", key, &json!({ "name": key })).await.expect(201);
    }
    let [first, second] = replay::Entity::find().all(db).await.unwrap().try_into().unwrap();
    for (row, body) in [(&first, &second.body), (&second, &first.body)] {
        let swap = replay::Entity::update_many().col_expr(replay::Column::Body, Expr::value(body.clone()));
        swap.filter(replay::Column::Id.eq(row.id)).exec(db).await.unwrap();
    }
    for key in ["one", "two"] {
        keyed(&owner, "/api/tags", key, &json!({ "name": key })).await.expect(500);
    }
}
