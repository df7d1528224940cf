//! Who is asking: from the credentials of a request to an [`Identity`].
//!
//! The service is a resource server. Access tokens come from one issuer (embedded or external, reached the same way over HTTP),
//! and everything a request may present is judged here: bearer tokens, the session cookie, and what was revoked.

pub mod authenticator;
pub mod credentials;
pub mod hashing;
pub mod issuer;
pub mod jwks;
pub mod metadata;
pub mod relying_party;
pub mod revocation;
pub mod session;
pub mod sign_in;
pub mod token;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sea_orm::DbErr;
use uuid::Uuid;

/// The proof that a request comes from a signed-in user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The user.
    pub user_id: Uuid,
    /// The user's e-mail address, only when the issuer vouches for it.
    pub email: Option<String>,
    /// The user's display name.
    pub name: Option<String>,
    /// What the request presented.
    pub credential: Credential,
}

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
    /// E-mail address, left out unless the issuer says it is verified.
    pub email: Option<String>,
    /// Display name.
    pub name: Option<String>,
}

/// Finds the user a person is, or creates it at the first sight.
#[async_trait]
pub trait Users: Send + Sync {
    /// The id of the user with these claims.
    async fn resolve(&self, claims: &Claims) -> Result<Uuid, DbErr>;
}

#[cfg(test)]
pub(crate) mod tests;
