//! The settings of the client, and the parts of an account that it needs.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use secrecy::SecretString;
use uuid::Uuid;

use super::{error::SearchEngineError, oauth::OauthSettings, pace::Pace, wire::SiteUrl};

/// Timeouts and retry delays for the search engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Timeout of one attempt.
    pub attempt: Duration,
    /// Timeout of a request with all its attempts.
    pub deadline: Duration,
    /// The wait before the first retry. It doubles with each retry.
    pub first_backoff: Duration,
    /// The longest wait between two attempts.
    pub longest_backoff: Duration,
    /// The longest wait for the outcome of a probe, while the search engine fails.
    pub probe: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempt: Duration::from_secs(15),
            deadline: Duration::from_secs(25),
            first_backoff: Duration::from_millis(100),
            longest_backoff: Duration::from_secs(4),
            probe: Duration::from_millis(800),
        }
    }
}

/// The addresses of the search engine and the limits of requests to it.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The root before `/webmasters/v3`.
    pub api_url: String,
    /// The OAuth endpoints.
    pub oauth: OauthSettings,
    /// The request rate by site and by account.
    pub pace: Pace,
    /// Timeouts and retry delays.
    pub patience: Patience,
}

/// The parts of a search account that reading needs.
#[derive(Debug, Clone)]
pub struct Account {
    /// The id in the service's own database.
    pub id: Uuid,
    /// The refresh token.
    pub refresh_token: SecretString,
    /// The time of the connection. Readings of another connection are not this one's.
    pub connected_at: DateTime<Utc>,
}

impl Account {
    /// The account and its connection, as keys of caches have them. What one connection read is out of reach of the next one.
    #[must_use]
    pub fn scope(&self) -> String {
        format!("{}:{}", self.id, self.connected_at.timestamp_millis())
    }
}

/// The start of every [`Account::scope`] of an account.
#[must_use]
pub fn scopes_of(account: Uuid) -> String {
    format!("{account}:")
}

/// The stored grants of accounts.
#[async_trait]
pub trait Grants: Send + Sync {
    /// Locks the grant of `account` for a refresh, and reads it. Where the search engine replaces refresh tokens, a replica must not
    /// present one that another replica is having replaced.
    ///
    /// # Errors
    /// [`SearchEngineError::Disconnected`] if no grant is stored, [`SearchEngineError::Unavailable`] if it cannot be locked in time.
    async fn lock(&self, account: Uuid) -> Result<Box<dyn LockedGrant>, SearchEngineError>;

    /// Returns the accounts besides `account` that may read the `site` that it reads: they see it, and belong to the property's owner or to
    /// people to whom the owner granted it. None if that cannot be said.
    async fn others(&self, account: Uuid, site: &SiteUrl) -> Vec<Account>;

    /// Notes that the search engine refused the grant of one of them.
    async fn refused(&self, other: &Account, error: &SearchEngineError);
}

/// A grant that nobody else refreshes. Dropping it unlocks it.
#[async_trait]
pub trait LockedGrant: Send {
    /// The account with its stored refresh token.
    fn account(&self) -> &Account;

    /// Stores the refresh token that replaced the account's, and unlocks the grant.
    async fn replace(self: Box<Self>, refresh_token: SecretString);
}
