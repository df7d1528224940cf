//! Tests of device codes: a machine without a browser asks, and a person decides in a browser elsewhere.

use std::collections::HashSet;

use chrono::TimeDelta;
use entity::{device_code, issuer_session};
use futures_util::future::join_all;
use sea_orm::EntityTrait as _;
use serde_json::{Value, json};

use super::{
    Answer, REDIRECT_URI, TestIssuer,
    browser::{ANN, Browser, PASSWORD, hidden},
    flow::EVERY_RIGHT,
    text,
};

const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:device_code";
pub(super) const PATH: &str = "/device";
pub(super) const ENDPOINT: &str = "/oauth/device_authorization";

/// A machine that has asked for its codes.
pub(super) struct Machine<'a> {
    issuer: &'a TestIssuer,
    pub client: String,
    pub codes: Value,
}

impl<'a> Machine<'a> {
    /// A machine of a new client that asks for everything.
    pub async fn new(issuer: &'a TestIssuer) -> Self {
        let client = issuer.device_client(&json!({})).await;
        Self::of(issuer, client, "openid email offline_access").await
    }

    pub async fn of(issuer: &'a TestIssuer, client: String, scope: &str) -> Self {
        let answer = issuer.post(ENDPOINT, &[("client_id", &client), ("scope", scope)]).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let codes = answer.json();
        Self { issuer, client, codes }
    }

    pub fn user_code(&self) -> &str {
        text(&self.codes, "user_code")
    }

    /// Asks for tokens.
    pub async fn poll(&self) -> Answer {
        self.poll_as(&self.client).await
    }

    async fn poll_as(&self, client: &str) -> Answer {
        let code = text(&self.codes, "device_code");
        self.issuer
            .post("/oauth/token", &[("grant_type", GRANT_TYPE), ("device_code", code), ("client_id", client)])
            .await
    }

    pub async fn tokens(&self) -> Value {
        let answer = self.poll().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.json()
    }
}

impl TestIssuer {
    /// Registers a client of device codes alone, changed by `more`.
    pub(super) async fn device_client(&self, more: &Value) -> String {
        let mut metadata = json!({ "client_name": "<b>Board</b>", "grant_types": [GRANT_TYPE, "refresh_token"] });
        metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = Answer::of(self.http.post(format!("{}/oauth/register", self.base)).json(&metadata)).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        text(&answer.json(), "client_id").to_owned()
    }

    /// A browser in which [`ANN`] is signed in.
    pub(super) async fn browser_of_ann(&self) -> Browser<'_> {
        let browser = Browser::new(self);
        assert_eq!(browser.sign_in(ANN, PASSWORD).await.status, 303);
        browser
    }

    pub(super) async fn with_ann() -> Self {
        let issuer = Self::without_demo_people().await;
        issuer.account(ANN).await;
        issuer
    }
}

impl Browser<'_> {
    /// Enters a code on the page.
    pub(super) async fn enter_code(&self, code: &str) -> Answer {
        self.get(PATH).await;
        self.post(PATH, &[("code", code)]).await
    }

    /// Enters the code of a machine, and decides.
    async fn decide(&self, machine: &Machine<'_>, decision: &str, allowance: &str) -> Answer {
        let page = self.enter_code(machine.user_code()).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let (code, session, held) = (hidden(&page, "code"), hidden(&page, "session"), hidden(&page, "held"));
        let form = [
            ("code", &*code),
            ("session", &session),
            ("held", &held),
            ("decision", decision),
            ("allowance", allowance),
        ];
        self.post(PATH, &form).await
    }

    pub(super) async fn allow_machine(&self, machine: &Machine<'_>, allowance: &str) {
        let done = self.decide(machine, "allow", allowance).await;
        assert!(done.status == 200 && done.body.contains("The machine has access"), "{}", done.body);
    }
}

