//! An application that asks a demo person for access, who decides on the consent page.

use common::digest::pkce_challenge;
use serde_json::{Value, json};
use sightline::app::http_client;
use url::Url;

use super::{
    actor::Actor,
    browser::{Browser, Page},
    whole::Whole as _,
};

/// The grant type of device codes.
const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

const REDIRECT: &str = "http://127.0.0.1/callback";

/// A registered client.
pub struct Application {
    base: String,
    /// Its id.
    pub id: String,
    /// True if it has people asked again.
    pub asks_again: bool,
}

/// The verifier of the flow with PKCE.
fn verifier() -> String {
    "v".repeat(64)
}

impl Application {
    /// Registers a client.
    pub async fn register(base: &str) -> Self {
        let metadata = json!({
            "client_name": "Probe", "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token", DEVICE_CODE],
        });
        let answer = http_client().unwrap().post(format!("{base}/oauth/register")).json(&metadata).send().await;
        let client: Value = answer.unwrap().whole_json().await.unwrap();
        Self { base: base.to_owned(), id: client["client_id"].as_str().unwrap().to_owned(), asks_again: false }
    }

    /// The path of its authorization request.
    fn question(&self, scope: &str, resource: Option<&str>) -> String {
        let challenge = pkce_challenge(&verifier());
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs([
            ("response_type", "code"),
            ("client_id", self.id.as_str()),
            ("redirect_uri", REDIRECT),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("scope", scope),
        ]);
        query.extend_pairs(resource.map(|resource| ("resource", resource)));
        query.extend_pairs(self.asks_again.then_some(("prompt", "consent")));
        format!("/oauth/authorize?{}", query.finish())
    }

    /// Sends the person's browser to the issuer. Returns the consent page, or the answer to the application.
    pub async fn ask(&self, browser: &Browser, person: &str, scope: &str, resource: Option<&str>) -> (String, Page) {
        let mut path = self.question(scope, resource);
        let mut page = browser.get(&path).await;
        if page.html.contains("name=\"person\"") {
            let form = [("csrf", hidden(&page, "csrf")), ("person", person.to_owned())];
            let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
            path = browser.post(&path, &form).await.location;
            page = browser.get(&path).await;
        }
        (path, page)
    }

    /// The tokens that it gets from a person who allows it `allowance`, one of those on the page. `None` takes what the page offers.
    pub async fn allowed(
        &self,
        browser: &Browser,
        person: &str,
        scope: &str,
        resource: Option<&str>,
        allowance: Option<&str>,
    ) -> Value {
        let (path, mut page) = self.ask(browser, person, scope, resource).await;
        if page.status == 200 {
            let (csrf, session) = (hidden(&page, "csrf"), hidden(&page, "session"));
            let held = hidden(&page, "held");
            let mut form = vec![("csrf", csrf.as_str()), ("session", &session), ("held", &held), ("decision", "allow")];
            form.extend(allowance.map(|allowance| ("allowance", allowance)));
            page = browser.post(&path, &form).await;
        }
        let back = Url::parse(&page.location).unwrap_or_else(|_| panic!("{page:?}"));
        let code = back.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
        let verifier = verifier();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("code_verifier", &verifier),
            ("redirect_uri", REDIRECT),
        ];
        self.tokens(&form).await
    }

    /// Asks for a device code. Returns it, and the page that says who asks, for a person whose browser is signed in.
    pub async fn ask_by_code(&self, browser: &Browser, scope: &str) -> (String, Page) {
        let form = [("client_id", self.id.as_str()), ("scope", scope)];
        let address = format!("{}/oauth/device_authorization", self.base);
        let codes = http_client().unwrap().post(address).form(&form).send().await.unwrap();
        let codes: Value = codes.whole_json().await.unwrap();
        let page = browser.get("/device").await.expect(200, &[]);
        let (csrf, code) = (hidden(&page, "csrf"), codes["user_code"].as_str().unwrap());
        let page = browser.post("/device", &[("csrf", &csrf), ("code", code)]).await.expect(200, &["Who asks"]);
        (codes["device_code"].as_str().unwrap().to_owned(), page)
    }

    /// Sends the form of `page`, on which a person allows a machine `allowance`. `None` takes what the page offers.
    pub async fn decided_by_code(&self, browser: &Browser, page: &Page, allowance: Option<&str>) {
        let fields = ["csrf", "code", "session", "held"].map(|name| (name, hidden(page, name)));
        let mut form: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let ticked = page.choices().1;
        form.extend(allowance.or(ticked.as_deref()).map(|allowance| ("allowance", allowance)));
        form.push(("decision", "allow"));
        browser.post("/device", &form).await.expect(200, &["The machine has access"]);
    }

    /// The answer to a device code whose machine a person allows `allowance` on `page`. `None` takes what the page offers.
    pub async fn allowed_by_code(&self, browser: &Browser, code: &str, page: &Page, allowance: Option<&str>) -> Value {
        self.decided_by_code(browser, page, allowance).await;
        self.tokens(&[("grant_type", DEVICE_CODE), ("device_code", code)]).await
    }

    /// The answer of the token endpoint.
    pub async fn tokens(&self, form: &[(&str, &str)]) -> Value {
        let form = [form, &[("client_id", self.id.as_str())]].concat();
        let answer = http_client().unwrap().post(format!("{}/oauth/token", self.base)).form(&form).send().await;
        answer.unwrap().whole_json().await.unwrap()
    }

    /// Somebody who acts with the access token among `tokens`.
    pub fn acting(&self, tokens: &Value) -> Actor {
        Actor::with_token(&self.base, tokens["access_token"].as_str().unwrap_or_else(|| panic!("{tokens}")))
    }
}

/// The value of a hidden field.
fn hidden(page: &Page, name: &str) -> String {
    let field = page.html.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("{page:?}")).1;
    field.split('"').next().unwrap().to_owned()
}
