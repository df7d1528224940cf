//! Tests of local accounts at a whole service: from the operator's link to the account page.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use common::{digest::pkce_challenge, random::Random};
use entity::account;
use issuer::accounts::{links, operator::Operator};
use poem::http::Method;
use sea_orm::EntityTrait as _;
use serde_json::{Value, json};
use sightline::app::http_client;

use crate::{
    privacy::Named,
    support::{
        actor::Actor,
        app::{TestApp, start_of_test},
        cookies::is_called,
        whole::Whole as _,
    },
};

const PASSWORD: &str = "tin can river 9";

/// A browser that keeps its cookies. Redirects are followed by hand.
struct Browser {
    base: String,
    jar: BTreeMap<String, String>,
}

/// A response: status, `Location` and body.
type Answer = (u16, String, String);

impl Browser {
    fn new(app: &TestApp) -> Self {
        Self { base: app.service.base_url.clone(), jar: BTreeMap::new() }
    }

    async fn send(&mut self, request: reqwest::RequestBuilder) -> Answer {
        let cookies: Vec<_> = self.jar.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let response = request.header("cookie", cookies.join("; ")).send().await.unwrap();
        for line in response.headers().get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.jar.insert(name.to_owned(), value.to_owned());
        }
        let location = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        (response.status().as_u16(), location.unwrap_or_default(), response.whole_text().await.unwrap())
    }

    fn at(&self, path: &str) -> String {
        if path.starts_with('/') { format!("{}{path}", self.base) } else { path.to_owned() }
    }

    async fn get(&mut self, path: &str) -> Answer {
        let request = http_client().unwrap().get(self.at(path));
        self.send(request).await
    }

    async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Answer {
        let (_, token) = self.jar.iter().find(|(name, _)| is_called(name, "sightline_sign_in")).unwrap();
        let form: Vec<_> = form.iter().copied().chain([("csrf", token.as_str())]).collect();
        let request = http_client().unwrap().post(self.at(path)).form(&form);
        self.send(request).await
    }

    /// Enters a password at the sign-in page of the service.
    async fn enter(&mut self, password: &str) -> Answer {
        let issuer = self.get("/auth/login?return_to=/account").await.1;
        self.get(&issuer).await;
        self.post(&issuer, &[("decision", "enter"), ("email", "ann@corp.test"), ("password", password)]).await
    }
}

/// Adds an account and returns the path of its link.
async fn invited(app: &TestApp) -> (String, String) {
    let operator = Operator { db: app.service.db.clone(), random: Random::system(), now: start_of_test() };
    let token = operator.add("ann@corp.test", Some("Ann")).await.unwrap().token;
    (format!("{}?token={token}", links::PATH), token)
}

/// Sets the password, which signs in. Returns the browser on the account page, and the page.
async fn signed_in(app: &TestApp) -> (Browser, String) {
    let ((path, token), mut browser) = (invited(app).await, Browser::new(app));
    assert_eq!(browser.get(&path).await.0, 200);
    let form = [("token", token.as_str()), ("new", PASSWORD), ("repeated", PASSWORD)];
    let (status, mut to, _) = browser.post("/account/password/set", &form).await;
    assert_eq!(status, 303);
    for _ in 0..3 {
        to = browser.get(&to).await.1;
    }
    assert_eq!(to, "/");
    let (status, _, page) = browser.get("/account").await;
    assert_eq!(status, 200);
    (browser, page)
}

#[tokio::test]
async fn a_person_with_a_link_comes_to_their_account_page() {
    let app = TestApp::start(|_| {}).await;
    let (mut browser, page) = signed_in(&app).await;
    assert!(page.contains("ann@corp.test") && !page.contains("not verified"), "{page}");
    assert_eq!(browser.get("/account/password").await.0, 200);
}

#[tokio::test]
async fn an_account_goes_with_its_person_and_is_in_their_export_before() {
    let app = TestApp::start(|_| {}).await;
    let (mut browser, _) = signed_in(&app).await;
    let db = &app.service.db;
    let account = account::Entity::find().one(db).await.unwrap().unwrap();
    let ann = Named::find(db, &account.id.to_string()).await;
    let export: Value = serde_json::from_str(&browser.get("/api/privacy/access").await.2).unwrap();
    let shown = &export["data"]["localAccount"];
    assert_eq!((&shown["email"], &shown["hasPassword"]), (&json!("ann@corp.test"), &json!(true)));
    assert_eq!(shown["links"].as_array().unwrap().len(), 1);
    assert!(!export.to_string().contains("argon2"));

    let request = http_client().unwrap().post(browser.at("/account/delete"));
    let request = request.header("origin", browser.base.clone()).form(&[("confirm", "yes")]);
    let (status, to, page) = browser.send(request).await;
    assert_eq!((status, to.as_str()), (303, "/account/deleted"), "{page}");
    assert_eq!(ann.places(db).await, Vec::<String>::new());
    app.hand.advance(TimeDelta::seconds(1));
    assert_eq!(browser.enter(PASSWORD).await.0, 400, "there is no such account any more");
}

