//! Tests of a wall clock that is set back or forward, as at the end of a machine's sleep or by a time server. Nobody is kept out for longer than
//! the interval that keeps them, nothing lives longer than promised, and nothing happens twice. The issuer has tests of its own.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use simulator::Endpoint;
use tokio::time::timeout;

use crate::{
    analytics::performance::{Asker, SMALL},
    faults::{impatient, trouble},
    idempotency::{keyed, replayed},
    support::{actor::Actor, app::TestApp, browser::Browser},
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

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-10-01"), ("endDate", "2026-10-03")];

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
        for before in [TimeDelta::zero(), TimeDelta::hours(5)] {
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
        app.hand.set(jump);
        let before = queries(&app);
        // An hour, and what a small jump takes back.
        app.hand.advance(TimeDelta::hours(1) + (-jump).min(TimeDelta::minutes(10)));
        let asker = anew(&app, &asker).await;
        let read_again = async {
            while queries(&app) == before {
                asker.actor.get("/api/properties").await.expect(200);
            }
        };
        assert!(timeout(Duration::from_secs(30), read_again).await.is_ok(), "{name}: not read in the background");
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
        app.hand.set(jump);
        // The pause is a minute, and longer by what a small jump takes back.
        app.hand.advance(TimeDelta::seconds(62));
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
        app.hand.set(jump);
        app.hand.advance(TimeDelta::seconds(1));
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

/// The path of a link that ends ten minutes after the start of the test.
async fn open_link(owner: &Actor) -> String {
    let property = owner.property("northmoor").await;
    let ends = json!({ "expiresAt": "2026-11-21T12:10:00Z" });
    let made = owner.post(&format!("/api/properties/{property}/share-links"), &ends).await.expect(201);
    format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap())
}

#[tokio::test]
async fn questions_end_on_the_search_engines_day_where_days_have_23_or_25_hours_and_in_leap_years() {
    let app = TestApp::start(|_| {}).await;
    for (now, today) in [
        ("2027-03-14T07:59:59Z", "2027-03-13"),
        ("2027-03-14T08:00:00Z", "2027-03-14"),
        ("2027-03-14T10:00:00Z", "2027-03-14"),
        ("2027-03-15T06:59:59Z", "2027-03-14"),
        ("2027-03-15T07:00:00Z", "2027-03-15"),
        ("2026-11-01T06:59:59Z", "2026-10-31"),
        ("2026-11-01T07:00:00Z", "2026-11-01"),
        ("2026-11-01T09:30:00Z", "2026-11-01"),
        ("2026-11-02T07:59:59Z", "2026-11-01"),
        ("2026-11-02T08:00:00Z", "2026-11-02"),
        ("2027-03-01T07:59:59Z", "2027-02-28"),
        ("2027-03-01T08:00:00Z", "2027-03-01"),
    ] {
        let now: DateTime<Utc> = now.parse().unwrap();
        app.hand.set(now - app.hand.now());
        let asker = Asker::of(&app, "stranger", SMALL).await;
        let answer = asker.ask(&[("dataState", "all")]).await.expect(200);
        assert_eq!(answer.json["meta"]["window"]["endDate"], today, "{now}: {}", answer.json["meta"]);
    }
}
