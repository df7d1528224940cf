//! Recorded exchanges with the search engine's OAuth endpoints, played by a scripted server.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use poem::{Endpoint, EndpointExt as _, Request, Response, listener::TcpAcceptor};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::browser;
use crate::{
    faults::impatient,
    support::{
        app::{TestApp, searches_at},
        browser::{Browser, Page},
        endless::Endless,
    },
};

const SCOPE: &str =
    "openid https://www.googleapis.com/auth/userinfo.email https://www.googleapis.com/auth/webmasters.readonly";

#[derive(Default)]
struct Script {
    /// Responses of the token endpoint, in turn. Afterwards a grant with a refresh token.
    tokens: VecDeque<(u16, Value)>,
    /// Responses of userinfo, in turn. Afterwards the person `110`.
    people: VecDeque<(u16, Value)>,
    lacks_scope: bool,
    /// True if revocations are not answered for now.
    revokes_nothing: bool,
    /// Paths of the received requests.
    seen: Vec<String>,
}

/// The scripted search engine.
#[derive(Clone, Default)]
pub struct Engine {
    script: Arc<Mutex<Script>>,
    /// True while questions about a person are held back.
    holds: watch::Sender<bool>,
    root: String,
    /// Stands in front.
    pub endless: Endless,
}

fn answer(status: u16, body: &Value) -> Response {
    Response::builder().status(status.try_into().unwrap()).content_type("application/json").body(body.to_string())
}

fn grant(scope: &str, refresh_token: Option<&str>) -> (u16, Value) {
    let mut body = json!({ "access_token": "ya29.a0", "expires_in": 3599, "scope": scope, "token_type": "Bearer" });
    if let Some(token) = refresh_token {
        body["refresh_token"] = token.into();
    }
    (200, body)
}

fn person(sub: &str, email: &str) -> (u16, Value) {
    (200, json!({ "sub": sub, "email": email, "email_verified": true, "picture": "https://lh3.example/p" }))
}

impl Endpoint for Engine {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let path = request.uri().path().to_owned();
        self.script.lock().unwrap().seen.push(path.clone());
        if path == "/userinfo" {
            self.holds.subscribe().wait_for(|holds| !holds).await.unwrap();
        }
        let mut script = self.script.lock().unwrap();
        let (status, body) = match path.as_str() {
            "/token" => script.tokens.pop_front().unwrap_or_else(|| grant(SCOPE, Some("1//0first"))),
            "/userinfo" => script.people.pop_front().unwrap_or_else(|| person("110", "me@search.test")),
            "/revoke" if script.revokes_nothing => (503, json!({})),
            "/revoke" => (200, json!({})),
            "/webmasters/v3/sites" if script.lacks_scope => (
                403,
                json!({ "error": {
                "code": 403, "message": "Request had insufficient authentication scopes.", "status": "PERMISSION_DENIED",
                "details": [{ "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT" }] } }),
            ),
            "/webmasters/v3/sites" => (
                200,
                json!({ "siteEntry": [
                { "siteUrl": "https://own.test/", "permissionLevel": "siteOwner" }] }),
            ),
            _ => (404, json!({})),
        };
        Ok(answer(status, &body))
    }
}

impl Engine {
    pub async fn start() -> Self {
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let engine = Self { root: format!("http://{}", socket.local_addr().unwrap()), ..Self::default() };
        let acceptor = TcpAcceptor::from_tokio(socket).unwrap();
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(engine.clone().with(engine.endless.clone())));
        engine
    }

    /// A service with this search engine.
    pub async fn app(&self) -> TestApp {
        TestApp::start(|config| {
            impatient(config);
            searches_at(&self.root, config);
        })
        .await
    }

    /// From now on the API refuses grants for their scope.
    pub fn lacks_scope(&self) {
        self.script.lock().unwrap().lacks_scope = true;
    }

    /// From now on questions about a person are held back, or answered.
    pub fn holds(&self, holds: bool) {
        self.holds.send_replace(holds);
    }

    /// From now on revocations are answered, or not.
    pub fn revokes(&self, answers: bool) {
        self.script.lock().unwrap().revokes_nothing = !answers;
    }

    /// Connects an account with a good grant. Returns the answer to the callback.
    pub async fn connect(&self, browser: &Browser) -> Page {
        self.come_back(browser, &[], "code=4/0A").await
    }

    /// Leaves for the search engine and comes back with `answer`.
    pub async fn come_back(&self, browser: &Browser, form: &[(&str, &str)], answer: &str) -> Page {
        let consent = browser.leave(form).await;
        browser.get(&callback(&consent, answer)).await
    }

    /// Prepares responses, and forgets the requests so far.
    fn script(&self, tokens: &[(u16, Value)], people: &[(u16, Value)]) {
        let mut script = self.script.lock().unwrap();
        script.tokens = tokens.iter().cloned().collect();
        script.people = people.iter().cloned().collect();
        script.seen.clear();
    }

    /// The number of requests to a path since the last script.
    pub fn seen(&self, path: &str) -> usize {
        self.script.lock().unwrap().seen.iter().filter(|seen| *seen == path).count()
    }
}

/// The URL of a callback with the state of the consent page.
pub fn callback(consent: &url::Url, answer: &str) -> String {
    let asked = |name: &str| consent.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned();
    format!("{}?state={}&{answer}", asked("redirect_uri"), asked("state"))
}

/// One exchange: what the search engine answers, what the person is told, and how often it is asked for tokens, for the person and
/// to revoke.
struct Exchange {
    name: &'static str,
    answer: &'static str,
    tokens: Vec<(u16, Value)>,
    people: Vec<(u16, Value)>,
    status: u16,
    says: &'static str,
    asked: [usize; 3],
}

