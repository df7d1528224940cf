//! Tests of a service whose database is away: every surface says so, and nobody is signed out.

mod writes;

use poem::http::Method;
use reqwest::{RequestBuilder, Response};
use serde_json::json;
use sightline::app::http_client;

use crate::support::{
    actor::Actor, app::TestApp, application::Application, assistant::Assistant, browser, cookies::cookie, relay::Relay,
    signed_in::Browser, whole::Whole as _,
};

/// An app whose connections to `PostgreSQL` can be cut. `SQLite` is a file, to which nothing can be cut.
async fn cuttable() -> Option<(TestApp, Relay)> {
    let mut relay = None;
    let app = TestApp::start(|config| relay = config.database.url.as_mut().map(Relay::before)).await;
    Some((app, relay?))
}

/// People and programs who have signed in while the database was there.
struct Callers {
    base: String,
    owner: Actor,
    browser: Browser,
    assistant: Assistant,
    property: String,
    application: Application,
    refresh_token: String,
}

/// What a surface answered: its name, the status, and `Retry-After`.
type Said = (&'static str, u16, Option<u64>);

impl Callers {
    async fn of(app: &TestApp) -> Self {
        let base = app.service.base_url.clone();
        let owner = app.actor("owner").await;
        let application = Application::register(&base).await;
        let person = browser::Browser::new(&base);
        let tokens = application.allowed(&person, "owner", "openid offline_access search:read", None, None).await;
        Self {
            browser: Browser::signed_in(app, "owner").await,
            assistant: Assistant::of(app, &owner),
            property: owner.property("").await,
            refresh_token: tokens["refresh_token"].as_str().unwrap().to_owned(),
            base,
            owner,
            application,
        }
    }

    /// Asks every surface once.
    async fn ask_everything(&self) -> Vec<Said> {
        let (http, base) = (http_client().unwrap(), &self.base);
        let mut said = Vec::new();
        for (name, path) in [
            ("list", "/api/tags".to_owned()),
            ("property", format!("/api/properties/{}/segments", self.property)),
            ("figures", format!("/api/properties/{}/performance", self.property)),
        ] {
            let answer = self.owner.get(&path).await;
            said.push((name, answer.status.as_u16(), seconds(answer.header("retry-after"))));
        }
        for (name, key) in [("write", None), ("keyed write", Some("key-1"))] {
            let mut headers = vec![("content-type", "application/json")];
            headers.extend(key.map(|key| ("idempotency-key", key)));
            let body = json!({ "name": name }).to_string();
            let answer = self.owner.send(Method::POST, "/api/tags", Some(body), &headers).await;
            said.push((name, answer.status.as_u16(), seconds(answer.header("retry-after"))));
        }
        for (name, path) in [
            ("sites", "/".to_owned()),
            ("dashboard", format!("/p/{}", self.property)),
            ("account", "/account".to_owned()),
            ("activity", "/account/activity".to_owned()),
            ("plans", "/subscribe".to_owned()),
        ] {
            let page = self.browser.get(&path).await;
            said.push((name, page.status.as_u16(), seconds(page.header("retry-after"))));
        }
        let reply = self.assistant.ask("tools/list", json!({})).await;
        said.push(("assistant", reply.status.as_u16(), seconds(reply.header("retry-after"))));
        let refresh = [
            ("grant_type", "refresh_token"),
            ("refresh_token", self.refresh_token.as_str()),
            ("client_id", &self.application.id),
        ];
        let client = json!({ "client_name": "Probe", "redirect_uris": ["http://127.0.0.1/callback"] });
        let sign_in = http.get(format!("{base}/auth/login?return_to=/account")).send().await.unwrap();
        let page = sign_in.headers()["location"].to_str().unwrap();
        for (name, request) in [
            ("sign-in", http.get(page).header("accept", "text/html")),
            ("tokens", http.post(format!("{base}/oauth/token")).form(&refresh)),
            ("registration", http.post(format!("{base}/oauth/register")).json(&client)),
            ("keys", http.get(format!("{base}/oauth/jwks"))),
            ("person", http.get(format!("{base}/oauth/userinfo")).bearer_auth(self.owner.token())),
        ] {
            let answer = sent(request).await;
            said.push((name, answer.status().as_u16(), answer.headers().get("retry-after").map(number)));
        }
        said
    }

    /// Fails unless every surface answers 503 with `Retry-After`.
    async fn hear_that_it_is_away(&self) {
        for (name, status, retry_after) in self.ask_everything().await {
            assert!(
                status == 503 && retry_after.is_some_and(|seconds| seconds >= 1),
                "{name}: {status} {retry_after:?}"
            );
        }
    }
}

async fn sent(request: RequestBuilder) -> Response {
    request.send().await.unwrap()
}

fn number(value: &reqwest::header::HeaderValue) -> u64 {
    value.to_str().unwrap().parse().unwrap()
}

fn seconds(header: &str) -> Option<u64> {
    (!header.is_empty()).then(|| header.parse().unwrap())
}

#[tokio::test]
async fn every_surface_is_unavailable_while_postgresql_is_away_and_works_afterwards() {
    let Some((app, relay)) = cuttable().await else { return };
    let callers = Callers::of(&app).await;
    relay.stop();
    callers.hear_that_it_is_away().await;
    relay.resume();
    for (name, status, _) in callers.ask_everything().await {
        assert!(status < 300, "{name} is still unavailable, or somebody was signed out: {status}");
    }
}

#[tokio::test]
async fn every_surface_is_unavailable_without_a_connection() {
    let app = TestApp::start(|_| {}).await;
    let callers = Callers::of(&app).await;
    app.service.close_database().await;
    callers.hear_that_it_is_away().await;
}

#[tokio::test]
async fn a_browser_that_comes_back_while_postgresql_is_away_can_sign_in_afterwards() {
    let Some((app, relay)) = cuttable().await else { return };
    let (http, base) = (http_client().unwrap(), &app.service.base_url);
    let begun = sent(http.get(format!("{base}/auth/login?login_hint=owner&return_to=/account"))).await;
    let attempt = cookie(begun.headers(), "sightline_attempt");
    let issuer = sent(http.get(begun.headers()["location"].to_str().unwrap())).await;
    let back = issuer.headers()["location"].to_str().unwrap();
    relay.stop();
    let page = sent(http.get(back).header("cookie", attempt)).await;
    assert_eq!((page.status().as_u16(), number(&page.headers()["retry-after"])), (503, 5));
    assert!(page.whole_text().await.unwrap().contains("Sign-in is not available at the moment"));
    relay.resume();
    Browser::signed_in(&app, "owner").await.get("/account").await.expect(200);
}
