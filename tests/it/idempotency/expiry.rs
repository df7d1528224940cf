//! Tests that a response is stored for 24 hours.

use chrono::TimeDelta;
use serde_json::json;
use sightline::services::replays;

use super::{assert_replay, enforced, keyed, replayed};
use crate::support::app::{TestApp, start_of_test};

#[tokio::test]
async fn a_key_is_a_new_one_after_a_day_and_not_a_second_sooner() {
    let app = TestApp::start(|_| {}).await;
    let property = app.actor("owner").await.property("northmoor").await;
    let owner = app.actor("owner").await;
    let writes = enforced(&property);
    let mut firsts = Vec::new();
    for write in &writes {
        firsts.push(keyed(&owner, &write.path, "day", &write.named("day")).await.expect(201));
    }
    let refused = keyed(&owner, "/api/tags", "refused", &json!({ "name": "" })).await.expect(400);
    app.hand.advance(TimeDelta::hours(24) - TimeDelta::seconds(1));
    let owner = app.actor("owner").await;
    for (write, first) in writes.iter().zip(&firsts) {
        assert_replay(&keyed(&owner, &write.path, "day", &write.named("day")).await, first, &write.id);
    }
    app.hand.advance(TimeDelta::seconds(1));
    for write in &writes {
        let (id, body) = (&write.id, write.named("next"));
        let anew = keyed(&owner, &write.path, "day", &body).await.expect(201);
        assert_eq!(replayed(&anew), "false", "{id}");
        assert_replay(&keyed(&owner, &write.path, "day", &body).await, &anew, id);
    }
    // A refusal that replaces an expired response is stored as well.
    let anew = keyed(&owner, "/api/tags", "refused", &json!({ "name": 1 })).await.expect(400);
    assert_eq!(replayed(&anew), "false");
    assert_ne!(anew.bytes, refused.bytes);
    assert_replay(&keyed(&owner, "/api/tags", "refused", &json!({ "name": 1 })).await, &anew, "a refusal");
}

#[tokio::test]
async fn what_has_expired_is_swept_and_nothing_else() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let first = keyed(&owner, "/api/tags", "old", &json!({ "name": "Old" })).await.expect(201);
    app.hand.advance(TimeDelta::minutes(1));
    let second = keyed(&owner, "/api/tags", "young", &json!({ "name": "Young" })).await.expect(201);
    let (db, day) = (&app.service.db, start_of_test() + TimeDelta::hours(24));
    assert_eq!(replays::sweep(db, day - TimeDelta::seconds(1)).await.unwrap(), 0);
    assert_replay(&keyed(&owner, "/api/tags", "old", &json!({ "name": "Old" })).await, &first, "before the sweep");
    assert_eq!(replays::sweep(db, day).await.unwrap(), 1);
    let anew = keyed(&owner, "/api/tags", "old", &json!({ "name": "Old" })).await.expect(400);
    assert_eq!(replayed(&anew), "false", "the name is taken: it ran");
    assert_replay(&keyed(&owner, "/api/tags", "young", &json!({ "name": "Young" })).await, &second, "the younger one");
}
