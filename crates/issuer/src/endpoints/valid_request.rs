//! An authorization request between two of its pages: its query is repeated in the address of each form.

use url::form_urlencoded::{Serializer, parse};

use crate::{
    parameters::Parameters,
    request::{AuthorizationRequest, ReturnAddress},
    sessions::SignedIn,
};

/// A `max_age` below this many seconds asks for a sign-in now. Repeated after the sign-in, it would ask again and again.
const SHORT_AGE: u32 = 300;
/// The most bytes of a query that a posted request becomes. Many proxies take no longer line.
const MOST_QUERY_BYTES: usize = 8_000;

/// A valid authorization request.
pub(super) struct ValidRequest {
    pub address: ReturnAddress,
    pub request: AuthorizationRequest,
    /// The query, as it was sent.
    pub query: String,
}

/// Returns the address of an authorization request that was posted, or `None` if it is too long.
pub(super) fn address_of(posted: &Parameters) -> Option<String> {
    let query = Serializer::new(String::new()).extend_pairs(posted.pairs()).finish();
    (query.len() <= MOST_QUERY_BYTES).then(|| address(&query))
}

fn address(query: &str) -> String {
    format!("/oauth/authorize?{query}")
}

impl ValidRequest {
    /// The address of the page, and of its forms.
    pub fn action(&self) -> String {
        address(&self.query)
    }

    pub fn has_prompt(&self, prompt: &str) -> bool {
        self.request.prompts.iter().any(|one| one == prompt)
    }

    /// The address to go on at after a sign-in: the same request, without the parameters that asked for the sign-in.
    pub fn after_sign_in(&self) -> String {
        let prompts =
            self.request.prompts.iter().filter(|prompt| !["login", "select_account"].contains(&prompt.as_str()));
        let prompts: Vec<&str> = prompts.map(String::as_str).collect();
        let age = self.request.max_age.filter(|age| *age >= SHORT_AGE).map(|age| age.to_string());
        self.with(&[("prompt", &prompts.join(" ")), ("login_hint", ""), ("max_age", &age.unwrap_or_default())])
    }

    /// The address at which the person chooses another account.
    pub fn with_other_account(&self) -> String {
        self.with(&[("prompt", "select_account"), ("login_hint", "")])
    }

    /// The same request, with a new sign-in in place of a choice of accounts.
    pub fn with_new_sign_in(&self) -> String {
        let prompts = self.request.prompts.iter().map(String::as_str);
        let prompts: Vec<&str> = prompts.map(|one| if one == "select_account" { "login" } else { one }).collect();
        self.with(&[("prompt", &prompts.join(" "))])
    }

    /// Returns whether the browser of `signed_in` may go on without a sign-in.
    pub fn accepts(&self, signed_in: &SignedIn, now: chrono::DateTime<chrono::Utc>) -> bool {
        !self.has_prompt("login")
            && !self.has_prompt("select_account")
            && self.request.max_age.is_none_or(|age| signed_in.is_fresh(age, now))
            && self.request.login_hint.as_deref().is_none_or(|hint| signed_in.person.is_meant_by(hint))
    }

    /// The address with these parameters instead of its own. An empty value leaves a parameter out.
    fn with(&self, changes: &[(&str, &str)]) -> String {
        let kept = parse(self.query.as_bytes()).filter(|(name, _)| changes.iter().all(|(changed, _)| name != changed));
        let mut query = Serializer::new(String::new());
        query.extend_pairs(kept).extend_pairs(changes.iter().filter(|(_, value)| !value.is_empty()));
        address(&query.finish())
    }
}
