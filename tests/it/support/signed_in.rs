//! A browser that is signed in: a session cookie, and forms from the service's own pages.

use poem::http::{HeaderMap, Method, StatusCode};

use super::{app::TestApp, cookies::cookie, whole::Whole as _};

/// The User-Agent of a browser.
pub const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

/// A signed-in browser.
#[derive(Clone)]
pub struct Browser {
    base: String,
    /// The session cookie, as a browser sends it.
    cookie: String,
    http: reqwest::Client,
}

/// A page, or another answer to a browser.
pub struct Page {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: String,
}

impl Browser {
    /// Signs a demo person in through the real flow. The issuer is the app's own, or a test app on loopback.
    pub async fn signed_in(app: &TestApp, name: &str) -> Self {
        let (base, http) = (app.service.base_url.clone(), sightline::app::http_client().unwrap());
        let begin = format!("{base}/auth/login?login_hint={name}&return_to=/account");
        let begin = http.get(begin).send().await.unwrap();
        let attempt = cookie(begin.headers(), "sightline_attempt");
        let issuer = http.get(begin.headers()["location"].to_str().unwrap()).send().await.unwrap();
        let back = issuer.headers()["location"].to_str().unwrap();
        let done = http.get(back).header("cookie", attempt).header("user-agent", FIREFOX).send().await.unwrap();
        assert_eq!(done.headers()["location"], "/account");
        Self { base, cookie: cookie(done.headers(), "sightline_session"), http }
    }

    /// A browser in which nobody has signed in.
    pub fn anonymous(app: &TestApp) -> Self {
        let http = sightline::app::http_client().unwrap();
        Self { base: app.service.base_url.clone(), cookie: String::new(), http }
    }

    /// The same browser without a session.
    pub fn signed_out(&self) -> Self {
        self.with_cookie("")
    }

    /// The same browser with another cookie.
    pub fn with_cookie(&self, cookie: &str) -> Self {
        Self { cookie: cookie.to_owned(), ..self.clone() }
    }

    /// `GET path`, or a whole address.
    pub async fn get(&self, path: &str) -> Page {
        self.send(Method::GET, path, &[], &[("accept", "text/html,*/*;q=0.8")]).await
    }

    /// `GET path`, and where that leads to.
    pub async fn follow(&self, path: &str) -> Page {
        let page = self.get(path).await;
        if page.status == 303 { self.get(page.header("location")).await } else { page }
    }

    /// Sends a form of a page of the service.
    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Page {
        self.post_from(&self.base, path, form).await
    }

    /// Sends a form of a page of `origin`.
    pub async fn post_from(&self, origin: &str, path: &str, form: &[(&str, &str)]) -> Page {
        self.send(Method::POST, path, form, &[("origin", origin), ("accept", "text/html,*/*;q=0.8")]).await
    }

    /// Sends any request.
    pub async fn send(&self, method: Method, path: &str, form: &[(&str, &str)], headers: &[(&str, &str)]) -> Page {
        let address = if path.starts_with('/') { format!("{}{path}", self.base) } else { path.to_owned() };
        let mut request = self.http.request(method.clone(), address);
        if !self.cookie.is_empty() {
            request = request.header("cookie", &self.cookie);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if method == Method::POST {
            request = request.form(form);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Page { status, headers, body: response.whole_text().await.unwrap() }
    }
}

impl Page {
    /// Returns the page if it has this status, and is HTML or a redirect.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        if status != 303 {
            assert_eq!(self.header("content-type"), "text/html; charset=utf-8", "{}", self.body);
            assert!(self.body.starts_with("<!DOCTYPE html>"), "{}", self.body);
        }
        self
    }

    /// Fails unless the browser is sent to `path`.
    #[track_caller]
    pub fn leads_to(&self, path: &str) {
        assert_eq!((self.status.as_u16(), self.header("location")), (303, path), "{}", self.body);
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The part of the page between two texts, every time it occurs.
    pub fn between(&self, start: &str, end: &str) -> Vec<&str> {
        let after = self.body.split(start).skip(1);
        after.filter_map(|rest| rest.split_once(end)).map(|(found, _)| found).collect()
    }
}
