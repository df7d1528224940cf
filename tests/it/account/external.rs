//! Tests of the account page of a service with an external issuer: a second test app.

use serde_json::{Value, json};
use sightline::app::http_client;

use super::applications::{acting, connected, registered, section_with};
use crate::support::{
    actor::Actor,
    app::{TestApp, shared},
    signed_in::Browser,
    whole::Whole as _,
};

/// A service that accepts the tokens of `issuer` and signs browsers in there.
pub async fn with_issuer(issuer: &TestApp) -> TestApp {
    let base = issuer.service.base_url.clone();
    // The port of a loopback address may vary.
    let metadata = json!({ "client_name": "Search service", "redirect_uris": ["http://127.0.0.1/auth/callback"] });
    let client = http_client().unwrap().post(format!("{base}/oauth/register")).json(&metadata).send().await.unwrap();
    let client: Value = client.whole_json().await.unwrap();
    TestApp::start(|config| {
        config.identity.issuer = base.parse().ok();
        config.identity.audience = Some(base);
        config.identity.client_id = Some(client["client_id"].as_str().unwrap().to_owned());
    })
    .await
}

#[tokio::test]
async fn a_refused_client_of_another_issuer_stays_refused_until_it_is_allowed_again() {
    let (issuer, app) = (&shared().service.base_url, with_issuer(shared()).await);
    let base = &app.service.base_url;
    let browser = Browser::signed_in(&app, "owner").await;
    section_with(&browser, "No application acts for you.").await;
    let (probe, other) = (registered(issuer, "Probe").await, registered(issuer, "Other").await);
    let fresh = async |client: &str, name: &str| acting(base, &connected(issuer, client, name).await);
    let (actor, kept) = (fresh(&probe, "owner").await, fresh(&other, "owner").await);
    let stranger = fresh(&probe, "stranger").await;
    for one in [&actor, &kept, &stranger] {
        one.get("/api/tags").await.expect(200);
    }
    let section = section_with(&browser, &probe).await;
    assert!(section.contains("Revoke access") && !section.contains("Probe"), "the name is the issuer's: {section}");

    let form = [("client_id", probe.as_str())];
    browser.post("/account/applications/allow", &form).await.expect(404);
    for _ in 0..2 {
        browser.post("/account/applications/revoke", &form).await.leads_to("/account?done=application-revoked");
        for refused in [&actor, &fresh(&probe, "owner").await] {
            let answer = refused.get("/api/tags").await.expect(401);
            assert!(answer.header("www-authenticate").starts_with("Bearer error=\"invalid_token\", "));
            assert!(answer.hint().contains(&format!("{base}/account")), "{}", answer.hint());
        }
    }
    for one in [&kept, &stranger] {
        one.get("/api/tags").await.expect(200);
    }
    section_with(&browser, "Refused: it cannot act for you").await;
    let section = section_with(&browser, "Revoke access").await;
    assert_eq!((section.matches("Allow again").count(), section.matches("Revoke access").count()), (1, 1), "{section}");

    browser.post_from("https://evil.example", "/account/applications/allow", &form).await.expect(403);
    actor.get("/api/tags").await.expect(401);
    browser.post("/account/applications/allow", &form).await.leads_to("/account?done=application-allowed");
    actor.get("/api/tags").await.expect(200);
}

#[tokio::test]
async fn only_clients_that_acted_for_the_person_are_refused() {
    let (issuer, app) = (&shared().service.base_url, with_issuer(shared()).await);
    let (owner, stranger) = (Browser::signed_in(&app, "owner").await, Browser::signed_in(&app, "stranger").await);
    let probe = registered(issuer, "Probe").await;
    let actor: Actor = acting(&app.service.base_url, &connected(issuer, &probe, "owner").await);
    actor.get("/api/tags").await.expect(200);
    section_with(&owner, &probe).await;
    stranger.post("/account/applications/revoke", &[("client_id", &probe)]).await.expect(404);
    owner.post("/account/applications/revoke", &[("client_id", "never seen")]).await.expect(404);
    actor.get("/api/tags").await.expect(200);
}

#[tokio::test]
async fn a_person_of_another_issuer_reads_where_they_sign_in() {
    let app = with_issuer(shared()).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let page = browser.get("/account").await.expect(200);
    assert!(
        page.body.contains("<dd>at this computer</dd>") && !page.body.contains("<dd>as a demo person"),
        "{}",
        page.body
    );
    assert!(!page.body.contains("/account/password"));
    let out = browser.post("/account/sign-out", &[]).await;
    out.leads_to("/account/signed-out");
    let page = browser.get("/account/signed-out").await.expect(200);
    assert!(page.body.contains("You may still be signed in at"), "{}", page.body);
}
