//! Tests of connected applications with the embedded issuer.

use chrono::TimeDelta;
use common::digest::pkce_challenge;
use serde_json::{Value, json};
use sightline::app::http_client;

use crate::support::{
    actor::Actor,
    app::TestApp,
    assistant::Assistant,
    signed_in::{Browser, Page},
    whole::Whole as _,
};

const REDIRECT: &str = "http://127.0.0.1/callback";

/// Registers a client with a second address.
pub async fn registered(base: &str, name: &str) -> String {
    let metadata = json!({
        "client_name": name, "redirect_uris": [REDIRECT, "https://probe.example/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let answer = http_client().unwrap().post(format!("{base}/oauth/register")).json(&metadata).send().await.unwrap();
    answer.whole_json::<Value>().await.unwrap()["client_id"].as_str().unwrap().to_owned()
}

/// The tokens of a client that acts for a demo person, through the flow with PKCE.
pub async fn connected(base: &str, client: &str, name: &str) -> Value {
    let (http, verifier) = (http_client().unwrap(), "v".repeat(64));
    let question = [
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("code_challenge", &pkce_challenge(&verifier)),
        ("code_challenge_method", "S256"),
        ("login_hint", name),
        ("scope", "openid profile email offline_access"),
    ];
    let answer = http.get(format!("{base}/oauth/authorize")).query(&question).send().await.unwrap();
    let location = url::Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", REDIRECT),
        ("client_id", client),
        ("code_verifier", &verifier),
    ];
    let tokens = http.post(format!("{base}/oauth/token")).form(&form).send().await.unwrap();
    tokens.whole_json().await.unwrap()
}

/// Somebody who acts with the access token among `tokens`.
pub fn acting(base: &str, tokens: &Value) -> Actor {
    Actor::with_token(base, tokens["access_token"].as_str().unwrap())
}

/// The section of applications of the page, once it contains `text`: uses are recorded beside requests.
pub async fn section_with(browser: &Browser, text: &str) -> String {
    for _ in 0..2_000 {
        let page: Page = browser.get("/account").await.expect(200);
        let section = page.between("<h2 id=\"applications\">", "</section>")[0].to_owned();
        if section.contains(text) {
            return section;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("the page never says {text}");
}

async fn refresh(base: &str, client: &str, tokens: &Value) -> u16 {
    let token = tokens["refresh_token"].as_str().unwrap();
    let form = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    http_client().unwrap().post(format!("{base}/oauth/token")).form(&form).send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn a_person_sees_the_applications_that_act_for_them() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let browser = Browser::signed_in(&app, "owner").await;
    let section = section_with(&browser, "No application acts for you.").await;
    assert!(!section.contains("sightline-web"), "{section}");

    let probe = registered(base, "Probe").await;
    let tokens = connected(base, &probe, "owner").await;
    let section = section_with(&browser, "Probe").await;
    assert!(section.contains("<dd>Not yet</dd>") && section.contains("probe.example, this computer"), "{section}");
    assert!(section.contains("Read the search data") && section.contains("not used for 30 days"), "{section}");
    assert!(section.contains("Know your name and e-mail address"), "{section}");

    app.hand.advance(TimeDelta::minutes(5));
    acting(base, &tokens).get("/api/tags").await.expect(200);
    let section = section_with(&browser, "Last used").await;
    assert_eq!(section.matches("21 November 2026, 12:05 UTC").count(), 2, "first and last use: {section}");
    app.actor("owner").await.get("/api/tags").await.expect(200);
    section_with(&browser, "Part of this service").await;

    let stranger = Browser::signed_in(&app, "stranger").await;
    section_with(&stranger, "No application acts for you.").await;
}

#[tokio::test]
async fn an_application_with_tool_calls_is_an_assistant() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let browser = Browser::signed_in(&app, "owner").await;
    let section = section_with(&browser, "No application acts for you.").await;
    assert!(section.contains(&format!("<code>{base}/mcp</code>")), "{section}");
    let clients = [registered(base, "Dashboard").await, registered(base, "Helper").await];
    let dashboard = acting(base, &connected(base, &clients[0], "owner").await);
    dashboard.get("/api/tags").await.expect(200);
    let helper = acting(base, &connected(base, &clients[1], "owner").await);
    Assistant::of(&app, &helper).call("list_properties", json!({})).await;
    let section = section_with(&browser, "Last used as an assistant").await;
    let cards: Vec<&str> =
        section.split("<h3").filter(|card| card.contains("<p class=\"state\">Assistant</p>")).collect();
    assert!(cards.len() == 1 && cards[0].contains("Helper"), "{section}");

    let form = [("client_id", clients[1].as_str())];
    browser.post("/account/applications/revoke", &form).await.leads_to("/account?done=application-revoked");
    Assistant::of(&app, &helper).ask("tools/list", json!({})).await.expect(401);
    dashboard.get("/api/tags").await.expect(200);
}

#[tokio::test]
async fn a_revoked_application_is_refused_at_the_next_request() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let browser = Browser::signed_in(&app, "owner").await;
    let (probe, other) = (registered(base, "Probe").await, registered(base, "Other").await);
    let revoked = [connected(base, &probe, "owner").await, connected(base, &probe, "owner").await];
    let kept = [connected(base, &other, "owner").await, connected(base, &probe, "stranger").await];
    for tokens in revoked.iter().chain(&kept) {
        acting(base, tokens).get("/api/tags").await.expect(200);
    }
    let form = [("client_id", probe.as_str())];
    browser.post("/account/applications/revoke", &form).await.leads_to("/account?done=application-revoked");
    for tokens in &revoked {
        let answer = acting(base, tokens).get("/api/tags").await.expect(401);
        assert!(answer.header("www-authenticate").contains("error=\"invalid_token\""));
        assert_eq!(refresh(base, &probe, tokens).await, 400);
    }
    for tokens in &kept {
        acting(base, tokens).get("/api/tags").await.expect(200);
    }
    assert_eq!(refresh(base, &other, &kept[0]).await, 200);
    assert!(!section_with(&browser, "Other").await.contains("Probe"));
    browser.post("/account/applications/revoke", &form).await.leads_to("/account?done=application-revoked");

    let again = connected(base, &probe, "owner").await;
    acting(base, &again).get("/api/tags").await.expect(200);
    acting(base, &revoked[0]).get("/api/tags").await.expect(401);
    section_with(&browser, "Probe").await;
}

#[tokio::test]
async fn only_the_person_revokes_and_only_from_a_page_of_the_service() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let (owner, stranger) = (Browser::signed_in(&app, "owner").await, Browser::signed_in(&app, "stranger").await);
    let probe = registered(base, "Probe").await;
    let actor = acting(base, &connected(base, &probe, "owner").await);
    let form = [("client_id", probe.as_str())];
    for path in ["/account/applications/revoke", "/account/applications/allow"] {
        owner.post_from("https://evil.example", path, &form).await.expect(403);
        stranger.post(path, &form).await.expect(404);
        for odd in ["", "sightline-web", "no such client", &"x".repeat(100_000)] {
            owner.post(path, &[("client_id", odd)]).await.expect(404);
        }
        owner.post(path, &[]).await.expect(404);
    }
    actor.get("/api/tags").await.expect(200);
    Browser::signed_in(&app, "owner").await.get("/account").await.expect(200);
    assert!(owner.get("/account").await.expect(200).body.contains("Probe"));
}

#[tokio::test]
async fn names_of_applications_are_text_and_nothing_else() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let browser = Browser::signed_in(&app, "owner").await;
    let probe = registered(base, "<script>alert(1)</script>").await;
    connected(base, &probe, "owner").await;
    let section = section_with(&browser, "alert(1)").await;
    assert!(section.contains("&lt;script&gt;") && !section.contains("<script"), "{section}");
}
