//! Tests of a wall clock that is set back or forward, as at the end of a machine's sleep or by a time server. Nobody is kept out for longer than
//! the interval that keeps them, nothing lives longer than promised, and nothing happens twice. The issuer has tests of its own.

use std::time::Duration;

use chrono::TimeDelta;
use entity::user::{Plan, PlanState};
use serde_json::json;
use sightline::services::users::subscriptions::{self, Wanted};
use simulator::Endpoint;
use tokio::time::timeout;

use crate::{
    analytics::performance::{Asker, SMALL},
    faults::{impatient, trouble},
    idempotency::{keyed, replayed},
    privacy::delete,
    support::{
        actor::Actor,
        app::{TestApp, start_of_test},
        browser::Browser,
    },
};

const SECOND: TimeDelta = TimeDelta::seconds(1);

/// Jumps back.
pub const BACK: [(&str, TimeDelta); 3] = [
    ("back 2 s", TimeDelta::seconds(-2)),
    ("back 10 min", TimeDelta::minutes(-10)),
    ("back 2 h", TimeDelta::hours(-2)),
];

/// All jumps.
pub const JUMPS: [(&str, TimeDelta); 4] = [BACK[0], BACK[1], BACK[2], ("forward a day", TimeDelta::days(1))];

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-08-01"), ("endDate", "2026-08-03")];

fn queries(app: &TestApp) -> u64 {
    app.simulator().controls().requests(Endpoint::Query)
}

/// The same person with a token of now.
async fn anew(app: &TestApp, asker: &Asker) -> Asker {
    Asker { actor: app.actor("stranger").await, property: asker.property.clone() }
}

#[tokio::test]
async fn what_was_read_lives_for_six_hours_at_most() {
    let six_hours = TimeDelta::hours(6);
    for (name, jump) in JUMPS {
        for before in [0, 3, 5].map(TimeDelta::hours) {
            let app = TestApp::start(|_| {}).await;
            let asker = Asker::of(&app, "stranger", SMALL).await;
            asker.ask(&WINDOW).await.expect(200);
            app.hand.advance(before);
            app.hand.set(jump);
            app.hand.advance(six_hours - before);
            let (asker, before_it) = (anew(&app, &asker).await, queries(&app));
            asker.ask(&WINDOW).await.expect(200);
            assert!(queries(&app) >= before_it + 2, "{name} after {before}: the days and the freshness are read anew");
        }
    }
}

#[tokio::test]
async fn recent_days_are_read_again_within_an_hour() {
    for (name, jump) in BACK {
        let app = TestApp::start(|_| {}).await;
        let asker = Asker::of(&app, "stranger", SMALL).await;
        asker.actor.get("/api/properties").await.expect(200);
        app.hand.advance(TimeDelta::minutes(30));
        app.hand.set(jump);
        app.hand.advance(TimeDelta::minutes(30));
        let asker = anew(&app, &asker).await;
        app.simulator().controls().hold("startDate");
        asker.actor.get("/api/properties").await.expect(200);
        let read_again = app.simulator().controls().wait_until_held(1);
        assert!(timeout(Duration::from_secs(30), read_again).await.is_ok(), "{name}: not read in the background");
        app.simulator().controls().release();
    }
}

#[tokio::test]
async fn a_refused_site_is_asked_about_again_after_its_pause() {
    for (name, jump) in BACK {
        let app = TestApp::start(impatient).await;
        let asker = Asker::of(&app, "stranger", SMALL).await;
        trouble(&app, &["permission403:1"]);
        asker.ask(&WINDOW).await.expect(409);
        trouble(&app, &[]);
        // The pause is a minute.
        app.hand.advance(TimeDelta::seconds(20));
        app.hand.set(jump);
        app.hand.advance(TimeDelta::seconds(39));
        let refused = anew(&app, &asker).await.ask(&WINDOW).await.expect(409);
        assert_eq!(refused.header("retry-after"), "1", "{name}");
        app.hand.advance(SECOND);
        let answer = anew(&app, &asker).await.ask(&WINDOW).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.json);
    }
}

#[tokio::test]
async fn health_is_checked_again_after_the_clock_is_set_back() {
    for (name, jump) in BACK {
        let app = TestApp::start(|_| {}).await;
        let status = async || app.anonymous().get("/api/health").await.expect(200).json["data"]["status"].clone();
        assert_eq!(status().await, "ok");
        trouble(&app, &["error500:1"]);
        app.hand.advance(SECOND);
        app.hand.set(jump);
        app.hand.advance(SECOND);
        assert_eq!(status().await, "degraded", "{name}");
    }
}