#[tokio::test]
async fn a_machine_gets_what_a_person_allows_in_a_browser_elsewhere() {
    let issuer = TestIssuer::with_ann().await;
    let machine = Machine::new(&issuer).await;
    let document = issuer.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(document["device_authorization_endpoint"], format!("{}{ENDPOINT}", issuer.base));
    let codes = &machine.codes;
    assert_eq!((&codes["expires_in"], &codes["interval"]), (&json!(600), &json!(5)));
    assert_eq!(codes["verification_uri"], format!("{}{PATH}", issuer.base));
    assert!(codes.get("verification_uri_complete").is_none(), "nobody allows anything by following a link");
    assert_eq!(text(codes, "device_code").len(), 43);
    machine.poll().await.refused("authorization_pending");

    let stranger = Browser::new(&issuer).get(PATH).await;
    assert_eq!((stranger.status, stranger.header("location")), (303, "/auth/login?return_to=/device"));
    let browser = issuer.browser_of_ann().await;
    let typed = machine.user_code().to_lowercase().replace('-', " ");
    let linked = browser.get(&format!("{PATH}?user_code={}&code={typed}", machine.user_code())).await;
    assert!(linked.status == 200 && !linked.body.contains(machine.user_code()), "{}", linked.body);
    let page = browser.enter_code(&typed).await;
    assert_eq!(page.status, 200, "{}", page.body);
    for said in [
        ANN,
        "&lt;b&gt;Board&lt;/b&gt;",
        machine.user_code(),
        "this computer (127.0.0.1)",
        "14 September 2026, 12:00 UTC",
        "Read the search data",
        "while you are away",
        "on your own machine",
        "value=\"read\" required checked",
    ] {
        assert!(page.body.contains(said), "{said}: {}", page.body);
    }
    machine.poll().await.refused("slow_down");
    browser.allow_machine(&machine, "read").await;

    let tokens = machine.tokens().await;
    assert_eq!(tokens["scope"], "openid email offline_access search:read");
    let api = issuer.api(text(&tokens, "access_token")).await;
    assert!(api.status == 200 && api.body.contains(ANN), "{}", api.body);
    let renewed = issuer.refresh(&machine.client, text(&tokens, "refresh_token")).await.json();
    assert_eq!(renewed["scope"], tokens["scope"]);
    machine.poll().await.refused("invalid_grant");
    assert_eq!(issuer.api(text(&renewed, "access_token")).await.status, 200, "a second use takes nothing away");
    let again = browser.enter_code(machine.user_code()).await;
    assert!(again.status == 400 && again.body.contains("No machine waits with this code"), "{}", again.body);
}

#[tokio::test]
async fn a_machine_is_allowed_only_to_read_whatever_its_client_may_elsewhere() {
    let issuer = TestIssuer::with_ann().await;
    let grants = json!(["authorization_code", "refresh_token", GRANT_TYPE]);
    let client = issuer.device_client(&json!({ "grant_types": grants, "redirect_uris": [REDIRECT_URI] })).await;
    let browser = issuer.browser_of_ann().await;
    let code = browser.allow(&client, &[]).await;
    let elsewhere = issuer.redeem(&client, &code, &[]).await.json();
    let scope_there = format!("openid profile email offline_access {EVERY_RIGHT}");
    assert_eq!(elsewhere["scope"], scope_there);

    let machine = Machine::of(&issuer, client.clone(), "openid offline_access").await;
    browser.allow_machine(&machine, "read").await;
    let tokens = machine.tokens().await;
    assert_eq!(tokens["scope"], "openid offline_access search:read");
    let renewed = issuer.refresh(&client, text(&tokens, "refresh_token")).await.json();
    assert_eq!(renewed["scope"], tokens["scope"], "it never gets more");
    let elsewhere = issuer.refresh(&client, text(&elsewhere, "refresh_token")).await.json();
    assert_eq!(elsewhere["scope"], scope_there, "it keeps what it has elsewhere");

    for (allowance, granted) in
        [("records", "search:read records:write"), ("everything", "search:read records:write account")]
    {
        let machine = Machine::of(&issuer, client.clone(), "openid").await;
        browser.allow_machine(&machine, allowance).await;
        assert_eq!(machine.tokens().await["scope"], format!("openid offline_access {granted}"));
    }
    for missing in ["", "all"] {
        let machine = Machine::of(&issuer, client.clone(), "openid").await;
        let page = browser.decide(&machine, "allow", missing).await;
        assert!(page.body.contains("Who asks"), "it is asked again: {}", page.body);
        machine.poll().await.refused("authorization_pending");
    }
}

