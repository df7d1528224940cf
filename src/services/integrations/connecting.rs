//! Connects, tests and disconnects. Providers are asked before a transaction begins, so that no write waits for them.

use api::{
    integrations::{Provider, ProviderConnection},
    privacy::AuditAction,
};
use common::rate_limit::Rate;
use entity::provider_connection::CredentialsState;
use seo::{AccountRefusal, AccountState, Amount, Credentials, Exhausted, SeoError};

use super::{
    Integrations, explain,
    store::{self, Seen},
    view,
};
use crate::{
    error::Error,
    services::{audit::Event, change::MemberChange, users::Member},
};

/// The credentials that a provider does not know and that are tried for one person in an hour, at all providers together.
const MAX_UNKNOWN_PER_HOUR: u32 = 5;

/// Credentials that work.
pub struct Checked {
    provider: Provider,
    credentials: Credentials,
    standing: AccountState,
}

/// The result of a test of stored credentials.
pub struct Tested {
    row: entity::provider_connection::Model,
    state: CredentialsState,
    standing: Option<AccountState>,
}

impl Integrations {
    /// Returns the last known state of a connection.
    pub async fn connection(&self, member: &Member, provider: Provider) -> Result<ProviderConnection, Error> {
        let row = store::one_of_user(&self.search.db, member.user.id, provider).await?;
        Ok(view::connection(provider, row.as_ref()))
    }

    /// Tests credentials at the provider's free endpoint. Unknown credentials are counted, so that nobody tries
    /// passwords of others from this service's address.
    ///
    /// # Errors
    /// The reason why they do not work. [`Error::TooMany`] without asking the provider.
    pub async fn check(&self, member: &Member, provider: Provider, credentials: Credentials) -> Result<Checked, Error> {
        let (key, rate) = (format!("credentials/{}", member.user.id), Rate::per_hour(MAX_UNKNOWN_PER_HOUR));
        // Counted before the answer, because several may be tried at once.
        if let Some(retry_after) = self.failures.count(&key, rate).retry_after {
            let allowed = format!(
                "A provider is asked about at most {MAX_UNKNOWN_PER_HOUR} credentials that it does not know in an hour. Look yours up there, \
                 and try again in {retry_after} seconds."
            );
            return Err(Error::TooMany(allowed, retry_after));
        }
        let standing = self.paid_answers.provider(provider).account(&credentials).await;
        if !matches!(standing, Err(SeoError::Refused(AccountRefusal::Wrong))) {
            self.failures.uncount(&key, rate);
        }
        let standing = standing.map_err(|error| explain(&error))?;
        if is_exhausted(standing) {
            return Err(Error::ProviderOutOfCredit(Exhausted::Balance));
        }
        Ok(Checked { provider, credentials, standing })
    }

    /// Stores credentials that work.
    pub async fn connect(&self, change: &MemberChange, checked: Checked) -> Result<ProviderConnection, Error> {
        let Checked { provider, credentials, standing } = checked;
        let row = store::replace(change, &self.search.secrets, provider, &credentials, standing.balance).await?;
        change.note(noted(change, AuditAction::ProviderConnected, provider)).await?;
        Ok(view::connection(provider, Some(&row)))
    }

    /// Tests the stored credentials at the provider's free endpoint.
    ///
    /// # Errors
    /// [`Error::ProviderNotConnected`].
    pub async fn test(&self, member: &Member, provider: Provider) -> Result<Tested, Error> {
        let row = store::one_of_user(&self.search.db, member.user.id, provider).await?;
        let row = row.ok_or(Error::ProviderNotConnected)?;
        let credentials = store::credentials(&self.search.secrets, &row)?;
        let outcome = self.paid_answers.provider(provider).account(&credentials).await;
        Ok(Tested { row, state: state_of(&outcome), standing: outcome.ok() })
    }

    /// Notes the result of a test.
    pub async fn note_test(
        &self,
        change: &MemberChange,
        provider: Provider,
        tested: Tested,
    ) -> Result<ProviderConnection, Error> {
        let seen = Seen { state: tested.state, standing: tested.standing, spent: Amount::ZERO };
        store::note(change.tx(), &tested.row, seen, change.now).await?;
        let row = store::one_of_user(change.tx(), change.by.user.id, provider).await?;
        let row = row.ok_or(Error::ProviderNotConnected)?;
        Ok(view::connection(provider, Some(&row)))
    }

    /// Deletes credentials, if there are any, and drops their cached answers.
    pub async fn disconnect(&self, change: &MemberChange, provider: Provider) -> Result<(), Error> {
        if let Some(connection) = store::delete(change, provider).await? {
            self.paid_answers.forget(connection);
            change.note(noted(change, AuditAction::ProviderDisconnected, provider)).await?;
        }
        Ok(())
    }
}

/// An event about the credentials of a provider.
fn noted(change: &MemberChange, action: AuditAction, provider: Provider) -> Event {
    Event::own(change.by.user.id, action).record(match provider {
        Provider::A => "provider A",
        Provider::B => "provider B",
    })
}

fn is_exhausted(standing: AccountState) -> bool {
    standing.balance.is_some_and(|balance| balance <= Amount::ZERO)
}

fn state_of(outcome: &Result<AccountState, SeoError>) -> CredentialsState {
    match outcome {
        Ok(standing) if is_exhausted(*standing) => CredentialsState::OutOfCredit,
        Ok(_) => CredentialsState::Ok,
        Err(SeoError::Refused(AccountRefusal::Wrong)) => CredentialsState::Invalid,
        Err(SeoError::Refused(AccountRefusal::Unverified)) => CredentialsState::Unverified,
        Err(SeoError::Refused(AccountRefusal::WithoutPlan)) => CredentialsState::PlanLacksAccess,
        Err(SeoError::Refused(AccountRefusal::Blocked)) => CredentialsState::Blocked,
        Err(SeoError::OutOfCredit(_)) => CredentialsState::OutOfCredit,
        Err(SeoError::RateLimited { .. }) => CredentialsState::RateLimited,
        Err(SeoError::Unavailable(_) | SeoError::NotAccepted(_) | SeoError::Fault(_)) => CredentialsState::Unreachable,
    }
}
