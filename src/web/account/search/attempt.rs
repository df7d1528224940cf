//! Attempts to connect an account, remembered in the browser that began them while it is at the search engine.
//!
//! The cookie is sealed, and names the person and the session. So an attempt counts only for the one who began it, in the browser
//! where it was begun.

use chrono::{DateTime, Utc};
use common::{base_url::BaseUrl, digest::same, random::Random, secrets::Secrets};
use identity::{
    attempts::{LIFETIME, SpentAttempts},
    cookie::AttemptCookies,
};
use poem::{Request, Response, http::HeaderMap};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{services::connections::Attempt, web::account::Visitor};

const COOKIE: &str = "sightline_connect";

/// The attempts of all browsers.
#[derive(Clone)]
pub(super) struct Attempts {
    random: Random,
    spent: SpentAttempts,
    cookies: AttemptCookies,
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
    pub fn new(secrets: &Secrets, random: Random, base_url: &BaseUrl) -> Self {
        let cookies = AttemptCookies::new(COOKIE, secrets, base_url);
        Self { random, spent: SpentAttempts::default(), cookies }
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
    pub fn remember(
        &self,
        begun: &Begun,
        headers: &HeaderMap,
        response: &mut Response,
    ) -> Result<(), serde_json::Error> {
        self.cookies.set(response.headers_mut(), headers, &begun.state, &self.cookies.sealed(begun)?);
        Ok(())
    }

    /// Returns the attempt that a callback with this `state` ends. It ends once, and only for the person and the session that began
    /// it.
    pub fn end(&self, request: &Request, visitor: &Visitor, state: Option<&str>, now: DateTime<Utc>) -> Option<Begun> {
        let begun: Begun = self.cookies.open(request.headers(), state?)?;
        let is_own = begun.user_id == visitor.member.user.id && same(&begun.session, &visitor.session);
        let is_meant = state.is_some_and(|state| same(&begun.state, state)) && is_own && now < begun.expires_at;
        (is_meant && self.spent.spend(&begun.state, now)).then_some(begun)
    }

    /// Removes the attempt from the browser.
    pub fn forget(&self, begun: &Begun, response: &mut Response) {
        self.cookies.remove(response.headers_mut(), &begun.state);
    }
}
