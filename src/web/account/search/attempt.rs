//! Attempts to connect an account, remembered in the browser that began them while it is at the search engine.
//!
//! The cookie is sealed, and names the person and the session. So an attempt counts only for the one who began it, in the browser
//! where it was begun.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use common::{digest::same, random::Random, secrets::Secrets, urls::is_https};
use poem::{
    Request, Response,
    http::{HeaderValue, header::SET_COOKIE},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    identity::credentials::{cookies, host_cookie},
    services::connections::Attempt,
    web::{
        account::Visitor,
        attempts::{LIFETIME, SpentAttempts},
    },
};

const COOKIE: &str = "sightline_connect";

/// The attempts of all browsers.
#[derive(Clone)]
pub(super) struct Attempts {
    secrets: Secrets,
    random: Random,
    spent: SpentAttempts,
    cookie: String,
    secure: bool,
}

/// One attempt between leaving for the search engine and the callback.
#[derive(Serialize, Deserialize)]
pub(super) struct Begun {
    state: String,
    verifier: String,
    user_id: Uuid,
    session: String,
    /// The account to reconnect.
    pub account: Option<Uuid>,
    /// True if the search engine was asked for consent although it was given before.
    pub again: bool,
    expires_at: DateTime<Utc>,
}

impl Begun {
    pub fn attempt(&self) -> Attempt<'_> {
        Attempt { user_id: self.user_id, state: &self.state, verifier: &self.verifier, account: self.account }
    }
}

impl Attempts {
    pub fn new(secrets: Secrets, random: Random, base_url: &str) -> Self {
        let (cookie, secure) = (host_cookie(COOKIE, base_url), is_https(base_url));
        Self { secrets, random, spent: SpentAttempts::default(), cookie, secure }
    }

    pub fn begin(&self, visitor: &Visitor, account: Option<Uuid>, again: bool, now: DateTime<Utc>) -> Begun {
        Begun {
            state: self.random.token(),
            verifier: self.random.token(),
            user_id: visitor.member.user.id,
            session: visitor.session.clone(),
            account,
            again,
            expires_at: now + LIFETIME,
        }
    }

    /// Stores the attempt in the browser.
    pub fn remember(&self, begun: &Begun, response: &mut Response) -> Result<(), serde_json::Error> {
        let sealed = URL_SAFE_NO_PAD.encode(self.secrets.seal(&serde_json::to_vec(begun)?, COOKIE));
        self.set(response, &sealed, LIFETIME);
        Ok(())
    }

    /// Returns the attempt that a callback with this `state` ends. It ends once, and only for the person and the session that began
    /// it. A callback of another attempt leaves the current one alone.
    pub fn end(&self, request: &Request, visitor: &Visitor, state: Option<&str>, now: DateTime<Utc>) -> Option<Begun> {
        let sealed = URL_SAFE_NO_PAD.decode(cookies(request.headers(), &self.cookie).next()?).ok()?;
        let begun: Begun = serde_json::from_slice(&self.secrets.open(&sealed, COOKIE).ok()?).ok()?;
        let is_own = begun.user_id == visitor.member.user.id && same(&begun.session, &visitor.session);
        let is_meant = state.is_some_and(|state| same(&begun.state, state)) && is_own && now < begun.expires_at;
        (is_meant && self.spent.spend(&begun.state, now)).then_some(begun)
    }

    /// Removes the attempt from the browser.
    pub fn forget(&self, response: &mut Response) {
        self.set(response, "", TimeDelta::zero());
    }

    fn set(&self, response: &mut Response, value: &str, lifetime: TimeDelta) {
        let secure = if self.secure { "; Secure" } else { "" };
        let (name, seconds) = (&self.cookie, lifetime.num_seconds());
        let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(SET_COOKIE, cookie);
        }
    }
}
