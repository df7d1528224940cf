//! Tests of the way from nothing to tracked properties.

use chrono::TimeDelta;
use simulator::Endpoint;

use super::{browser, sync};
use crate::{
    faults::{impatient, trouble},
    support::app::TestApp,
};

#[tokio::test]
async fn a_person_connects_an_account_and_chooses_properties_within_the_plan() {
    let app = TestApp::start(|config| config.plans.free.tracked_properties = 2).await;
    let (browser, viewer) = (browser(&app, "viewer").await, app.actor("viewer").await);
    browser.get("/account").await.expect(200, &["No search account is connected", "Connect a search account"]);
    let consent = browser.leave(&[]).await;
    let asked = |name: &str| consent.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    assert_eq!(asked("redirect_uri"), Some(format!("{}/account/search/callback", app.service.base_url)));
    assert_eq!(asked("scope").unwrap(), "openid email https://www.googleapis.com/auth/webmasters.readonly");
    assert_eq!(asked("code_challenge_method").as_deref(), Some("S256"));
    assert_eq!((asked("access_type").as_deref(), asked("prompt")), (Some("offline"), None));

    let page = browser.get(&browser.consented(&consent, &[("login_hint", "agency")]).await).await;
    let path = format!("/account/search/{}", page.account());
    let page = browser.shows(&path, "Track these properties").await;
    let page = page.expect(200, &["agency@demo.test", "Connected", "0 of 2", "northmoor.example", "(whole domain)"]);
    let ids: Vec<String> = page.ticks().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 3);
    let choose = async |ids: &[&String]| {
        let form: Vec<(&str, &str)> =
            [("choice", "properties")].into_iter().chain(ids.iter().map(|id| ("property", id.as_str()))).collect();
        browser.post(&format!("{path}/properties"), &form).await
    };
    let over = choose(&[&ids[0], &ids[1], &ids[2]]).await.expect(402, &["at most 2", "role=\"alert\"", "0 of 2"]);
    assert!(over.ticks().iter().all(|(_, ticked)| *ticked), "the ticks stay");
    let saved = choose(&[&ids[0], &ids[2]]).await;
    assert_eq!(saved.location, "/");
    let shown = browser.get(&path).await.expect(200, &["2 of 2"]);
    let ticked: Vec<String> = shown.ticks().into_iter().filter(|(_, ticked)| *ticked).map(|(id, _)| id).collect();
    assert_eq!(ticked, [ids[0].clone(), ids[2].clone()]);

    let listed = viewer.listed("/api/properties").await;
    let own = listed.iter().filter(|entry| entry["role"] == "owner");
    assert_eq!(own.filter(|entry| entry["access"] == "ok").count(), 2);
    viewer.get(&format!("/api/properties/{}/performance", ids[0])).await.expect(200);
    let foreign = app.actor("owner").await.property("tinyfern").await;
    choose(&[&foreign]).await.expect(404, &["no such search account"]);
    assert_eq!(browser.get(&path).await.ticks(), shown.ticks(), "nothing was lost");
}

#[tokio::test]
async fn a_first_sync_that_fails_is_said_and_can_be_tried_again() {
    let app = TestApp::start(impatient).await;
    let browser = browser(&app, "viewer").await;
    trouble(&app, &["error500:1"]);
    let path = format!("/account/search/{}", browser.connect("agency").await.account());
    let failed = browser.shows(&path, "could not be read").await;
    failed.expect(200, &["role=\"alert\"", "The search engine does not answer", "Try again"]);
    trouble(&app, &[]);
    assert_eq!(browser.post(&format!("{path}/sync"), &[]).await.location, path);
    browser.shows(&path, "Track these properties").await;
}

#[tokio::test]
async fn cancelling_stores_nothing() {
    let app = TestApp::start(|_| {}).await;
    let browser = browser(&app, "viewer").await;
    let consent = browser.leave(&[]).await;
    let back = browser.consented(&consent, &[("deny", "1")]).await;
    browser.get(&back).await.expect(200, &["You cancelled", "Nothing was stored", "Try again"]);
    browser.get("/account").await.expect(200, &["No search account is connected"]);
}

#[tokio::test]
async fn an_unticked_box_is_named_and_its_grant_is_revoked() {
    let app = TestApp::start(|_| {}).await;
    let browser = browser(&app, "viewer").await;
    let consent = browser.leave(&[]).await;
    let chosen = [("login_hint", "agency"), ("granted_scope", "openid"), ("granted_scope", "email")];
    let back = browser.consented(&consent, &chosen).await;
    browser.get(&back).await.expect(403, &["Search data may not be read", "box", "nothing was stored"]);
    browser.get("/account").await.expect(200, &["No search account is connected"]);
    assert_eq!(app.simulator().controls().requests(Endpoint::Revoke), 1);
    browser.connect("agency").await.account();
}

#[tokio::test]
async fn an_unticked_box_keeps_an_existing_connection() {
    let app = TestApp::start(|_| {}).await;
    let browser = browser(&app, "viewer").await;
    let consent = browser.leave(&[]).await;
    let chosen = [("login_hint", "owner"), ("granted_scope", "openid"), ("granted_scope", "email")];
    let back = browser.consented(&consent, &chosen).await;
    browser.get(&back).await.expect(403, &["Search data may not be read"]);
    app.hand.advance(TimeDelta::hours(2));
    sync(&app.actor("owner").await).await.expect(200);
}

/// The search engine gives a refresh token for a first consent only.
#[tokio::test]
async fn without_a_refresh_token_consent_is_asked_for_once_more() {
    let app = TestApp::start(|_| {}).await;
    let first = browser(&app, "viewer").await;
    first.connect("agency").await.account();
    // Another person connects the same account. Its consent was given before.
    let second = browser(&app, "editor").await;
    let consent = second.leave(&[]).await;
    let again = second.get(&second.consented(&consent, &[("login_hint", "agency")]).await).await;
    assert_eq!(again.status, 303, "{again:?}");
    let again: url::Url = again.location.parse().unwrap();
    let asked: Vec<(String, String)> = again.query_pairs().into_owned().collect();
    assert!(asked.contains(&("prompt".into(), "consent".into())), "{again}");
    assert!(asked.contains(&("login_hint".into(), "agency@demo.test".into())), "{again}");
    second.get(&second.consented(&again, &[]).await).await.account();

    // The person's own account keeps the grant that is stored.
    let tokens = app.simulator().controls().requests(Endpoint::Authorize);
    first.connect("agency").await.account();
    assert_eq!(app.simulator().controls().requests(Endpoint::Authorize), tokens + 1, "nothing more is asked");
}

#[tokio::test]
async fn an_operator_without_a_client_is_named() {
    let app = TestApp::start(|_| {}).await;
    let root = app.simulator().url();
    let other = TestApp::start(|config| {
        config.identity.demo_sign_in = Some(true);
        let engine = &mut config.search_engine;
        engine.api_url = root.parse().ok();
        engine.authorize_url = format!("{root}/o/oauth2/v2/auth").parse().ok();
        engine.token_url = format!("{root}/token").parse().ok();
        engine.revoke_url = format!("{root}/revoke").parse().ok();
        engine.userinfo_url = format!("{root}/userinfo").parse().ok();
    })
    .await;
    let browser = browser(&other, "viewer").await;
    let page = browser.get("/account").await.expect(200, &["search_engine.client_id", "search_engine.client_secret"]);
    assert!(!page.html.contains("/account/search/connect"));
    browser.post("/account/search/connect", &[]).await.expect(503, &["search_engine.client_id"]);
}
