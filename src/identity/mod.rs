//! Who is asking: from credentials to verified claims.
//!
//! The service is a resource server. Access tokens come from one issuer (embedded or external, reached the same way over HTTP),
//! and everything a request may present is judged here: bearer tokens, the session cookie, and what was revoked.

pub mod credentials;
pub mod issuer;
pub mod jwks;
mod reading;
pub mod relying_party;
pub mod revocation;
pub mod session;
pub mod token;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use entity::user;
use sea_orm::DbErr;
use uuid::Uuid;

/// What a request proved its user with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// An access token of a client that acts for the user.
    AccessToken {
        /// The token's `jti`.
        token_id: String,
        /// The client it was issued to.
        client_id: String,
        /// When it expires.
        expires_at: DateTime<Utc>,
    },
    /// The session cookie of a browser.
    Session {
        /// Hash of the cookie value: the key of the session's row.
        id: String,
    },
}

/// What the issuer says about a person, in an access token or an ID token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The issuer (`iss`).
    pub issuer: String,
    /// The person's identifier at that issuer (`sub`). A user is the pair of the two.
    pub subject: String,
    /// E-mail address, where the issuer says whether it is verified; without a word on that an address is worth nothing.
    pub email: Option<Email>,
    /// Display name.
    pub name: Option<String>,
    /// When the token was issued (`iat`): of two tokens the later one counts.
    pub issued_at: DateTime<Utc>,
}

/// An e-mail address as an issuer gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email {
    /// The address.
    pub address: String,
    /// Whether the issuer vouches for it.
    pub verified: bool,
}

/// A verified access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// The person it was issued for.
    pub claims: Claims,
    /// `jti`.
    pub id: String,
    /// The SHA-256 of the token itself.
    pub digest: [u8; 32],
    /// The client it was issued to.
    pub client_id: String,
    /// Granted scopes.
    pub scopes: Vec<String>,
    /// `iat`, in whole seconds.
    pub issued_at: DateTime<Utc>,
    /// `exp`, in whole seconds.
    pub expires_at: DateTime<Utc>,
    /// The grant of the embedded issuer that it belongs to.
    pub grant_id: Option<Uuid>,
}

/// The issuer cannot be asked: unreachable, or its answers are unusable. The text is for the log only.
#[derive(Clone, Debug, thiserror::Error)]
#[error("issuer unavailable: {0}")]
pub struct IssuerUnavailable(pub String);

/// Finds the user a person is, or creates it at the first sight.
#[async_trait]
pub trait Users: Send + Sync {
    /// The user with these claims.
    async fn resolve(&self, claims: &Claims) -> Result<user::Model, DbErr>;

    /// Returns whether `claims` say nothing about `known` that is worth writing down.
    fn is_up_to_date(&self, known: &user::Model, claims: &Claims) -> bool;
}
