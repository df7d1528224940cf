//! Tests of browsers that are signed in at the embedded issuer, with or without a session of the service.

use chrono::TimeDelta;
use common::digest::pkce_challenge;
use serde_json::{Value, json};
use sightline::app::http_client;

use crate::support::{
    app::TestApp,
    browser::{Browser, Page},
    whole::Whole as _,
};

const REDIRECT: &str = "http://127.0.0.1/callback";

/// Registers a client.
async fn registered(base: &str) -> String {
    let metadata = json!({ "client_name": "Probe", "redirect_uris": [REDIRECT] });
    let answer = http_client().unwrap().post(format!("{base}/oauth/register")).json(&metadata).send().await.unwrap();
    answer.whole_json::<Value>().await.unwrap()["client_id"].as_str().unwrap().to_owned()
}

/// The path of an authorization request.
fn question(client: &str, redirect_uri: &str, more: &[(&str, &str)]) -> String {
    let challenge = pkce_challenge(&"v".repeat(64));
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query
        .append_pair("response_type", "code")
        .append_pair("client_id", client)
        .append_pair("redirect_uri", redirect_uri)
        .append_pair("code_challenge", &challenge)
        .append_pair("code_challenge_method", "S256")
        .extend_pairs(more);
    format!("/oauth/authorize?{}", query.finish())
}

/// The value of a hidden field.
fn hidden(page: &Page, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let rest = page.html.split(&start).nth(1).unwrap_or_else(|| panic!("no {name}: {}", page.html));
    rest.split('"').next().unwrap().to_owned()
}

/// Signs a demo person in on the page of a client, and returns the consent page.
async fn asked(browser: &Browser, question: &str, name: &str) -> Page {
    let page = browser.get(question).await.expect(200, &["name=\"person\""]);
    let form = [("person", name), ("csrf", &hidden(&page, "csrf"))];
    let to = browser.post(question, &form).await.expect(303, &[]).location;
    browser.get(&to).await
}

/// Allows the client of a consent page. Returns the code.
async fn allowed(browser: &Browser, question: &str, page: &Page) -> String {
    let (token, session) = (hidden(page, "csrf"), hidden(page, "session"));
    let form = [("csrf", token.as_str()), ("session", &session), ("decision", "allow")];
    let back = url::Url::parse(&browser.post(question, &form).await.expect(303, &[]).location).unwrap();
    back.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
}

/// A browser in which a demo person has signed in for an application, and not for the service.
async fn for_an_application(app: &TestApp, client: &str, name: &str) -> Browser {
    let (browser, question) = (Browser::new(&app.service.base_url), question(client, REDIRECT, &[]));
    let page = asked(&browser, &question, name).await;
    // The consent of another browser of the person is remembered.
    if page.status == 200 {
        allowed(&browser, &question, &page.expect(200, &["Probe"])).await;
    }
    browser
}

/// Returns whether the browser gets a code without a question.
async fn gives_codes(browser: &Browser, client: &str) -> bool {
    let to = browser.get(&question(client, REDIRECT, &[("prompt", "none")])).await.expect(303, &[]).location;
    assert!(to.contains("code=") || to.contains("error=login_required"), "{to}");
    to.contains("code=")
}

/// The handles of the sessions on the account page, latest first.
async fn handles(browser: &Browser) -> Vec<String> {
    let page = browser.get("/account").await.expect(200, &[]);
    let after = page.html.split("action=\"/account/sessions/").skip(1);
    after.filter_map(|rest| rest.split_once("/end\"")).map(|(id, _)| id.to_owned()).collect()
}

#[tokio::test]
async fn a_browser_with_a_session_of_the_issuer_only_can_be_ended() {
    let app = TestApp::start(|_| {}).await;
    let client = registered(&app.service.base_url).await;
    let here = Browser::signed_in(&app.service.base_url, "owner").await;
    app.hand.advance(TimeDelta::minutes(5));
    let there = for_an_application(&app, &client, "owner").await;
    let strange = for_an_application(&app, &client, "stranger").await;
    let page = here.get("/account").await.expect(200, &["Signed in for applications only"]);
    assert_eq!(page.html.matches("Signed in for applications only").count(), 1, "{}", page.html);
    assert!(gives_codes(&there, &client).await);
    let listed = handles(&here).await;
    assert_eq!(listed.len(), 2);
    here.post(&format!("/account/sessions/{}/end", listed[0]), &[]).await.expect(303, &[]);
    assert!(!gives_codes(&there, &client).await);
    assert_eq!(handles(&here).await.len(), 1);

    let there = for_an_application(&app, &client, "owner").await;
    assert_eq!(handles(&here).await.len(), 2);
    here.post("/account/sessions/end-others", &[]).await.expect(303, &[]);
    assert!(!gives_codes(&there, &client).await);
    assert!(gives_codes(&strange, &client).await, "somebody else's browser stays");
    assert_eq!(handles(&here).await.len(), 1);

    asked(&here, &question(&client, REDIRECT, &[]), "owner").await;
    here.post("/account/sessions/end-others", &[]).await.expect(303, &[]);
    assert!(gives_codes(&here, &client).await, "the session of this browser at the issuer stays");
}

