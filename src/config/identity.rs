//! Settings of sign-in.

use serde::{Deserialize, Serialize};

use super::{Introspection, Seconds, Secret, SignIn};

/// 90 days.
const KEY_MAX_AGE: Seconds = Seconds(90 * 24 * 60 * 60);

/// 24 hours.
const MAX_TOKEN_AGE: Seconds = Seconds(24 * 60 * 60);

/// Sign-in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Identity {
    /// An `OpenID` Connect issuer. Defaults to the embedded issuer.
    pub issuer: Option<String>,
    /// The required audience of access tokens. Defaults to `base_url`.
    pub audience: Option<String>,
    /// The audience that the tool endpoint requires of access tokens. Defaults to `mcp.url` + `/mcp`.
    pub mcp_audience: Option<String>,
    /// The service's own client at the issuer, for browser sign-in only.
    pub client_id: Option<String>,
    /// The client's secret.
    pub client_secret: Option<Secret>,
    /// True if demo people are present and may sign in without a page. False if they never may. Defaults to true exactly if the
    /// search engine is the simulated one and the whole service is on loopback.
    pub demo_sign_in: Option<bool>,
    /// Another provider at which people sign in to the embedded issuer.
    pub sign_in: SignIn,
    /// The service's client at the issuer's introspection endpoint.
    pub introspection: Introspection,
    /// Registration of clients at the embedded issuer.
    pub registration: Registration,
    /// Age at which the embedded issuer replaces its signing key. Defaults to 90 days.
    pub key_max_age: Option<Seconds>,
    /// Age beyond which access tokens are refused. Defaults to 24 hours.
    pub max_token_age: Option<Seconds>,
}

/// Registration of clients at the embedded issuer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registration {
    /// Anyone may register a client.
    #[default]
    Open,
    /// Operators add clients.
    Closed,
}

impl Identity {
    /// Age at which the embedded issuer replaces its signing key.
    #[must_use]
    pub fn key_max_age(&self) -> Seconds {
        self.key_max_age.unwrap_or(KEY_MAX_AGE)
    }

    /// Age beyond which access tokens are refused.
    #[must_use]
    pub fn max_token_age(&self) -> Seconds {
        self.max_token_age.unwrap_or(MAX_TOKEN_AGE)
    }
}
