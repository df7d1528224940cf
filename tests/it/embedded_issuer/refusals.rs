//! Tests of errors on their way to a client: who is sent on at once, and who is asked.

use issuer::{
    client_metadata::Metadata,
    clients::DOCS,
    registry::{self, Origin},
};
use serde_json::json;

use super::{
    Answer, TestIssuer,
    browser::{ANN, Browser, PASSWORD, authorize_path},
};

const WEB: &str = "https://evil.example/landing";
const APP: &str = "com.example.app:/cb";

/// Requests that are refused to everybody, each with the error.
const BAD: [(&[(&str, &str)], &str); 3] = [
    (&[("scope", "search:everything")], "invalid_scope"),
    (&[("response_type", "token")], "unsupported_response_type"),
    (&[("code_challenge_method", "plain")], "invalid_request"),
];

/// Asserts that a page shows where the way leads, with a link that carries the error.
fn asks(answer: &Answer, status: u16, to: &str, error: &str) {
    assert_eq!((answer.status, answer.header("location")), (status, ""), "{}", answer.body);
    assert!(answer.body.contains(&format!("<code>{to}</code>")), "{}", answer.body);
    assert!(answer.body.contains(&format!("href=\"{to}?error={error}&amp;")), "{}", answer.body);
    assert!(!answer.body.contains("http-equiv") && !answer.body.contains("<script"), "nothing leaves by itself");
}

fn redirects(answer: &Answer, to: &str, error: &str) {
    let location = answer.header("location");
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert!(location.starts_with(&format!("{to}?error={error}&")), "{location}");
}

#[tokio::test]
async fn errors_are_not_redirected_to_self_registered_clients() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let client = issuer.client_at(&[WEB, APP]).await;
    let stranger = Browser::new(&issuer);
    let at = |to: &'static str, more: &[(&'static str, &'static str)]| {
        let changes: Vec<_> = more.iter().copied().chain([("redirect_uri", to)]).collect();
        authorize_path(&client, &changes)
    };
    for to in [WEB, APP] {
        for (bad, error) in BAD {
            asks(&stranger.get(&at(to, bad)).await, 400, to, error);
            let silent: Vec<_> = bad.iter().copied().chain([("prompt", "none")]).collect();
            asks(&stranger.get(&at(to, &silent)).await, 400, to, error);
        }
        asks(&stranger.get(&at(to, &[("prompt", "none")])).await, 400, to, "login_required");
        let page = stranger.get(&at(to, &[])).await;
        assert!(page.status == 200 && page.body.contains(&format!("<code>{to}</code>")), "{}", page.body);
        asks(&stranger.post(&at(to, &[]), &[("decision", "cancel")]).await, 200, to, "access_denied");
    }
    let ann = Browser::new(&issuer);
    ann.get(&at(WEB, &[])).await;
    ann.post(&at(WEB, &[]), &[("decision", "enter"), ("email", ANN), ("password", PASSWORD)]).await;
    asks(&ann.get(&at(WEB, &[("prompt", "none")])).await, 400, WEB, "consent_required");
    asks(&ann.post(&at(WEB, &[]), &[("decision", "cancel")]).await, 200, WEB, "access_denied");
}

#[tokio::test]
async fn prompt_none_redirects_to_an_address_that_the_person_has_allowed() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let client = issuer.client_at(&[WEB, APP]).await;
    let ann = Browser::new(&issuer);
    let url = authorize_path(&client, &[("redirect_uri", WEB)]);
    ann.get(&url).await;
    ann.post(&url, &[("decision", "enter"), ("email", ANN), ("password", PASSWORD)]).await;
    ann.allow_at(&client, &[("redirect_uri", WEB), ("scope", "openid")]).await;
    let silent = [("redirect_uri", WEB), ("prompt", "none"), ("scope", "openid email")];
    redirects(&ann.get(&authorize_path(&client, &silent)).await, WEB, "consent_required");
    let other = [("redirect_uri", WEB), ("prompt", "none"), ("login_hint", "bob@corp.test")];
    redirects(&ann.get(&authorize_path(&client, &other)).await, WEB, "login_required");
    let bad = [("redirect_uri", WEB), ("prompt", "none"), ("scope", "search:everything")];
    redirects(&ann.get(&authorize_path(&client, &bad)).await, WEB, "invalid_scope");
    let loud = [("redirect_uri", WEB), ("scope", "search:everything")];
    asks(&ann.get(&authorize_path(&client, &loud)).await, 400, WEB, "invalid_scope");
    let elsewhere = [("redirect_uri", APP), ("prompt", "none")];
    asks(&ann.get(&authorize_path(&client, &elsewhere)).await, 400, APP, "consent_required");
}

#[tokio::test]
async fn clients_of_operators_and_of_the_service_get_their_errors_at_once() {
    let issuer = TestIssuer::without_demo_people().await;
    let metadata = Metadata { redirect_uris: Some(json!([WEB])), ..Metadata::default() };
    let (checked, now) = (metadata.check().unwrap(), issuer.clock.now());
    let client = registry::insert(&issuer.db, &checked, Origin::Operator, None, &issuer.random, now).await.unwrap();
    let docs = format!("{}/docs/oauth2-redirect.html", issuer.base);
    let browser = Browser::new(&issuer);
    for (client, to) in [(client.as_str(), WEB), (DOCS, docs.as_str())] {
        for (bad, error) in BAD {
            let changes: Vec<_> = bad.iter().copied().chain([("redirect_uri", to)]).collect();
            redirects(&browser.get(&authorize_path(client, &changes)).await, to, error);
        }
        let silent = [("redirect_uri", to), ("prompt", "none")];
        redirects(&browser.get(&authorize_path(client, &silent)).await, to, "login_required");
        let path = authorize_path(client, &[("redirect_uri", to)]);
        browser.get(&path).await;
        redirects(&browser.post(&path, &[("decision", "cancel")]).await, to, "access_denied");
    }
}

#[tokio::test]
async fn the_sign_in_page_shows_the_clients_address_and_the_origin_of_its_name() {
    let issuer = TestIssuer::without_demo_people().await;
    let client = issuer.client_at(&[WEB]).await;
    let page = Browser::new(&issuer).get(&authorize_path(&client, &[("redirect_uri", WEB)])).await;
    assert!(page.body.contains("<strong>evil.example</strong>"), "{}", page.body);
    assert!(page.body.contains("chose its name itself"), "{}", page.body);
    let docs = format!("{}/docs/oauth2-redirect.html", issuer.base);
    let page = Browser::new(&issuer).get(&authorize_path(DOCS, &[("redirect_uri", &docs)])).await;
    assert!(page.body.contains("API documentation") && !page.body.contains("chose its name"), "{}", page.body);
}
