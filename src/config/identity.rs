//! Settings of sign-in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    IdentifierUrl, Introspection, Seconds, Secret, SignIn,
    check::{Refusal, allow},
    units::{DAY, HOUR, MINUTE},
};

/// Sign-in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    /// [Issuer of your own](SELF-HOSTING.md#an-issuer-of-your-own) whose access tokens are accepted, byte for byte as its tokens carry
    /// it.
    #[schemars(extend("x-default" = "the embedded issuer"))]
    pub issuer: Option<IdentifierUrl>,
    /// Audience that the API requires of access tokens.
    #[schemars(extend("x-default" = "`base_url`"))]
    pub audience: Option<String>,
    /// Audience that the tool endpoint requires of access tokens, for an external issuer that names it otherwise.
    #[schemars(extend("x-default" = "`mcp.url` + `/mcp`", "x-allowed" = "a text, with `identity.issuer` only"))]
    pub mcp_audience: Option<String>,
    /// The service's client at the issuer, for sign-in in a browser only.
    #[schemars(extend("x-default" = "none; the embedded issuer's own"))]
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<Secret>,
    /// `true`: demo people are present with any search engine, and `serve` refuses to start where others could reach it. `false`: a demo
    /// person signs in on the page only, never by `login`.
    #[schemars(extend("x-default" = "`true` exactly with the simulated search engine on loopback"))]
    pub demo_sign_in: Option<bool>,
    /// Another provider at which people sign in to the embedded issuer.
    pub sign_in: SignIn,
    /// The service's client at the issuer's introspection endpoint.
    pub introspection: Introspection,
    /// `closed`: nobody registers a client at the embedded issuer (`/oauth/register` is 404), and operators add them. [Metadata
    /// documents](SELF-HOSTING.md#clients) work either way.
    pub registration: Registration,
    /// Age at which the embedded issuer replaces its [signing key](SELF-HOSTING.md#signing-keys).
    #[schemars(range(min = HOUR, max = 3_650 * DAY))]
    pub key_max_age: Seconds,
    /// Age beyond which an access token is refused, whenever it expires. For the same time a keyed hash of each person who has [deleted
    /// their data](PRIVACY.md#leaving) is kept.
    #[schemars(range(min = MINUTE, max = 90 * DAY))]
    pub max_token_age: Seconds,
}

/// Registration of clients at the embedded issuer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// Anyone may register a client.
    #[default]
    Open,
    /// Operators add clients.
    Closed,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            issuer: None,
            audience: None,
            mcp_audience: None,
            client_id: None,
            client_secret: None,
            demo_sign_in: None,
            sign_in: SignIn::default(),
            introspection: Introspection::default(),
            registration: Registration::default(),
            key_max_age: Seconds(90 * DAY),
            max_token_age: Seconds(DAY),
        }
    }
}

impl Identity {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        allow(
            self.issuer.is_some() || self.mcp_audience.is_none(),
            "identity.mcp_audience",
            "nothing without identity.issuer: the embedded issuer names the tool endpoint",
        )?;
        self.sign_in.check(self.issuer.is_some())?;
        self.introspection.check(self.issuer.is_some())
    }
}