#[tokio::test]
async fn a_keyed_write_is_made_once_although_the_clock_is_set_back() {
    for (name, jump) in BACK {
        let app = TestApp::start(|_| {}).await;
        let body = json!({ "name": "Once" });
        let first = keyed(&app.actor("owner").await, "/api/tags", "key", &body).await.expect(201);
        app.hand.set(jump);
        for later in [TimeDelta::zero(), TimeDelta::hours(24) - SECOND] {
            app.hand.advance(later);
            let owner = app.actor("owner").await;
            let again = keyed(&owner, "/api/tags", "key", &body).await.expect(201);
            assert_eq!((replayed(&again), &again.bytes), ("true", &first.bytes), "{name} after {later}");
            let tags = owner.listed("/api/tags").await;
            assert_eq!(tags.iter().filter(|tag| tag["name"] == "Once").count(), 1, "{name} after {later}");
            app.service.sweep().await;
        }
    }
}

#[tokio::test]
async fn people_who_are_signed_in_go_on_and_others_sign_in() {
    for (name, jump) in JUMPS {
        let app = TestApp::start(|_| {}).await;
        let browser = Browser::signed_in(&app.service.base_url, "owner").await;
        let link = open_link(&app.actor("owner").await).await;
        app.hand.set(jump);
        app.service.sweep().await;
        browser.get("/account").await.expect(200, &[]);
        Browser::signed_in(&app.service.base_url, "viewer").await.get("/account").await.expect(200, &[]);
        app.actor("owner").await.get("/api/tags").await.expect(200);
        let shared = app.anonymous().get(&link).await;
        let is_open = if jump < TimeDelta::zero() { 200 } else { 404 };
        assert_eq!(shared.status, is_open, "{name}: {}", shared.json);
    }
}

#[tokio::test]
async fn what_ends_at_a_stated_time_ends_then_on_the_wall_clock() {
    for (name, jump) in BACK {
        let app = TestApp::start(|_| {}).await;
        let browser = Browser::signed_in(&app.service.base_url, "owner").await;
        let owner = app.actor("owner").await;
        let link = open_link(&owner).await;
        app.hand.set(jump);
        // The link ends after ten minutes, and the session after seven days.
        app.hand.advance(TimeDelta::minutes(10) - jump - SECOND);
        app.anonymous().get(&link).await.expect(200);
        app.hand.advance(SECOND);
        app.anonymous().get(&link).await.expect(404);
        owner.get("/api/tags").await.expect(200);
        app.hand.advance(TimeDelta::days(7) - TimeDelta::minutes(10));
        assert_eq!(browser.get("/account").await.status, 303, "{name}");
        owner.get("/api/tags").await.expect(401);
    }
}

#[tokio::test]
async fn a_trial_ends_at_its_stated_time_on_the_wall_clock() {
    for (name, jump) in BACK {
        let app = TestApp::start(|_| {}).await;
        let end = start_of_test() + TimeDelta::days(3);
        let trial = Wanted { plan: Plan::Pro, state: PlanState::Trialing, until: Some(end) };
        subscriptions::set(&app.service.db, "demo-owner", trial, start_of_test()).await.unwrap();
        app.hand.advance(TimeDelta::days(1));
        app.hand.set(jump);
        let status = async || {
            let owner = app.actor("owner").await;
            owner.get("/api/billing/summary").await.expect(200).json["data"]["status"].clone()
        };
        app.hand.advance(end - app.hand.now() - SECOND);
        assert_eq!(status().await, "trialing", "{name}");
        app.hand.advance(SECOND);
        assert_eq!(status().await, "none", "{name}");
    }
}

/// A sign-in counts if it is of a later second than the deletion, on the wall clock.
#[tokio::test]
async fn a_deleted_account_stays_deleted_and_its_person_begins_again() {
    for (name, jump) in JUMPS {
        let app = TestApp::start(|_| {}).await;
        let old = app.actor("editor").await;
        old.made("/api/tags", &json!({ "name": "Shops" })).await;
        delete(&old).await.expect(204);
        app.hand.set(jump);
        old.get("/api/tags").await.expect(401);
        app.hand.advance((start_of_test() - app.hand.now()).max(TimeDelta::zero()) + SECOND);
        assert!(app.actor("editor").await.listed("/api/tags").await.is_empty(), "{name}");
        old.get("/api/tags").await.expect(401);
    }
}

/// The path of a link that ends ten minutes after the start of the test.
async fn open_link(owner: &Actor) -> String {
    let property = owner.property("northmoor").await;
    let ends = json!({ "expiresAt": "2026-11-21T12:10:00Z" });
    let made = owner.post(&format!("/api/properties/{property}/share-links"), &ends).await.expect(201);
    format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap())
}