fn cases() -> Vec<Exchange> {
    let error = |name: &str| json!({ "error": name, "error_description": "Bad Request" });
    let case = |name, answer, tokens: &[_], people: &[_], status, says, asked| Exchange {
        name,
        answer,
        tokens: tokens.to_vec(),
        people: people.to_vec(),
        status,
        says,
        asked,
    };
    let code = "code=4/0A&scope=x";
    vec![
        case("consent refused", "error=access_denied", &[], &[], 200, "You cancelled", [0, 0, 0]),
        case(
            "refused by an administrator",
            "error=admin_policy_enforced",
            &[],
            &[],
            502,
            "admin_policy_enforced",
            [0, 0, 0],
        ),
        case("neither code nor error", "x=y", &[], &[], 502, "The search engine refused", [0, 0, 0]),
        case(
            "scope unticked",
            code,
            &[grant("openid https://www.googleapis.com/auth/userinfo.email", Some("1//0"))],
            &[],
            403,
            "nothing was stored",
            [1, 1, 1],
        ),
        case(
            "every scope unticked",
            code,
            &[grant("", None)],
            &[(403, json!({}))],
            403,
            "nothing was stored",
            [1, 1, 1],
        ),
        case("code used or expired", code, &[(400, error("invalid_grant"))], &[], 400, "has expired", [1, 0, 0]),
        case("unknown client", code, &[(401, error("invalid_client"))], &[], 503, "search_engine.client_id", [1, 0, 0]),
        case(
            "another redirect URI",
            code,
            &[(400, error("redirect_uri_mismatch"))],
            &[],
            503,
            "redirect URI",
            [1, 0, 0],
        ),
        case("token endpoint fails", code, &[(503, json!("busy"))], &[], 503, "does not answer", [1, 0, 0]),
        case("token endpoint answers nonsense", code, &[(200, json!("?"))], &[], 503, "does not answer", [1, 0, 0]),
        case("userinfo fails", code, &[], &[(500, json!({}))], 503, "does not answer", [1, 1, 0]),
        case("userinfo refuses", code, &[], &[(401, json!({}))], 503, "does not answer", [1, 1, 0]),
    ]
}

#[tokio::test]
async fn what_goes_wrong_is_said_and_nothing_is_stored() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let browser = browser(&app, "viewer").await;
    for case in cases() {
        engine.script(&case.tokens, &case.people);
        let page = engine.come_back(&browser, &[], case.answer).await;
        assert_eq!(page.status, case.status, "{}: {}", case.name, page.html);
        assert!(page.html.contains(case.says), "{}: {}", case.name, page.html);
        let asked = ["/token", "/userinfo", "/revoke"].map(|path| engine.seen(path));
        assert_eq!(asked, case.asked, "{}", case.name);
        assert_eq!(browser.cookie("sightline_connect"), None, "{}: the attempt is over", case.name);
        browser.get("/account").await.expect(200, &["No search account is connected"]);
    }
}

#[tokio::test]
async fn a_second_consent_is_asked_for_once() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let browser = browser(&app, "viewer").await;
    engine.script(&[grant(SCOPE, None), grant(SCOPE, None)], &[]);
    let again: url::Url = engine.connect(&browser).await.location.parse().unwrap();
    assert!(again.query().unwrap().contains("prompt=consent"), "{again}");
    let page = browser.get(&callback(&again, "code=4/0B")).await;
    page.expect(502, &["no lasting access", "Nothing was stored"]);
    browser.get("/account").await.expect(200, &["No search account is connected"]);

    engine.script(&[grant(SCOPE, None), grant(SCOPE, Some("1//0second"))], &[]);
    let again: url::Url = engine.connect(&browser).await.location.parse().unwrap();
    let path = browser.get(&callback(&again, "code=4/0B")).await.location;
    browser.shows(&path, "Track these properties").await;
}

#[tokio::test]
async fn reconnecting_with_another_account_stores_nothing() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let browser = browser(&app, "viewer").await;
    let id = engine.connect(&browser).await.account();
    engine.script(&[], &[person("220", "other@search.test")]);
    let page = engine.come_back(&browser, &[("account", &id)], "code=4/0A").await;
    let again = format!("name=\"account\" value=\"{id}\"");
    page.expect(409, &["me@search.test", "other@search.test", "Connect it as another account", &again]);
    assert_eq!(engine.seen("/revoke"), 1, "the grant of the other account is not kept");
    let page = browser.get("/account").await.expect(200, &["me@search.test"]);
    assert!(!page.html.contains("other@search.test"));

    engine.script(&[], &[person("220", "other@search.test")]);
    engine.connect(&browser).await.account();
    browser.get("/account").await.expect(200, &["me@search.test", "other@search.test"]);
}

#[tokio::test]
async fn a_grant_revoked_outside_is_renewed_by_a_new_one() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let browser = browser(&app, "viewer").await;
    let path = engine.connect(&browser).await.location;
    browser.shows(&path, "Track these properties").await;
    app.hand.advance(chrono::TimeDelta::hours(2));
    let viewer = app.actor("viewer").await;
    let dead = (400, json!({ "error": "invalid_grant", "error_description": "Token has been expired or revoked." }));
    engine.script(&[dead], &[]);
    super::sync(&viewer).await.expect(409);
    browser.get(&path).await.expect(200, &["Token has been expired or revoked.", "Reconnect"]);
    let id = path.rsplit('/').next().unwrap().to_owned();
    engine.script(&[grant(SCOPE, Some("1//0renewed"))], &[]);
    let renewed = engine.come_back(&browser, &[("account", &id)], "code=4/0A").await;
    assert_eq!(renewed.account(), id);
    super::sync(&viewer).await.expect(200);
}
