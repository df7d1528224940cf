//! A browser: it keeps cookies, sends the hidden token of forms, and follows redirects one by one.

use std::{cell::RefCell, collections::BTreeMap};

use common::digest::pkce_challenge;
use entity::account;
use issuer::accounts::operator::Operator;
use sightline::services::team;

use super::{Answer, REDIRECT_URI, TestIssuer, VERIFIER};
use crate::support::cookies::is_called;

pub(super) const PASSWORD: &str = "tin can river 9";
pub(super) const ANN: &str = "ann@corp.test";

pub(super) struct Browser<'a> {
    pub issuer: &'a TestIssuer,
    pub jar: RefCell<BTreeMap<String, String>>,
}

impl<'a> Browser<'a> {
    pub fn new(issuer: &'a TestIssuer) -> Self {
        Self { issuer, jar: RefCell::default() }
    }

    pub fn cookie(&self, name: &str) -> String {
        let jar = self.jar.borrow();
        let held = jar.iter().find(|(key, value)| is_called(key, name) && !value.is_empty());
        held.map(|(_, value)| value.clone()).unwrap_or_default()
    }

    /// Puts the cookie that the code calls `name` into the browser, as an attacker might.
    pub fn plant(&self, name: &str, value: &str) {
        self.jar.borrow_mut().insert(self.issuer.host_cookie(name), value.to_owned());
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        let pairs = self.jar.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
        let answer = Answer::of(request.header("cookie", pairs.join("; "))).await;
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().unwrap();
            assert!(line.contains("; HttpOnly") && line.contains("; SameSite=Lax"), "{line}");
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            self.jar.borrow_mut().insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    fn at(&self, path: &str) -> String {
        if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.issuer.base) }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.issuer.http.get(self.at(path))).await
    }

    /// Sends a form with the token of the last page.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let token = self.cookie("sightline_sign_in");
        let form: Vec<_> = form.iter().copied().chain([("csrf", token.as_str())]).collect();
        self.send(self.issuer.http.post(self.at(path)).form(&form)).await
    }

    pub async fn api(&self) -> u16 {
        self.get("/api").await.status
    }

    /// Sets a password with the link of `token`.
    pub async fn set_password(&self, token: &str, password: &str) -> Answer {
        self.follow_link(token).await;
        self.enter_new_password(token, password).await
    }

    /// Opens the page of a link.
    pub async fn follow_link(&self, token: &str) -> Answer {
        self.get(&format!("/account/password/set?token={token}")).await
    }

    /// Sends the form of a link's page.
    pub async fn enter_new_password(&self, token: &str, password: &str) -> Answer {
        let form = [("token", token), ("new", password), ("repeated", password)];
        self.post("/account/password/set", &form).await
    }

    /// Enters a password at the page of `client`.
    pub async fn enter(&self, client: &str, email: &str, password: &str) -> Answer {
        let url = authorize_path(client, &[]);
        self.get(&url).await;
        self.post(&url, &[("decision", "enter"), ("email", email), ("password", password)]).await
    }

    /// Signs in to the service itself.
    pub async fn sign_in(&self, email: &str, password: &str) -> Answer {
        let url = self.get("/auth/login").await.header("location").to_owned();
        let page = self.get(&url).await;
        if page.status != 200 {
            return self.get(page.header("location")).await;
        }
        let entered = self.post(&url, &[("decision", "enter"), ("email", email), ("password", password)]).await;
        if entered.status != 303 {
            return entered;
        }
        let back = self.get(entered.header("location")).await;
        assert_eq!(back.status, 303, "{}", back.body);
        self.get(back.header("location")).await
    }

    /// Allows the client, which the browser is asked about, and returns the code.
    pub async fn allow(&self, client: &str, changes: &[(&str, &str)]) -> String {
        self.agree(client, changes).await.redirect()["code"].clone()
    }

    /// Allows the client, and returns where the browser is sent.
    pub async fn allow_at(&self, client: &str, changes: &[(&str, &str)]) -> String {
        self.agree(client, changes).await.header("location").to_owned()
    }

    async fn agree(&self, client: &str, changes: &[(&str, &str)]) -> Answer {
        let url = authorize_path(client, changes);
        let page = self.get(&url).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let (session, held) = (hidden(&page, "session"), hidden(&page, "held"));
        self.post(&url, &[("decision", "allow"), ("session", &session), ("held", &held)]).await
    }
}

/// The value of a hidden field.
pub(super) fn hidden(page: &Answer, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let rest = page.body.split(&start).nth(1).unwrap_or_else(|| panic!("no {name}: {}", page.body));
    rest.split('"').next().unwrap().to_owned()
}

impl TestIssuer {
    pub(super) fn operator(&self) -> Operator {
        Operator { db: self.db.clone(), random: self.random.clone(), now: self.clock.now() }
    }

    /// Removes an account as the operator's command does.
    pub(super) async fn remove(&self, email: &str) -> Result<account::Model, store::Error> {
        let now = self.clock.now();
        self.operator().remove(email, async |tx, subject| team::end_made_by(tx, subject, now).await).await
    }

    /// Adds an account with [`PASSWORD`].
    pub(super) async fn account(&self, email: &str) -> String {
        let invitation = self.operator().add(email, Some("Ann")).await.unwrap();
        let set = Browser::new(self).set_password(&invitation.token, PASSWORD).await;
        assert_eq!(set.status, 303, "{}", set.body);
        invitation.account.id.to_string()
    }
}

/// The path of an authorization request. `changes` replace parameters (an empty value: omitted).
pub(super) fn authorize_path(client: &str, changes: &[(&str, &str)]) -> String {
    let challenge = pkce_challenge(VERIFIER);
    let mut parameters = BTreeMap::from([
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT_URI),
        ("scope", "openid profile email offline_access"),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("state", "s"),
    ]);
    parameters.extend(changes.iter().copied());
    parameters.retain(|_, value| !value.is_empty());
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    format!("/oauth/authorize?{query}")
}
