//! Tests of requests that begin before a deletion and end after it.

use serde_json::Value;
use sightline::app::http_client;

use super::{Named, delete};
use crate::{
    account::applications::{connected, registered},
    search_accounts::exchanges::{Engine, callback},
    support::{app::TestApp, browser::Browser, whole::Whole as _},
};

/// Repetitions of a race.
const ROUNDS: usize = 5;

#[tokio::test]
async fn a_grant_that_is_given_while_the_person_leaves_is_revoked() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let (db, viewer) = (&app.service.db, app.actor("viewer").await);
    viewer.get("/api/tags").await.expect(200);
    let named = Named::find(db, "demo-viewer").await;
    let browser = Browser::signed_in(&app.service.base_url, "viewer").await;
    engine.holds(true);
    let path = callback(&browser.leave(&[]).await, "code=4/0A");
    let coming_back = tokio::spawn(async move { browser.get(&path).await });
    while engine.seen("/userinfo") == 0 {
        tokio::task::yield_now().await;
    }
    delete(&viewer).await.expect(204);
    engine.holds(false);
    coming_back.await.unwrap();
    assert_eq!(engine.seen("/revoke"), 1, "the grant belongs to nobody");
    assert_eq!(named.places(db).await, Vec::<String>::new());
}

/// Refreshes until it is refused. Returns the status of the refusal.
async fn refreshed_until_refused(base: String, client: String, mut tokens: Value) -> u16 {
    loop {
        let token = tokens["refresh_token"].as_str().unwrap().to_owned();
        let form = [("grant_type", "refresh_token"), ("client_id", &client), ("refresh_token", &token)];
        let answer = http_client().unwrap().post(format!("{base}/oauth/token")).form(&form).send().await.unwrap();
        if answer.status().as_u16() != 200 {
            return answer.status().as_u16();
        }
        tokens = answer.whole_json().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_during_a_deletion_is_refused_plainly() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let client = registered(base, "Probe").await;
    for _ in 0..ROUNDS {
        let owner = app.actor("editor").await;
        owner.get("/api/tags").await.expect(200);
        let named = Named::find(&app.service.db, "demo-editor").await;
        let mut renewing = Vec::new();
        for _ in 0..4 {
            let tokens = connected(base, &client, "editor").await;
            renewing.push(tokio::spawn(refreshed_until_refused(base.clone(), client.clone(), tokens)));
        }
        delete(&owner).await.expect(204);
        for refused in renewing {
            assert_eq!(refused.await.unwrap(), 400);
        }
        assert_eq!(named.places(&app.service.db).await, Vec::<String>::new());
        app.hand.advance(chrono::TimeDelta::seconds(1));
    }
}
