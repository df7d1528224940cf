//! Tests of every state of a search account: its code and way out in the API, and its words on the page.

use chrono::TimeDelta;

use super::{browser, exchanges::Engine, health, sync};
use crate::{
    analytics::performance::{Asker, SMALL},
    faults::{impatient, trouble},
    support::{actor::Answer, app::TestApp},
};

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-08-01"), ("endDate", "2026-08-02")];

/// Asserts 409 with the account page's address in the hint.
#[track_caller]
fn disconnected(app: &TestApp, answer: Answer, words: &str) {
    let answer = answer.expect(409);
    assert_eq!(answer.code(), "search_account_disconnected");
    let page = format!("{}/account.", app.service.base_url);
    assert!(answer.hint().contains(words) && answer.hint().contains(&page), "{}", answer.hint());
    assert_eq!(answer.json.as_object().unwrap().len(), 3, "error, code and hint");
}

#[tokio::test]
async fn never_connected() {
    let app = TestApp::start(|_| {}).await;
    disconnected(&app, sync(&app.actor("viewer").await).await, "No search account is connected. Connect yours");
    assert_eq!(health(&app.actor("viewer").await).await.0, "");
    browser(&app, "viewer").await.get("/account").await.expect(200, &["No search account is connected"]);
}

#[tokio::test]
async fn connected() {
    let app = TestApp::start(|_| {}).await;
    sync(&app.actor("stranger").await).await.expect(200);
    assert_eq!(health(&app.actor("stranger").await).await, ("connected".into(), String::new()));
    let page = browser(&app, "stranger").await.get("/account").await;
    page.expect(200, &["Connected</span>", "Choose properties", "Disconnect"]);
}

#[tokio::test]
async fn scope_missing() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let (browser, viewer) = (browser(&app, "viewer").await, app.actor("viewer").await);
    let path = engine.connect(&browser).await.location;
    browser.shows(&path, "Track these properties").await;
    engine.lacks_scope();
    disconnected(&app, sync(&viewer).await, "does not let this service read");
    let (status, hint) = health(&viewer).await;
    assert!(status == "scope_missing" && hint.contains("box ticked"), "{status} {hint}");
    browser.get(&path).await.expect(200, &["Search data may not be read", "box", "Reconnect"]);
}

#[tokio::test]
async fn revoked() {
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "owner", "northmoor").await;
    app.hand.advance(TimeDelta::hours(2));
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    trouble(&app, &["invalid_grant:1"]);
    let asker = Asker { actor: owner.clone(), ..asker };
    disconnected(&app, asker.ask(&WINDOW).await, "has ended the access");
    assert_eq!(health(&owner).await.0, "reconnect_required");
    let shared = viewer.listed("/api/properties").await[0]["id"].as_str().unwrap().to_owned();
    let told = viewer.ask(&format!("/api/properties/{shared}/performance"), &WINDOW).await.expect(409);
    assert_eq!(
        told.hint(),
        "The owner of the property, \"Demo Owner (owner@demo.test)\", must reconnect the search account."
    );
    let page = browser(&app, "owner").await.get("/account").await;
    page.expect(200, &["Access ended by the search engine", "invalid_grant", "Reconnect"]);
}

#[tokio::test]
async fn disconnected_here() {
    let app = TestApp::start(|_| {}).await;
    let (browser, asker) = (browser(&app, "stranger").await, Asker::of(&app, "stranger", SMALL).await);
    let page = browser.get("/account").await;
    let path = format!("/account/search/{}", &page.html.split("/account/search/").nth(1).unwrap()[..36]);
    browser.post(&format!("{path}/disconnect"), &[]).await;
    disconnected(&app, asker.ask(&WINDOW).await, "You disconnected this search account");
    let (status, hint) = health(&asker.actor).await;
    assert!(status == "disconnected" && hint.contains("/account"), "{status} {hint}");
    let page = browser.get("/account").await;
    page.expect(200, &["Disconnected</span>", "Its properties are kept", "Reconnect"]);
}

#[tokio::test]
async fn quota() {
    let app = TestApp::start(impatient).await;
    let (browser, asker) = (browser(&app, "stranger").await, Asker::of(&app, "stranger", SMALL).await);
    trouble(&app, &["quota403:1"]);
    let refused = asker.ask(&WINDOW).await.expect(503);
    assert_eq!(refused.code(), "search_engine_unavailable");
    assert!(refused.hint().contains("quota") && refused.hint().contains("Try again in"), "{}", refused.hint());
    assert_eq!(refused.header("retry-after"), "900");
    trouble(&app, &[]);
    let (status, hint) = health(&asker.actor).await;
    assert!(status == "quota_exceeded" && hint.contains("quota"), "{status} {hint}");
    browser.get("/account").await.expect(200, &["quota is used up", "nothing to do"]);
    asker.ask(&WINDOW).await.expect(200);
    assert_eq!(health(&asker.actor).await.0, "connected");
    browser.get("/account").await.expect(200, &["Connected</span>"]);
}

#[tokio::test]
async fn unreachable() {
    let app = TestApp::start(impatient).await;
    let (browser, asker) = (browser(&app, "stranger").await, Asker::of(&app, "stranger", SMALL).await);
    trouble(&app, &["error500:1"]);
    let refused = asker.ask(&WINDOW).await.expect(503);
    assert_eq!(refused.code(), "search_engine_unavailable");
    assert!(refused.hint().contains("does not answer"), "{}", refused.hint());
    assert!(!refused.header("retry-after").is_empty());
    browser.get("/account").await.expect(200, &["The search engine does not answer"]);
    assert_eq!(health(&asker.actor).await.0, "unreachable");
    trouble(&app, &[]);
    asker.ask(&WINDOW).await.expect(200);
    browser.get("/account").await.expect(200, &["Connected</span>"]);
}
