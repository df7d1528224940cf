//! An attempt to sign in at the provider, between leaving and coming back. A sealed cookie binds it to the browser.

use chrono::{DateTime, TimeDelta, Utc};
use common::digest::same;
use http::HeaderMap;
use identity::{attempts, cookie::AttemptCookies, relying_party};
use openidconnect::{CsrfToken, Nonce, PkceCodeVerifier};
use serde::{Deserialize, Serialize};

use crate::IdentityProvider;

const COOKIE: &str = "sightline_elsewhere";
/// The time by which the clocks of two servers may differ.
const SKEW: TimeDelta = TimeDelta::seconds(60);
/// Lifetime of an attempt.
const LIFETIME: TimeDelta = attempts::LIFETIME;

/// One attempt.
#[derive(Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub state: String,
    nonce: String,
    verifier: String,
    /// The authorization request to go on with: its query, which is judged again.
    pub query: String,
    began_at: DateTime<Utc>,
}

/// The provider let somebody through who had to prove who they are, or it does not say when they did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotProven;

impl Attempt {
    /// The secrets for the provider.
    pub fn secrets(&self) -> relying_party::Attempt {
        relying_party::Attempt {
            state: CsrfToken::new(self.state.clone()),
            nonce: Nonce::new(self.nonce.clone()),
            verifier: PkceCodeVerifier::new(self.verifier.clone()),
        }
    }

    /// Returns the time of the sign-in: the one that the provider `stated`, or now. The provider must have asked again after
    /// `prompt=login`, and must say when it last asked after `max_age`.
    pub fn proven_at(
        &self,
        stated: Option<DateTime<Utc>>,
        prompt_login: bool,
        max_age: Option<u32>,
        now: DateTime<Utc>,
    ) -> Result<DateTime<Utc>, NotProven> {
        let Some(stated) = stated else { return if max_age.is_some() { Err(NotProven) } else { Ok(now) } };
        let oldest = match max_age {
            _ if prompt_login => Some(self.began_at),
            Some(seconds) => self.began_at.checked_sub_signed(TimeDelta::seconds(seconds.into())),
            None => None,
        };
        if oldest.is_some_and(|oldest| stated < oldest - SKEW) { Err(NotProven) } else { Ok(stated.min(now)) }
    }
}

impl IdentityProvider {
    /// Begins an attempt for the authorization request in `query`.
    pub(crate) fn new_attempt(&self, query: &str) -> Attempt {
        Attempt {
            state: self.random.token(),
            nonce: self.random.token(),
            verifier: self.random.token(),
            query: query.to_owned(),
            began_at: self.clock.now(),
        }
    }

    pub(crate) fn attempts(&self) -> AttemptCookies {
        AttemptCookies::new(COOKIE, &self.secrets, self.base_url())
    }

    /// The cookie's value, or `None` if the request is too long for a cookie.
    pub(crate) fn sealed_attempt(&self, attempt: &Attempt) -> Option<String> {
        let sealed = self.attempts().sealed(attempt).ok()?;
        (sealed.len() <= AttemptCookies::MAX_BYTES).then_some(sealed)
    }

    /// Returns the attempt of this browser with this `state`, unless it has expired.
    pub(crate) fn attempt_of(&self, headers: &HeaderMap, state: &str) -> Option<Attempt> {
        let attempt: Attempt = self.attempts().open(headers, state)?;
        (same(&attempt.state, state) && self.clock.now() < attempt.began_at + LIFETIME).then_some(attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_provider_has_to_ask_again_where_that_was_wanted() {
        let at = |second: i64| DateTime::UNIX_EPOCH + TimeDelta::seconds(second);
        let text = String::new;
        let attempt = Attempt { state: text(), nonce: text(), verifier: text(), query: text(), began_at: at(10_000) };
        let now = at(10_020);
        for (stated, login, max_age, expected) in [
            (None, false, None, Ok(now)),
            (None, true, None, Ok(now)),
            (None, false, Some(60), Err(NotProven)),
            (Some(0), false, None, Ok(at(0))),
            (Some(10_030), false, None, Ok(now)),
            (Some(9_000), true, None, Err(NotProven)),
            (Some(9_000), true, Some(5_000), Err(NotProven)),
            (Some(9_950), true, None, Ok(at(9_950))),
            (Some(10_010), true, Some(0), Ok(at(10_010))),
            (Some(9_000), false, Some(1_000), Ok(at(9_000))),
            (Some(8_900), false, Some(1_000), Err(NotProven)),
            (Some(8_900), false, Some(u32::MAX), Ok(at(8_900))),
        ] {
            assert_eq!(
                attempt.proven_at(stated.map(at), login, max_age, now),
                expected,
                "{stated:?} {login} {max_age:?}"
            );
        }
    }
}