#[tokio::test]
async fn a_machine_that_is_denied_is_told_so() {
    let issuer = TestIssuer::with_ann().await;
    let (machine, browser) = (Machine::new(&issuer).await, issuer.browser_of_ann().await);
    let denied = browser.decide(&machine, "deny", "everything").await;
    assert!(denied.status == 200 && denied.body.contains("You have allowed nothing"), "{}", denied.body);
    machine.poll().await.refused("access_denied");
    assert_eq!(browser.enter_code(machine.user_code()).await.status, 400, "it is decided");
}

#[tokio::test]
async fn a_machine_that_asks_too_often_has_to_wait_longer() {
    let issuer = TestIssuer::with_ann().await;
    let machine = Machine::new(&issuer).await;
    for (wait, answer) in [
        (0, "authorization_pending"),
        (5, "authorization_pending"),
        (4, "slow_down"),
        (5, "slow_down"),
        (14, "slow_down"),
        (20, "authorization_pending"),
        (19, "slow_down"),
    ] {
        issuer.hand.advance(TimeDelta::seconds(wait));
        machine.poll().await.refused(answer);
    }
    issuer.browser_of_ann().await.allow_machine(&machine, "read").await;
    machine.tokens().await;
}

#[tokio::test]
async fn both_codes_expire_after_ten_minutes() {
    let issuer = TestIssuer::with_ann().await;
    let (waiting, allowed) = (Machine::new(&issuer).await, Machine::new(&issuer).await);
    let browser = issuer.browser_of_ann().await;
    browser.allow_machine(&allowed, "read").await;
    let open = browser.enter_code(waiting.user_code()).await;
    issuer.hand.advance(TimeDelta::minutes(10));
    for machine in [&waiting, &allowed] {
        machine.poll().await.refused("expired_token");
    }
    let (code, session) = (hidden(&open, "code"), hidden(&open, "session"));
    let form = [("code", &*code), ("session", &session), ("decision", "allow"), ("allowance", "read")];
    assert_eq!(browser.post(PATH, &form).await.status, 400);
    waiting.poll().await.refused("expired_token");
    issuer.provider.sweep().await.unwrap();
    assert_eq!(device_code::Entity::find().all(&issuer.db).await.unwrap().len(), 2);
    issuer.hand.advance(TimeDelta::minutes(10) + TimeDelta::seconds(1));
    issuer.provider.sweep().await.unwrap();
    assert_eq!(device_code::Entity::find().all(&issuer.db).await.unwrap(), []);
    waiting.poll().await.refused("invalid_grant");
}

#[tokio::test]
async fn several_uses_of_a_device_code_at_once_get_one_refresh_token() {
    let issuer = TestIssuer::with_ann().await;
    let machine = Machine::new(&issuer).await;
    issuer.browser_of_ann().await.allow_machine(&machine, "read").await;
    let answers = join_all((0..8).map(|_| machine.poll())).await;
    let tokens: HashSet<String> =
        answers.iter().map(|answer| text(&answer.json(), "refresh_token").to_owned()).collect();
    assert_eq!(tokens.len(), 1);
    issuer.hand.advance(TimeDelta::seconds(31));
    machine.poll().await.refused("invalid_grant");
    for answer in answers {
        assert_eq!(issuer.api(text(&answer.json(), "access_token")).await.status, 200, "a late use takes nothing away");
    }
}

#[tokio::test]
async fn of_two_decisions_at_once_one_counts() {
    let issuer = TestIssuer::with_ann().await;
    let (machine, browser) = (Machine::new(&issuer).await, issuer.browser_of_ann().await);
    let page = browser.enter_code(machine.user_code()).await;
    let (code, session) = (hidden(&page, "code"), hidden(&page, "session"));
    let form = |allowance| [("code", &*code), ("session", &*session), ("decision", "allow"), ("allowance", allowance)];
    let (read, everything) = (form("read"), form("everything"));
    let (left, right) = tokio::join!(browser.post(PATH, &read), browser.post(PATH, &everything));
    assert_eq!([left.status, right.status], [200, 200]);
    let counts = |page: &Answer| page.body.contains("goes on within seconds");
    assert!(counts(&left) != counts(&right), "{} {}", left.body, right.body);
    let expected = if counts(&left) { "search:read" } else { EVERY_RIGHT };
    assert!(text(&machine.tokens().await, "scope").ends_with(&format!("offline_access {expected}")));
}