#[tokio::test]
async fn an_answer_that_names_another_issuer_signs_nobody_in() {
    let app = TestApp::start(|_| {}).await;
    for (issuer, status) in [("https://evil.test", 502), (app.service.base_url.as_str(), 303)] {
        let browser = Browser::new(&app.service.base_url);
        let leaving = browser.get("/auth/login?return_to=/account&login_hint=owner").await.expect(303, &[]);
        let answer = browser.get(&leaving.location).await.expect(303, &[]).location;
        let mut back = url::Url::parse(&answer).unwrap();
        let kept = back.query_pairs().filter(|(name, _)| name != "iss");
        let kept: Vec<(String, String)> = kept.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        back.query_pairs_mut().clear().extend_pairs(kept).append_pair("iss", issuer);
        browser.get(back.as_str()).await.expect(status, &[]);
        assert_eq!(browser.get("/account").await.status == 200, status == 303, "{issuer}");
    }
}

#[tokio::test]
async fn a_guessed_session_at_the_issuer_of_somebody_else_stays() {
    let app = TestApp::start(|_| {}).await;
    let client = registered(&app.service.base_url).await;
    let (owner, stranger) = (
        Browser::signed_in(&app.service.base_url, "owner").await,
        Browser::signed_in(&app.service.base_url, "stranger").await,
    );
    let there = for_an_application(&app, &client, "owner").await;
    let foreign = handles(&owner).await;
    stranger.post(&format!("/account/sessions/{}/end", foreign[0]), &[]).await.expect(404, &[]);
    assert!(gives_codes(&there, &client).await);
}

#[tokio::test]
async fn signing_out_signs_out_of_the_issuer_also_without_a_session_of_the_service() {
    let app = TestApp::start(|_| {}).await;
    let client = registered(&app.service.base_url).await;
    for path in ["/account/sign-out", "/auth/logout"] {
        let browser = for_an_application(&app, &client, "owner").await;
        assert!(gives_codes(&browser, &client).await);
        let before = browser.held("sightline_issuer").unwrap();
        assert!([303, 204].contains(&browser.post(path, &[]).await.status));
        assert_eq!(browser.cookie("sightline_issuer"), None);
        browser.plant(before);
        assert!(!gives_codes(&browser, &client).await, "{path}");
    }
}

#[tokio::test]
async fn signing_out_ends_what_the_documentation_may_do() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let back = format!("{base}/docs/oauth2-redirect.html");
    let (browser, question) = (Browser::new(base), question("sightline-docs", &back, &[]));
    let page = asked(&browser, &question, "owner").await;
    let code = allowed(&browser, &question, &page).await;
    let verifier = "v".repeat(64);
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("client_id", "sightline-docs"),
        ("redirect_uri", &back),
        ("code_verifier", &verifier),
    ];
    let http = http_client().unwrap();
    let tokens: Value =
        http.post(format!("{base}/oauth/token")).form(&form).send().await.unwrap().whole_json().await.unwrap();
    let token = tokens["access_token"].as_str().unwrap();
    let status =
        async || http.get(format!("{base}/api/tags")).bearer_auth(token).send().await.unwrap().status().as_u16();
    assert_eq!(status().await, 200);
    browser.post("/account/sign-out", &[]).await.expect(303, &[]);
    assert_eq!(status().await, 401);
    let script = http.get(format!("{base}/docs/start.js")).send().await.unwrap().whole_text().await.unwrap();
    assert!(
        script.contains("SwaggerUIBundle") && !script.contains("persistAuthorization"),
        "no token is stored: {script}"
    );
}

#[tokio::test]
async fn an_application_without_access_is_listed_while_its_consent_is_remembered() {
    let app = TestApp::start(|_| {}).await;
    let client = registered(&app.service.base_url).await;
    let browser = for_an_application(&app, &client, "owner").await;
    app.hand.advance(TimeDelta::hours(2));
    let account = Browser::signed_in(&app.service.base_url, "owner").await;
    account.get("/account").await.expect(200, &["Probe", "It has no access now"]);
    assert!(gives_codes(&browser, &client).await);
    let page = account.get("/account").await.expect(200, &["Probe"]);
    assert!(!page.html.contains("It has no access now"), "{}", page.html);
    app.hand.advance(TimeDelta::hours(2));
    account.post("/account/applications/revoke", &[("client_id", &client)]).await.expect(303, &[]);
    account.get("/account").await.expect(200, &["No application acts for you."]);
    let silent = browser.get(&question(&client, REDIRECT, &[("prompt", "none")])).await;
    assert!(silent.location.contains("consent_required"), "{}", silent.location);
}
