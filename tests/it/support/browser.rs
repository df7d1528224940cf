//! A browser without script: cookies, forms and redirects.

use std::{collections::BTreeMap, sync::Mutex};

use reqwest::RequestBuilder;
use sightline::app::http_client;
use url::Url;

use super::{cookies::is_called, whole::Whole as _};

/// A person's browser.
pub struct Browser {
    base_url: String,
    http: reqwest::Client,
    cookies: Mutex<BTreeMap<String, String>>,
}

/// A response to a browser.
#[derive(Debug)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// `Location`, or nothing.
    pub location: String,
    /// The body.
    pub html: String,
}

impl Browser {
    /// A browser in which nobody is signed in.
    pub fn new(base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), http: http_client().unwrap(), cookies: Mutex::default() }
    }

    /// A browser in which a demo person has signed in.
    pub async fn signed_in(base_url: &str, name: &str) -> Self {
        let browser = Self::new(base_url);
        browser.sign_in(name).await;
        browser
    }

    /// Signs a demo person in.
    pub async fn sign_in(&self, name: &str) {
        let mut page = self.get(&format!("/auth/login?return_to=/account&login_hint={name}")).await;
        while page.location != "/account" {
            assert_eq!(page.status, 303, "{page:?}");
            page = self.get(&page.location).await;
        }
    }

    /// The same browser, at another service.
    pub fn at(self, base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), ..self }
    }

    /// `GET` of a path or URL.
    pub async fn get(&self, to: &str) -> Page {
        self.send(self.http.get(self.url(to))).await
    }

    /// Sends a form from a page of the service.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Page {
        self.post_from(&self.base_url, path, form).await
    }

    /// Sends a form from a page of `origin`.
    pub async fn post_from(&self, origin: &str, path: &str, form: &[(&str, &str)]) -> Page {
        self.send(self.http.post(self.url(path)).header("origin", origin).form(form)).await
    }

    /// Leaves for the search engine to connect an account. Returns the URL of its consent page.
    pub async fn leave(&self, form: &[(&str, &str)]) -> Url {
        let page = self.post("/account/search/connect", form).await;
        assert_eq!(page.status, 303, "{page:?}");
        page.location.parse().unwrap()
    }

    /// Connects the simulated account `name`. Returns the page of the callback. A search engine that remembers an earlier consent gives no
    /// refresh token, and is asked for consent once more.
    pub async fn connect(&self, name: &str) -> Page {
        let consent = self.leave(&[]).await;
        let page = self.get(&self.consented(&consent, &[("login_hint", name)]).await).await;
        let Ok(again) = page.location.parse() else { return page };
        self.get(&self.consented(&again, &[]).await).await
    }

    /// The URL of the callback after the person made the choices `chosen` on the consent page.
    pub async fn consented(&self, consent: &Url, chosen: &[(&str, &str)]) -> String {
        let mut url = consent.clone();
        let kept: Vec<(String, String)> = consent
            .query_pairs()
            .into_owned()
            .filter(|(name, _)| chosen.iter().all(|(other, _)| other != name))
            .collect();
        url.query_pairs_mut().clear().extend_pairs(kept).extend_pairs(chosen);
        let answer = self.http.get(url).send().await.unwrap();
        answer.headers()["location"].to_str().unwrap().to_owned()
    }

    /// The page at `path`, once it contains `text`.
    pub async fn shows(&self, path: &str, text: &str) -> Page {
        for _ in 0..500 {
            let page = self.get(path).await;
            if page.html.contains(text) {
                return page;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("{path} does not show {text}: {}", self.get(path).await.html);
    }

    /// The value of the cookie that the code calls `name`.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.held(name).map(|(_, value)| value)
    }

    /// The cookie that the code calls `name`, as the browser holds it: its name and value.
    pub fn held(&self, name: &str) -> Option<(String, String)> {
        let cookies = self.cookies.lock().unwrap();
        cookies.iter().find(|(key, _)| is_called(key, name)).map(|(key, value)| (key.clone(), value.clone()))
    }

    /// Puts a cookie into the browser, as an attacker might.
    pub fn plant(&self, (name, value): (String, String)) {
        self.cookies.lock().unwrap().insert(name, value);
    }

    fn url(&self, to: &str) -> String {
        if to.starts_with('/') { format!("{}{to}", self.base_url) } else { to.to_owned() }
    }

    async fn send(&self, request: RequestBuilder) -> Page {
        let cookies: Vec<String> =
            self.cookies.lock().unwrap().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let answer = request.header("cookie", cookies.join("; ")).send().await.unwrap();
        for line in answer.headers().get_all("set-cookie") {
            let line = line.to_str().unwrap();
            let (name, value) = line.split(';').next().unwrap().split_once('=').unwrap();
            let mut cookies = self.cookies.lock().unwrap();
            cookies.remove(name);
            cookies.extend(Some((name.to_owned(), value.to_owned())).filter(|(_, value)| !value.is_empty()));
        }
        let status = answer.status().as_u16();
        let location = answer.headers().get("location").map_or("", |value| value.to_str().unwrap()).to_owned();
        Page { status, location, html: answer.whole_text().await.unwrap() }
    }
}

impl Page {
    /// The choices of how much to allow an application, and the one that is ticked.
    pub fn choices(&self) -> (Vec<String>, Option<String>) {
        let fields = self.html.split("name=\"allowance\" value=\"").skip(1);
        let fields = fields.map(|field| field.split_once('"').unwrap());
        let ticked =
            fields.clone().find(|(_, rest)| rest.starts_with(" required checked")).map(|(value, _)| value.to_owned());
        (fields.map(|(value, _)| value.to_owned()).collect(), ticked)
    }

    /// Returns the page if it has this status and shows all `texts`.
    #[track_caller]
    pub fn expect(self, status: u16, texts: &[&str]) -> Self {
        assert_eq!(self.status, status, "{} {}", self.location, self.html);
        for text in texts {
            assert!(self.html.contains(text), "no {text:?}: {}", self.html);
        }
        self
    }

    /// The id of the account to whose page this redirects.
    #[track_caller]
    pub fn account(&self) -> String {
        assert_eq!(self.status, 303, "{}", self.html);
        let id = self.location.strip_prefix("/account/search/").unwrap_or_else(|| panic!("{}", self.location));
        id.split('?').next().unwrap().to_owned()
    }

    /// The ids of the properties with a checkbox, and whether each is ticked.
    pub fn ticks(&self) -> Vec<(String, bool)> {
        let boxes = self.html.split("name=\"property\" value=\"").skip(1);
        boxes.map(|rest| (rest[..36].to_owned(), rest[36..].starts_with("\" checked"))).collect()
    }
}