#[tokio::test]
async fn a_device_code_is_good_for_its_client_alone() {
    let issuer = TestIssuer::with_ann().await;
    let machine = Machine::new(&issuer).await;
    issuer.browser_of_ann().await.allow_machine(&machine, "read").await;
    let other = issuer.device_client(&json!({})).await;
    machine.poll_as(&other).await.refused("invalid_grant");
    machine.poll_as("nobody").await.refused("invalid_client");
    machine.tokens().await;

    let without = issuer.client().await;
    issuer.post(ENDPOINT, &[("client_id", &without)]).await.refused("unauthorized_client");
    for own in ["sightline-web", "sightline-docs"] {
        issuer.post(ENDPOINT, &[("client_id", own)]).await.refused("unauthorized_client");
    }
    for (form, error) in [
        (vec![("client_id", "nobody")], "invalid_client"),
        (vec![("client_id", "")], "invalid_request"),
        (vec![("client_id", &*other), ("client_secret", "x")], "invalid_client"),
        (vec![("client_id", &*other), ("scope", "openid account:admin")], "invalid_scope"),
        (vec![("client_id", &*other), ("resource", "https://elsewhere.example")], "invalid_target"),
    ] {
        issuer.post(ENDPOINT, &form).await.refused(error);
    }
    issuer.post("/oauth/token", &[("grant_type", GRANT_TYPE), ("client_id", &other)]).await.refused("invalid_request");
    let answer = issuer.post(ENDPOINT, &[("client_id", &other)]).await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"));
    assert_eq!(answer.header("access-control-allow-origin"), "", "no page of another site reads it");
}

#[tokio::test]
async fn a_token_for_one_resource_opens_no_other() {
    let issuer = TestIssuer::with_ann().await;
    let (client, mcp) = (issuer.device_client(&json!({})).await, format!("{}/mcp", issuer.base));
    let asked = issuer.post(ENDPOINT, &[("client_id", &client), ("resource", &mcp)]).await;
    let machine = Machine { issuer: &issuer, client, codes: asked.json() };
    issuer.browser_of_ann().await.allow_machine(&machine, "read").await;
    let code = text(&machine.codes, "device_code");
    let asked = |resource| {
        [("grant_type", GRANT_TYPE), ("device_code", code), ("client_id", &machine.client), ("resource", resource)]
    };
    issuer.post("/oauth/token", &asked("https://elsewhere.example")).await.refused("invalid_target");
    // The root means every resource of the grant, and widens nothing.
    let tokens = issuer.post("/oauth/token", &asked(&issuer.base)).await.json();
    let access = text(&tokens, "access_token");
    assert_eq!(Answer::of(issuer.http.get(&mcp).bearer_auth(access)).await.status, 200);
    assert_eq!(issuer.api(access).await.status, 401);
}

#[tokio::test]
async fn only_the_form_of_this_browser_and_session_decides() {
    let issuer = TestIssuer::with_ann().await;
    let (machine, browser) = (Machine::new(&issuer).await, issuer.browser_of_ann().await);
    let page = browser.enter_code(machine.user_code()).await;
    let (code, session) = (hidden(&page, "code"), hidden(&page, "session"));
    let decision = [("code", code.as_str()), ("decision", "allow"), ("allowance", "read")];
    let form = |session: &str| decision.iter().copied().chain([("session", session)]).map(own).collect::<Vec<_>>();
    let forged = issuer.http.post(format!("{}{PATH}", issuer.base)).form(&form(&session));
    let cookie = format!("{}={}", issuer.host_cookie("sightline_issuer"), browser.cookie("sightline_issuer"));
    assert_eq!(Answer::of(forged.header("cookie", cookie)).await.status, 400, "no token of the form");
    for other in ["", "019a0000-0000-7000-8000-000000000000"] {
        let sent = form(other);
        let sent: Vec<_> = sent.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = browser.post(PATH, &sent).await;
        assert_eq!((answer.status, answer.header("location")), (303, PATH), "{other}");
    }
    machine.poll().await.refused("authorization_pending");
    browser.allow_machine(&machine, "read").await;
    // The session ends before the machine has its tokens.
    issuer_session::Entity::delete_many().exec(&issuer.db).await.unwrap();
    machine.poll().await.refused("invalid_grant");
}

fn own((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
