//! Connections as their owner sees them.

use api::integrations::{CredentialState, CreditUnit, Provider, ProviderBalance, ProviderConnection};
use entity::provider_connection::{CredentialsState, Model};
use sea_orm::ConnectionTrait;
use seo::{AccountRefusal, Amount};
use uuid::Uuid;

use super::store;
use crate::error::Error;

/// Returns a person's connections to both providers, or their absence.
pub async fn connections(db: &impl ConnectionTrait, user_id: Uuid) -> Result<[ProviderConnection; 2], Error> {
    let rows = store::of_user(db, user_id).await?;
    Ok([Provider::A, Provider::B].map(|provider| among(&rows, provider)))
}

/// The unit of a provider's costs and balances.
pub(super) fn unit(provider: Provider) -> CreditUnit {
    match provider {
        Provider::A => CreditUnit::Usd,
        Provider::B => CreditUnit::Units,
    }
}

/// A connection, or its absence.
pub(super) fn connection(provider: Provider, row: Option<&Model>) -> ProviderConnection {
    ProviderConnection {
        provider,
        connected: row.is_some(),
        account: row.map(|row| row.account.clone()),
        state: row.map(|row| state(row.state)),
        since: row.map(|row| row.state_at.into()),
        hint: row.and_then(|row| hint(row.state)).map(str::to_owned),
        balance: row.and_then(balance),
        checked_at: row.map(|row| row.checked_at.into()),
        created_at: row.map(|row| row.created_at.into()),
        updated_at: row.map(|row| row.updated_at.into()),
    }
}

fn among(rows: &[Model], provider: Provider) -> ProviderConnection {
    connection(provider, rows.iter().find(|row| store::name(row) == provider))
}

/// The balance, never below zero: a provider may round charges in another way.
pub(super) fn balance(row: &Model) -> Option<ProviderBalance> {
    let left = Amount(row.balance_millionths?).max(Amount::ZERO);
    Some(ProviderBalance { amount: left.to_f64(), unit: unit(store::name(row)) })
}

fn state(state: CredentialsState) -> CredentialState {
    match state {
        CredentialsState::Ok => CredentialState::Ok,
        CredentialsState::Invalid => CredentialState::Invalid,
        CredentialsState::Unverified => CredentialState::Unverified,
        CredentialsState::PlanLacksAccess => CredentialState::PlanLacksAccess,
        CredentialsState::OutOfCredit => CredentialState::OutOfCredit,
        CredentialsState::Blocked => CredentialState::Blocked,
        CredentialsState::RateLimited => CredentialState::RateLimited,
        CredentialsState::Unreachable => CredentialState::Unreachable,
    }
}

fn hint(state: CredentialsState) -> Option<&'static str> {
    Some(match state {
        CredentialsState::Ok => return None,
        CredentialsState::Invalid => AccountRefusal::Wrong.way_out(),
        CredentialsState::Unverified => AccountRefusal::Unverified.way_out(),
        CredentialsState::PlanLacksAccess => AccountRefusal::WithoutPlan.way_out(),
        CredentialsState::Blocked => AccountRefusal::Blocked.way_out(),
        // The state does not keep which of the two it was.
        CredentialsState::OutOfCredit => {
            "No credit is left, or a daily cost limit is reached. Top up the account or raise the limit on the provider's site, or try \
             again tomorrow."
        }
        CredentialsState::RateLimited => "The provider limits the rate of requests. Try again in a minute.",
        CredentialsState::Unreachable => "The provider did not answer. Try again later.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_without_credit_is_told_of_the_balance_and_of_the_daily_limit() {
        let hint = hint(CredentialsState::OutOfCredit).unwrap();
        assert!(hint.contains("Top up") && hint.contains("daily cost limit"), "{hint}");
        assert_eq!(super::hint(CredentialsState::Ok), None);
    }
}