/// Signs in for an application that asks for nobody's address, and returns its access token.
async fn signed_in_without_address(app: &TestApp) -> String {
    let ((path, token), mut browser) = (invited(app).await, Browser::new(app));
    assert_eq!(browser.get(&path).await.0, 200);
    let form = [("token", token.as_str()), ("new", PASSWORD), ("repeated", PASSWORD)];
    assert_eq!(browser.post("/account/password/set", &form).await.0, 303);
    browser.jar.retain(|name, _| !is_called(name, "sightline_issuer"));
    let (verifier, back) = ("v".repeat(64), "http://127.0.0.1/callback");
    let question = [
        ("response_type", "code"),
        ("client_id", "sightline-cli"),
        ("redirect_uri", back),
        ("code_challenge", &pkce_challenge(&verifier)),
        ("code_challenge_method", "S256"),
        ("scope", "openid"),
    ];
    let question = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(question).finish();
    let path = format!("/oauth/authorize?{question}");
    assert_eq!(browser.get(&path).await.0, 200);
    let form = [("decision", "enter"), ("email", "ann@corp.test"), ("password", PASSWORD)];
    let consent = browser.post(&path, &form).await.1;
    let page = browser.get(&consent).await.2;
    let session = page.split_once("name=\"session\" value=\"").unwrap().1.split('"').next().unwrap();
    let to = browser.post(&consent, &[("decision", "allow"), ("session", session)]).await.1;
    let code = to.split_once("code=").unwrap().1.split('&').next().unwrap().to_owned();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", back),
        ("client_id", "sightline-cli"),
        ("code_verifier", &verifier),
    ];
    let tokens = http_client().unwrap().post(browser.at("/oauth/token")).form(&form).send().await.unwrap();
    tokens.whole_json::<Value>().await.unwrap()["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_address_that_only_the_account_knows_goes_with_its_person() {
    let app = TestApp::start(|_| {}).await;
    let ann = Actor::with_token(&app.service.base_url, &signed_in_without_address(&app).await);
    ann.get("/api/tags").await.expect(200);
    let owner = app.actor("owner").await;
    owner.made("/api/team", &json!({ "email": "Ann@corp.test", "role": "viewer", "allProperties": true })).await;
    let to_ann =
        async || owner.listed("/api/team").await.iter().filter(|grant| grant["email"] == "Ann@corp.test").count();
    assert_eq!(to_ann().await, 1);
    ann.send(Method::POST, "/api/privacy/delete", None, &[]).await.expect(204);
    assert_eq!(to_ann().await, 0, "the grant to the person has ended");
    let export = owner.get("/api/privacy/access").await.expect(200).json.to_string();
    assert!(!export.to_lowercase().contains("ann@corp.test") && export.contains("a former member"), "{export}");
}

#[tokio::test]
async fn what_was_allowed_before_the_service_knew_the_person_is_in_their_trail() {
    let app = TestApp::start(|_| {}).await;
    let ann = Actor::with_token(&app.service.base_url, &signed_in_without_address(&app).await);
    for _ in 0..2 {
        let export = ann.get("/api/privacy/access").await.expect(200).json;
        let trail = export["data"]["auditTrail"].as_array().unwrap();
        assert_eq!(trail.len(), 1, "{trail:?}");
        assert_eq!(trail[0]["action"], "application_allowed");
        assert_eq!(trail[0]["what"], "Sightline command line: openid search:read records:write account");
    }
}

#[tokio::test]
async fn guesses_are_limited_though_rate_limits_are_off() {
    let app = TestApp::start(|config| config.rate_limit.enabled = false).await;
    invited(&app).await;
    let mut browser = Browser::new(&app);
    for _ in 0..10 {
        assert_eq!(browser.enter("a guess at it").await.0, 400);
    }
    assert_eq!(browser.enter("a guess at it").await.0, 429);
}
