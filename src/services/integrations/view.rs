//! Connections as their owner sees them.

use api::integrations::{CredentialState, CreditUnit, Provider, ProviderBalance, ProviderConnection};
use entity::provider_connection::{Model, State};
use sea_orm::ConnectionTrait;
use seo::{Amount, Refusal};
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

fn state(state: State) -> CredentialState {
    match state {
        State::Ok => CredentialState::Ok,
        State::Invalid => CredentialState::Invalid,
        State::Unverified => CredentialState::Unverified,
        State::PlanLacksAccess => CredentialState::PlanLacksAccess,
        State::OutOfCredit => CredentialState::OutOfCredit,
        State::Blocked => CredentialState::Blocked,
        State::RateLimited => CredentialState::RateLimited,
        State::Unreachable => CredentialState::Unreachable,
    }
}

fn hint(state: State) -> Option<&'static str> {
    Some(match state {
        State::Ok => return None,
        State::Invalid => Refusal::Wrong.way_out(),
        State::Unverified => Refusal::Unverified.way_out(),
        State::PlanLacksAccess => Refusal::WithoutPlan.way_out(),
        State::Blocked => Refusal::Blocked.way_out(),
        // The state does not keep which of the two it was.
        State::OutOfCredit => {
            "No credit is left, or a daily cost limit is reached. Top up the account or raise the limit on the provider's site, or try \
             again tomorrow."
        }
        State::RateLimited => "The provider limits the rate of requests. Try again in a minute.",
        State::Unreachable => "The provider did not answer. Try again later.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_without_credit_is_told_of_the_balance_and_of_the_daily_limit() {
        let hint = hint(State::OutOfCredit).unwrap();
        assert!(hint.contains("Top up") && hint.contains("daily cost limit"), "{hint}");
        assert_eq!(super::hint(State::Ok), None);
    }
}
