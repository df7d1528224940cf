//! Sign-in by another `OpenID` provider. The provider says who somebody is. This issuer decides who may sign in, and issues the
//! tokens.

pub(super) mod arrival;
pub(super) mod attempt;
pub mod rules;
mod unwelcome;

use std::sync::Arc;

use identity::{attempts::SpentAttempts, relying_party::RelyingParty};
use url::Url;

use self::rules::Rules;

/// The path that the provider sends browsers back to.
pub const CALLBACK: &str = "/oauth/sign-in/callback";

/// The provider, and whom it may let in.
#[derive(Clone)]
pub struct Upstream {
    pub(super) party: RelyingParty,
    pub(super) rules: Arc<Rules>,
    pub(super) spent: SpentAttempts,
    host: String,
}

impl Upstream {
    /// The provider of `party`, whose redirect URI is [`CALLBACK`].
    #[must_use]
    pub fn new(party: RelyingParty, rules: Rules) -> Self {
        let issuer = party.issuer().url();
        let host = Url::parse(issuer).ok().and_then(|url| url.host_str().map(str::to_owned));
        let host = host.unwrap_or_else(|| issuer.to_owned());
        Self { party: party.reading_userinfo(), rules: Arc::new(rules), spent: SpentAttempts::default(), host }
    }

    /// The provider's name for people: its host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }
}
