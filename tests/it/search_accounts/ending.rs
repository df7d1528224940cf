//! Tests of the end of a connection, and of reconnecting.

use simulator::Endpoint;

use super::{browser, health, sync};
use crate::{
    analytics::performance::{Asker, SMALL},
    faults::impatient,
    support::app::TestApp,
};

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-08-01"), ("endDate", "2026-08-02")];

#[tokio::test]
async fn a_disconnected_account_is_not_read_until_it_is_reconnected() {
    let app = TestApp::start(|_| {}).await;
    let (browser, asker) = (browser(&app, "stranger").await, Asker::of(&app, "stranger", SMALL).await);
    asker.ask(&WINDOW).await.expect(200);
    assert!(app.service.reader.cache_use().entries > 0);
    let page = browser.get("/account").await.expect(200, &["stranger@demo.test", "Connected"]);
    let id = page.html.split("/account/search/").nth(1).unwrap()[..36].to_owned();
    let path = format!("/account/search/{id}");
    browser.get(&format!("{path}/disconnect")).await.expect(200, &["Disconnect stranger@demo.test?", "Keep it"]);
    asker.ask(&WINDOW).await.expect(200);

    let revoked = app.simulator().controls().requests(Endpoint::Revoke);
    assert_eq!(browser.post(&format!("{path}/disconnect"), &[]).await.location, path);
    assert_eq!(app.simulator().controls().requests(Endpoint::Revoke), revoked + 1);
    assert_eq!(app.service.reader.cache_use().entries, 0, "what was cached of it is gone");
    let refused = asker.ask(&WINDOW).await.expect(409);
    assert_eq!(refused.code(), "search_account_disconnected");
    assert!(refused.hint().contains(&format!("{}/account", app.service.base_url)), "{}", refused.hint());
    let listed = asker.actor.listed("/api/properties").await;
    assert_eq!(listed[0]["access"], "search_account_disconnected", "it is kept and marked");
    browser.get(&path).await.expect(200, &["Disconnected", "Reconnect"]);

    let consent = browser.leave(&[("account", &id)]).await;
    assert!(consent.query().unwrap().contains("prompt=consent") && consent.query().unwrap().contains("login_hint"));
    let back = browser.get(&browser.consented(&consent, &[]).await).await;
    assert_eq!(back.account(), id, "the same account");
    asker.ask(&WINDOW).await.expect(200);
    assert_eq!(health(&asker.actor).await.0, "connected");
}

#[tokio::test]
async fn an_account_is_disconnected_here_although_the_search_engine_does_not_answer() {
    let mut app = TestApp::start(impatient).await;
    let (browser, stranger) = (browser(&app, "stranger").await, app.actor("stranger").await);
    let page = browser.get("/account").await;
    let path = format!("/account/search/{}", &page.html.split("/account/search/").nth(1).unwrap()[..36]);
    app.service.simulator.take().unwrap().shutdown().await;
    let ended = browser.post(&format!("{path}/disconnect"), &[]).await;
    browser.get(&ended.location).await.expect(200, &["did not answer", "Remove this service", "Disconnected"]);
    assert_eq!(health(&stranger).await.0, "disconnected");
}

#[tokio::test]
async fn a_grant_that_another_person_uses_too_is_not_revoked() {
    let app = TestApp::start(|_| {}).await;
    let first = browser(&app, "viewer").await;
    let id = first.connect("stranger").await.account();
    let path = format!("/account/search/{id}");
    let ended = first.post(&format!("{path}/disconnect"), &[]).await;
    first.get(&ended.location).await.expect(200, &["Disconnected", "another person"]);
    assert_eq!(app.simulator().controls().requests(Endpoint::Revoke), 0);
    app.hand.advance(chrono::TimeDelta::hours(2));
    sync(&app.actor("stranger").await).await.expect(200);
}

#[tokio::test]
async fn removed_access_at_the_search_engine_counts_as_disconnected() {
    let app = TestApp::start(impatient).await;
    let browser = browser(&app, "stranger").await;
    let page = browser.get("/account").await;
    let path = format!("/account/search/{}", &page.html.split("/account/search/").nth(1).unwrap()[..36]);
    let form = [("client_id", "sightline"), ("account", "stranger")];
    // The grant is older.
    app.hand.advance(chrono::TimeDelta::minutes(1));
    let permissions = format!("{}/o/oauth2/v2/permissions", app.simulator().url());
    sightline::app::http_client().unwrap().post(permissions).form(&form).send().await.unwrap();
    sync(&app.actor("stranger").await).await.expect(409);
    browser.get(&path).await.expect(200, &["Access ended by the search engine", "invalid", "Reconnect"]);
    assert_eq!(browser.post(&format!("{path}/disconnect"), &[]).await.location, path, "there is nothing to end there");
}
