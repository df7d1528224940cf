//! Access tokens of accounts. Concurrent requests share one refresh.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use common::clock::{Clock, Moment};
use secrecy::{ExposeSecret as _, SecretString};
use telemetry::{
    traces::{Current, Span},
    upstream::{TokenOutcome, UpstreamMeter},
};
use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

use super::{
    breaker::Breakers,
    error::SearchEngineError,
    oauth::{Oauth, TokenAnswer},
    settings::{Account, Grants},
};

/// The lifetimes of an access token that the search engine is believed. A token that ends before is refused, and then refreshed.
const SHORTEST_LIFE: Duration = Duration::from_mins(1);
const LONGEST_LIFE: Duration = Duration::from_hours(24);

/// The lifetime of an access token of which the search engine says none.
const USUAL_LIFE: Duration = Duration::from_hours(1);

/// An access token is not used this shortly before it expires.
const TOKEN_MARGIN: Duration = Duration::from_secs(30);

struct AccessToken {
    value: SecretString,
    /// The end of its use, shortly before it expires.
    end: Moment,
    /// The time of the connection that granted it.
    connected_at: DateTime<Utc>,
}

/// The known tokens of an account.
#[derive(Default)]
struct Tokens {
    current: Option<AccessToken>,
    /// The connection whose grant was refused, and the error text. The grant is not presented again.
    refused: Option<(DateTime<Utc>, String)>,
}

type TokenSlot = Arc<tokio::sync::Mutex<Tokens>>;

/// The access tokens of all accounts.
pub(super) struct AccessTokens {
    oauth: Oauth,
    breakers: Breakers,
    meter: UpstreamMeter,
    clock: Clock,
    grants: Arc<dyn Grants>,
    slots: Mutex<HashMap<Uuid, TokenSlot>>,
}

impl AccessTokens {
    /// Knows no token yet. Sends no request.
    pub fn new(oauth: Oauth, breakers: Breakers, meter: UpstreamMeter, clock: Clock, grants: Arc<dyn Grants>) -> Self {
        Self { oauth, breakers, meter, clock, grants, slots: Mutex::default() }
    }

    /// The OAuth endpoints.
    pub fn oauth(&self) -> &Oauth {
        &self.oauth
    }

    /// Returns the account's access token. The first caller that finds it stale refreshes it while others wait. A token of a former
    /// connection is also stale, because the new grant may allow more.
    pub async fn token(&self, account: &Account) -> Result<SecretString, SearchEngineError> {
        let held = self.slot(account.id).lock_owned().await;
        let usable = held
            .current
            .as_ref()
            .filter(|token| token.connected_at == account.connected_at && !token.end.is_over(self.clock.moment()));
        if let Some(token) = usable {
            return Ok(token.value.clone());
        }
        if let Some((_, said)) = held.refused.as_ref().filter(|(connection, _)| *connection == account.connected_at) {
            return Err(SearchEngineError::Disconnected(said.clone()));
        }
        let refresh = Refresh {
            oauth: self.oauth.clone(),
            breakers: self.breakers.clone(),
            meter: self.meter.clone(),
            clock: self.clock.clone(),
            grants: self.grants.clone(),
            account: account.id,
            held,
        };
        // The caller may leave meanwhile, but a replaced refresh token has to be stored.
        let refreshed = tokio::spawn(Current::get().around(refresh.run())).await;
        refreshed.unwrap_or_else(|error| Err(SearchEngineError::unavailable(format!("a refresh died: {error}"))))
    }

    /// Drops a refused access token, unless another request has already replaced it.
    pub async fn drop_token(&self, account: &Account, refused: &SecretString) {
        let slot = self.slot(account.id);
        let mut held = slot.lock().await;
        if held.current.as_ref().is_some_and(|token| token.value.expose_secret() == refused.expose_secret()) {
            held.current = None;
        }
    }

    /// Drops everything known of an account.
    pub fn drop_account(&self, account: Uuid) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).remove(&account);
    }

    fn slot(&self, account: Uuid) -> TokenSlot {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).entry(account).or_default().clone()
    }
}

/// A refresh of an account's access token.
struct Refresh {
    oauth: Oauth,
    breakers: Breakers,
    meter: UpstreamMeter,
    clock: Clock,
    grants: Arc<dyn Grants>,
    account: Uuid,
    held: OwnedMutexGuard<Tokens>,
}

impl Refresh {
    async fn run(self) -> Result<SecretString, SearchEngineError> {
        let Self { oauth, breakers, meter, clock, grants, account, mut held } = self;
        let pass = breakers.pass(None).await.map_err(|retry_after| SearchEngineError::Shut { retry_after })?;
        let grant = grants.lock(account).await?;
        let connected_at = grant.account().connected_at;
        let span = Span::client("search engine token");
        let answer = span.around(oauth.refresh(&grant.account().refresh_token)).await;
        let outcome = outcome(&answer);
        span.ended(outcome.name(), outcome == TokenOutcome::Ok);
        drop(span);
        meter.note_token(outcome);
        pass.note(outcome == TokenOutcome::Failed);
        let answer = match answer {
            Err(SearchEngineError::Disconnected(said)) => {
                *held = Tokens { current: None, refused: Some((connected_at, said.clone())) };
                return Err(SearchEngineError::Disconnected(said));
            }
            other => other?,
        };
        let lifetime =
            answer.lifetime.unwrap_or(USUAL_LIFE).clamp(SHORTEST_LIFE, LONGEST_LIFE).saturating_sub(TOKEN_MARGIN);
        let end = clock.moment() + TimeDelta::from_std(lifetime).unwrap_or_default();
        let current = AccessToken { value: answer.access_token.clone(), end, connected_at };
        *held = Tokens { current: Some(current), refused: None };
        if let Some(replacement) = answer.refresh_token {
            grant.replace(replacement).await;
        }
        Ok(answer.access_token)
    }
}

fn outcome(answer: &Result<TokenAnswer, SearchEngineError>) -> TokenOutcome {
    match answer {
        Ok(_) => TokenOutcome::Ok,
        Err(SearchEngineError::Disconnected(_)) => TokenOutcome::GrantEnded,
        Err(SearchEngineError::Unavailable { .. }) => TokenOutcome::Failed,
        Err(_) => TokenOutcome::ClientRefused,
    }
}
