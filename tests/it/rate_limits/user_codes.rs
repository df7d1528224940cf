//! Tests of codes of machines behind a proxy, and on two replicas.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::Value;

use super::behind_a_proxy;
use crate::support::{app::TestApp, cookies::cookie, whole::Whole as _};

/// A browser in which the demo owner has signed in with the page.
struct Browser {
    http: reqwest::Client,
    base_url: String,
    /// The session at the issuer and the token of its forms.
    cookies: String,
    token: String,
}

impl Browser {
    async fn of_owner(app: &TestApp) -> Self {
        let (http, base_url) = (sightline::app::http_client().unwrap(), app.service.base_url.clone());
        let begun = http.get(format!("{base_url}/auth/login")).send().await.unwrap();
        let page = begun.headers()["location"].to_str().unwrap().to_owned();
        let shown = cookie(http.get(&page).send().await.unwrap().headers(), "sightline_sign_in");
        let token = shown.split_once('=').unwrap().1.to_owned();
        let form = [("person", "owner"), ("csrf", &token)];
        let chosen = http.post(&page).header("cookie", &shown).form(&form).send().await.unwrap();
        let cookies = format!("{shown}; {}", cookie(chosen.headers(), "sightline_issuer"));
        Self { http, base_url, cookies, token }
    }

    /// Enters a code at a replica, as the proxy names the browser. Returns the status, the seconds to wait, and the page.
    async fn enter(&self, app: &TestApp, from: &str, code: &str) -> (u16, String, String) {
        let host = self.base_url.strip_prefix("http://").unwrap();
        let answer = self
            .http
            .post(format!("http://{}/device", app.service.address))
            .header("host", host)
            .header("x-forwarded-for", from)
            .header("cookie", &self.cookies)
            .form(&[("code", code), ("csrf", &self.token)])
            .send()
            .await
            .unwrap();
        let wait = answer.headers().get("retry-after").map_or("", |value| value.to_str().unwrap()).to_owned();
        (answer.status().as_u16(), wait, answer.whole_text().await.unwrap())
    }
}

/// The code that a machine at this address shows.
async fn user_code(app: &TestApp, from: &str) -> String {
    let headers = [("x-forwarded-for", from), ("content-type", "application/x-www-form-urlencoded")];
    let form = Some("client_id=sightline-cli".to_owned());
    let answer = app.anonymous().send(Method::POST, "/oauth/device_authorization", form, &headers).await.expect(200);
    let Value::String(code) = &answer.json["user_code"] else { panic!("{answer:?}") };
    code.clone()
}

#[tokio::test]
async fn replicas_together_allow_as_many_guesses_at_codes_as_one() {
    let one = behind_a_proxy(2).await;
    // One process serves a file of `SQLite`.
    let Some(other) = one.beside().await else { return };
    let browser = Browser::of_owner(&one).await;
    for number in 0..20 {
        let app = if number % 2 == 0 { &one } else { &other };
        let (status, _, page) = browser.enter(app, "127.0.0.1", "BBBB-BBBB").await;
        assert_eq!(status, 400, "{page}");
    }
    let code = user_code(&one, "127.0.0.1").await;
    for app in [&one, &other] {
        let (status, wait, page) = browser.enter(app, "127.0.0.1", &code).await;
        assert_eq!((status, wait.as_str()), (429, "60"), "{page}");
    }
    for app in [&one, &other] {
        app.hand.advance(TimeDelta::minutes(1));
    }
    assert_eq!(browser.enter(&other, "127.0.0.1", &code).await.0, 200, "a code of the other replica");
    assert_eq!(browser.enter(&one, "127.0.0.1", &code).await.0, 429);
}

#[tokio::test]
async fn demo_people_allow_programs_on_this_computer_only() {
    let app = behind_a_proxy(2).await;
    let browser = Browser::of_owner(&app).await;
    let (here, elsewhere) = (user_code(&app, "127.0.0.1").await, user_code(&app, "198.51.100.7").await);
    for (from, code, status, says) in [
        ("127.0.0.1", &here, 200, "this computer (127.0.0.1)"),
        ("127.0.0.1", &elsewhere, 400, "A demo person allows programs on this computer only."),
        ("198.51.100.7", &here, 400, "A demo person allows programs on this computer only."),
    ] {
        let (answered, _, page) = browser.enter(&app, from, code).await;
        assert!(answered == status && page.contains(says), "{from}: {page}");
    }
}
