//! Authentication: from credentials to verified claims.
//!
//! The service is a resource server. Access tokens come from one issuer (embedded or external, both reached over HTTP). This
//! crate verifies all credentials of a request: bearer tokens, the session cookie, and revocations.

pub mod attempts;
mod audience;
pub mod audit_notes;
pub mod clients;
pub mod cookie;
pub mod credentials;
pub mod departures;
pub mod grants;
mod id_token;
pub mod introspection;
pub mod issuer;
pub mod issuer_session;
pub mod jwks;
pub mod local;
pub mod metadata;
mod reading;
pub mod relying_party;
pub mod revocation;
pub mod session;
pub mod token;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use common::scope::Scopes;
use common::{compute::Died, mail_address::is_visible};
use entity::user;
use sea_orm::DbErr;
use uuid::Uuid;

/// The credential that authenticated the user of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// An access token of a client that acts for the user.
    AccessToken {
        /// The token's `jti`.
        token_id: String,
        /// The client it was issued to.
        client_id: String,
        /// The expiry time.
        expires_at: DateTime<Utc>,
    },
    /// The session cookie of a browser.
    Session {
        /// Hash of the cookie value, which is the key of the session's row.
        id: String,
    },
}

/// The issuer's claims about a person, from an access token or an ID token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The issuer (`iss`), by its name in the records of people.
    pub issuer: String,
    /// The person's identifier at that issuer (`sub`). Issuer and subject together identify a user.
    pub subject: String,
    /// The e-mail address, if the issuer says whether it is verified. An address without that claim is ignored.
    pub email: Option<Email>,
    /// Display name, cleaned ([`common::plain_text::name`]).
    pub name: Option<String>,
    /// The time at which the token was issued (`iat`). Of two tokens, the later one takes precedence.
    pub issued_at: DateTime<Utc>,
    /// The time at which the person proved to the issuer who they are (`auth_time`), if it is stated.
    pub auth_time: Option<DateTime<Utc>>,
}

/// An e-mail address from an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    /// The address.
    pub address: String,
    /// True if the issuer has verified it.
    pub verified: bool,
}

impl Email {
    /// Returns the address that an issuer states, or nothing if it holds a character that cannot be seen: no mail goes to such an address,
    /// and it looks like another.
    #[must_use]
    pub fn stated(address: &str, verified: bool) -> Option<Self> {
        is_visible(address).then(|| Self { address: address.to_owned(), verified })
    }
}

/// A verified access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// The person it was issued for.
    pub claims: Claims,
    /// `jti`.
    pub id: String,
    /// The SHA-256 of the encoded token.
    pub digest: [u8; 32],
    /// The client it was issued to.
    pub client_id: String,
    /// Scopes, as the token names them.
    pub scopes: Vec<String>,
    /// The scopes of the token.
    pub rights: Scopes,
    /// `iat`, in whole seconds.
    pub issued_at: DateTime<Utc>,
    /// `exp`, in whole seconds.
    pub expires_at: DateTime<Utc>,
    /// The embedded issuer's grant that it belongs to.
    pub grant_id: Option<Uuid>,
}

/// The issuer cannot be used: unreachable, or its responses are invalid. The text is for the log only.
#[derive(Clone, Debug, thiserror::Error)]
#[error("issuer unavailable: {0}")]
pub struct IssuerUnavailable(pub String);

impl From<Died> for IssuerUnavailable {
    fn from(died: Died) -> Self {
        Self(died.to_string())
    }
}

/// Finds the user for a person's claims, or creates it on first sign-in.
#[async_trait]
pub trait Users: Send + Sync {
    /// Returns the user with these claims. Returns `None` if the person has left since the sign-in that the claims rest on.
    async fn resolve(&self, claims: &Claims) -> Result<Option<user::Model>, DbErr>;

    /// Returns whether `claims` contain nothing new to store for `known`.
    fn is_up_to_date(&self, known: &user::Model, claims: &Claims) -> bool;
}
