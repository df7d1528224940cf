//! Cookies for the whole service, which scripts cannot read.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use common::{base_url::BaseUrl, digest::sha256_hex, secrets::Secrets};
use http::{HeaderMap, HeaderValue, header::SET_COOKIE};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    attempts,
    credentials::{SESSION_COOKIE, all_cookies, cookies},
    issuer_session,
};

/// Sets a cookie of the service at `base_url` by the headers of a response. A lifetime of zero removes it.
pub fn set(response: &mut HeaderMap, base_url: &BaseUrl, name: &str, value: &str, lifetime: TimeDelta) {
    let secure = if base_url.is_https() { "; Secure" } else { "" };
    let seconds = lifetime.num_seconds();
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.append(SET_COOKIE, cookie);
    }
}

/// Takes the cookies of a signed-in person from a browser: that of the service, and that of its issuer.
pub fn remove_sessions(response: &mut HeaderMap, base_url: &BaseUrl) {
    for name in [SESSION_COOKIE, issuer_session::COOKIE] {
        set(response, base_url, &base_url.host_cookie(name), "", TimeDelta::zero());
    }
}

/// A cookie whose content only the service can read or make.
#[derive(Clone)]
pub struct SealedCookie {
    /// The name over plain http, for which the content is sealed.
    context: &'static str,
    name: String,
    lifetime: TimeDelta,
    secrets: Secrets,
    base_url: BaseUrl,
}

impl SealedCookie {
    /// A cookie of the service at `base_url`.
    #[must_use]
    pub fn new(context: &'static str, lifetime: TimeDelta, secrets: &Secrets, base_url: &BaseUrl) -> Self {
        let name = base_url.host_cookie(context);
        Self { context, name, lifetime, secrets: secrets.clone(), base_url: base_url.clone() }
    }

    /// Returns the value of a cookie with `content`, for [`set`](Self::set).
    pub fn sealed(&self, content: &impl Serialize) -> Result<String, serde_json::Error> {
        Ok(URL_SAFE_NO_PAD.encode(self.secrets.seal(&serde_json::to_vec(content)?, self.context)))
    }

    /// Sets the cookie to a sealed value.
    pub fn set(&self, response: &mut HeaderMap, sealed: &str) {
        set(response, &self.base_url, &self.name, sealed, self.lifetime);
    }

    /// Removes the cookie.
    pub fn remove(&self, response: &mut HeaderMap) {
        set(response, &self.base_url, &self.name, "", TimeDelta::zero());
    }

    /// Returns the content of the first cookie of this name that can be read.
    #[must_use]
    pub fn open<T: DeserializeOwned>(&self, headers: &HeaderMap) -> Option<T> {
        cookies(headers, &self.name).find_map(|value| {
            let sealed = URL_SAFE_NO_PAD.decode(value).ok()?;
            serde_json::from_slice(&self.secrets.open(&sealed, self.context).ok()?).ok()
        })
    }
}

/// Sealed cookies of the attempts that a browser has begun in its tabs, one for each attempt.
#[derive(Clone)]
pub struct AttemptCookies(SealedCookie);

impl AttemptCookies {
    /// The most bytes of all attempts of a browser. Browsers drop cookies of more than 4,096 bytes, and proxies refuse requests with much more.
    pub const MAX_BYTES: usize = 4_000;

    /// Cookies of the service at `base_url`, whose names begin with `context`.
    #[must_use]
    pub fn new(context: &'static str, secrets: &Secrets, base_url: &BaseUrl) -> Self {
        Self(SealedCookie::new(context, attempts::LIFETIME, secrets, base_url))
    }

    /// Returns the value of a cookie with `content`, for [`set`](Self::set).
    pub fn sealed(&self, content: &impl Serialize) -> Result<String, serde_json::Error> {
        self.0.sealed(content)
    }

    /// Adds the attempt with this `state` to those of a request, and drops the oldest that leave no room.
    pub fn set(&self, response: &mut HeaderMap, request: &HeaderMap, state: &str, sealed: &str) {
        let prefix = format!("{}_", self.0.name);
        let begun: Vec<_> = all_cookies(request).filter(|(name, _)| name.starts_with(&prefix)).collect();
        let mut bytes = sealed.len();
        for (name, value) in begun.into_iter().rev() {
            bytes += value.len();
            if bytes > Self::MAX_BYTES {
                set(response, &self.0.base_url, name, "", TimeDelta::zero());
            }
        }
        self.of(state).set(response, sealed);
    }

    /// Returns the content of the attempt with this `state`, if the browser has it and it can be read.
    #[must_use]
    pub fn open<T: DeserializeOwned>(&self, headers: &HeaderMap, state: &str) -> Option<T> {
        self.of(state).open(headers)
    }

    /// Removes the attempt with this `state`.
    pub fn remove(&self, response: &mut HeaderMap, state: &str) {
        self.of(state).remove(response);
    }

    fn of(&self, state: &str) -> SealedCookie {
        SealedCookie { name: format!("{}_{}", self.0.name, &sha256_hex(state)[..16]), ..self.0.clone() }
    }
}
