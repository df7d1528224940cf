//! Tests of tokens after their person has left, and of the age beyond which no token is accepted.

use chrono::TimeDelta;
use serde_json::{Value, json};
use sightline::{app::http_client, config::Seconds};

use super::{Named, delete};
use crate::{
    account::{
        applications::{acting, connected, registered},
        external::with_issuer,
    },
    support::{actor::Actor, app::TestApp, signed_in::Browser, whole::Whole as _},
};

#[tokio::test]
async fn a_new_sign_in_starts_afresh_and_no_older_token_comes_with_it() {
    let app = TestApp::start(|_| {}).await;
    let old = app.actor("editor").await;
    old.made("/api/tags", &json!({ "name": "Shops" })).await;
    let before = Named::find(&app.service.db, "demo-editor").await.user;
    delete(&old).await.expect(204);
    let same_second = app.actor("editor").await;
    same_second.get("/api/tags").await.expect(401);

    app.hand.advance(TimeDelta::seconds(1));
    let fresh = app.actor("editor").await;
    assert!(fresh.listed("/api/tags").await.is_empty());
    let after = Named::find(&app.service.db, "demo-editor").await.user;
    assert!(after.id != before.id && after.trial_ends_at.is_none(), "{after:?}");
    for dead in [&old, &same_second] {
        dead.get("/api/tags").await.expect(401);
    }
    fresh.get("/api/tags").await.expect(200);
}

/// The issuer is another service, so this one cannot end its grants.
#[tokio::test]
async fn a_token_of_another_issuer_that_was_refreshed_brings_nobody_back() {
    let issuer = TestApp::start(|_| {}).await;
    let app = with_issuer(&issuer).await;
    let (there, here) = (&issuer.service.base_url, &app.service.base_url);
    let client = registered(there, "Probe").await;
    let tokens = connected(there, &client, "owner").await;
    let browser = Browser::signed_in(&app, "owner").await;
    let old = acting(here, &tokens);
    old.made("/api/tags", &json!({ "name": "Shops" })).await;
    let person = Named::find(&app.service.db, "demo-owner").await;
    delete(&old).await.expect(204);
    browser.get("/account").await.leads_to("/auth/login?return_to=/account");
    for hand in [&issuer.hand, &app.hand] {
        hand.advance(TimeDelta::minutes(5));
    }
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
    ];
    let refreshed = http_client().unwrap().post(format!("{there}/oauth/token")).form(&form).send().await.unwrap();
    let refreshed: Value = refreshed.whole_json().await.unwrap();
    for dead in [&old, &acting(here, &refreshed)] {
        dead.get("/api/tags").await.expect(401);
    }
    assert_eq!(person.places(&app.service.db).await, Vec::<String>::new(), "nobody came back");

    let fresh = acting(here, &connected(there, &client, "owner").await);
    assert!(fresh.listed("/api/tags").await.is_empty());
    acting(here, &refreshed).get("/api/tags").await.expect(401);
    Browser::signed_in(&app, "owner").await.get("/account").await.expect(200);
}

/// A year is the time of `departures::NO_NEW_TRIAL_FOR`, whose end a test of that module holds.
#[tokio::test]
async fn leaving_gives_no_new_trial() {
    let issuer = TestApp::start(|_| {}).await;
    let app = with_issuer(&issuer).await;
    let (there, here) = (&issuer.service.base_url, &app.service.base_url);
    let client = registered(there, "Probe").await;
    let signed_in = async |name: &str| acting(here, &connected(there, &client, name).await);
    let state = async |actor: &Actor| {
        let summary = actor.get("/api/billing/summary").await.expect(200).json["data"].clone();
        (summary["plan"]["key"].clone(), summary["status"].clone())
    };
    let trying = (json!("pro"), json!("trialing"));
    let first = signed_in("stranger").await;
    assert_eq!(state(&first).await, trying);
    delete(&first).await.expect(204);
    for _ in 0..2 {
        for hand in [&issuer.hand, &app.hand] {
            hand.advance(TimeDelta::days(100));
        }
        let back = signed_in("stranger").await;
        assert_eq!(state(&back).await.1, json!("none"));
        delete(&back).await.expect(204);
    }
    assert_eq!(state(&signed_in("viewer").await).await, trying, "somebody else");
}

#[tokio::test]
async fn a_sign_in_from_before_leads_to_a_page_that_asks_for_a_new_one() {
    let app = TestApp::start(|_| {}).await;
    delete(&app.actor("viewer").await).await.expect(204);
    // The demo person signs in within the second of the deletion.
    let http = http_client().unwrap();
    let base = &app.service.base_url;
    let begin = http.get(format!("{base}/auth/login?login_hint=viewer")).send().await.unwrap();
    let attempt = crate::support::cookies::cookie(begin.headers(), "sightline_attempt");
    let issuer = http.get(begin.headers()["location"].to_str().unwrap()).send().await.unwrap();
    let back = issuer.headers()["location"].to_str().unwrap();
    let page = http.get(back).header("cookie", attempt).send().await.unwrap();
    assert_eq!(page.status(), 403);
    let page = page.whole_text().await.unwrap();
    assert!(page.contains("Your data was deleted") && page.contains("&amp;again=1"), "{page}");
    let again = http.get(format!("{base}/auth/login?again=1")).send().await.unwrap();
    let question = again.headers()["location"].to_str().unwrap();
    assert!(question.contains("max_age=0") && question.contains("prompt=login"), "{question}");
}

#[tokio::test]
async fn a_token_beyond_the_maximum_age_is_refused() {
    let app = TestApp::start(|config| config.identity.max_token_age = Seconds(30 * 60)).await;
    let owner: Actor = app.actor("owner").await;
    app.hand.advance(TimeDelta::minutes(30));
    owner.get("/api/tags").await.expect(200);
    app.hand.advance(TimeDelta::seconds(6));
    owner.get("/api/tags").await.expect(401);
    app.actor("owner").await.get("/api/tags").await.expect(200);
}
