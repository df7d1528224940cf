//! Stored connections. Credentials are sealed, and each seal is bound to its row.

use api::integrations::Provider;
use common::secrets::Secrets;
use entity::provider_connection::{self, CredentialsState, Model};
use sea_orm::ColumnTrait as _;
use sea_orm::{
    ActiveModelTrait as _,
    ActiveValue::Set,
    ConnectionTrait, EntityTrait as _, IntoActiveModel as _, ModelTrait as _, QueryFilter as _,
    sea_query::{Expr, ExprTrait as _},
};
use seo::{AccountState, Amount, Credentials, Holder};
use store::{
    resealing::{self, SealedColumn},
    transaction::Transaction,
};
use uuid::Uuid;

use crate::{error::Error, services::change::MemberChange};

/// Returns a person's connections, provider A's first.
pub(super) async fn of_user(db: &impl ConnectionTrait, user_id: Uuid) -> Result<Vec<Model>, Error> {
    Ok(provider_connection::Entity::of_user(user_id).all(db).await?)
}

/// Returns a person's connection to a provider.
pub(super) async fn one_of_user(
    db: &impl ConnectionTrait,
    user_id: Uuid,
    provider: Provider,
) -> Result<Option<Model>, Error> {
    Ok(provider_connection::Entity::one_of_user(user_id, stored(provider)).one(db).await?)
}

/// The provider of a connection.
pub(super) fn name(row: &Model) -> Provider {
    match row.provider {
        provider_connection::Provider::A => Provider::A,
        provider_connection::Provider::B => Provider::B,
    }
}

fn stored(provider: Provider) -> provider_connection::Provider {
    match provider {
        Provider::A => provider_connection::Provider::A,
        Provider::B => provider_connection::Provider::B,
    }
}

/// The holder of a connection's present credentials. Other credentials have another version, and the same ones stored again have the
/// same, so that they do not pay again.
pub(super) fn holder(secrets: &Secrets, row: &Model) -> Result<Holder, Error> {
    let version = secrets.digest(&opened(secrets, row)?, &context(&row.id));
    Ok(Holder { connection: row.id, version })
}

fn opened(secrets: &Secrets, row: &Model) -> Result<Vec<u8>, Error> {
    secrets.open(&row.sealed, &context(&row.id)).map_err(Error::internal)
}

/// Opens a connection's credentials.
pub(super) fn credentials(secrets: &Secrets, row: &Model) -> Result<Credentials, Error> {
    Credentials::from_bytes(&opened(secrets, row)?).ok_or_else(|| Error::internal("stored credentials cannot be read"))
}

/// Stores credentials that were tested at the time of the change, in place of the former ones.
pub(super) async fn replace(
    change: &MemberChange,
    secrets: &Secrets,
    provider: Provider,
    credentials: &Credentials,
    balance: Option<Amount>,
) -> Result<Model, Error> {
    let user = change.lock().await?;
    let before = one_of_user(change.tx(), user.id, provider).await?;
    let id = before.as_ref().map_or_else(|| change.new_id(), |row| row.id);
    let was_ok = before.as_ref().filter(|row| row.state == CredentialsState::Ok);
    let row = Model {
        id,
        user_id: user.id,
        provider: stored(provider),
        account: credentials.account(),
        sealed: secrets.seal(&credentials.to_bytes(), &context(&id)),
        state: CredentialsState::Ok,
        state_at: was_ok.map_or(change.now, |row| row.state_at),
        checked_at: change.now,
        balance_millionths: balance.map(|balance| balance.0),
        created_at: before.as_ref().map_or(change.now, |row| row.created_at),
        updated_at: change.now,
    };
    let active = row.into_active_model().reset_all();
    Ok(if before.is_some() { active.update(change.tx()).await? } else { active.insert(change.tx()).await? })
}

/// Deletes a person's connection to a provider. Returns its id, or `None` if there was none.
pub(super) async fn delete(change: &MemberChange, provider: Provider) -> Result<Option<Uuid>, Error> {
    let user = change.lock().await?;
    let Some(row) = one_of_user(change.tx(), user.id, provider).await? else { return Ok(None) };
    let id = row.id;
    row.delete(change.tx()).await?;
    Ok(Some(id))
}

/// The result of a check or a question, as far as it concerns the credentials.
pub(super) struct Seen {
    pub state: CredentialsState,
    /// The standing of the account, if it was asked for.
    pub standing: Option<AccountState>,
    /// The charge.
    pub spent: Amount,
}

/// Notes the state of the credentials in `row`. Others that replaced them meanwhile are left unchanged.
pub(super) async fn note(
    db: &impl ConnectionTrait,
    row: &Model,
    seen: Seen,
    now: chrono::DateTime<chrono::Utc>,
) -> Result<(), Error> {
    use provider_connection::Column;
    let mut noted =
        provider_connection::ActiveModel { checked_at: Set(now), state: Set(seen.state), ..Default::default() };
    if let Some(standing) = seen.standing {
        noted.balance_millionths = Set(standing.balance.map(|balance| balance.0));
    }
    // The state may have changed since the row was read.
    let state_at = Expr::case(Column::State.ne(seen.state), now).finally(Expr::col(Column::StateAt));
    let mut update = provider_connection::Entity::update_many().set(noted).col_expr(Column::StateAt, state_at.into());
    if seen.spent > Amount::ZERO {
        // Two answers may be charged at once, so each takes its own charge off.
        update = update.col_expr(Column::BalanceMillionths, Expr::col(Column::BalanceMillionths).sub(seen.spent.0));
    }
    update.filter(Column::Id.eq(row.id)).filter(Column::Sealed.eq(row.sealed.clone())).exec(db).await?;
    Ok(())
}

/// Seals all credentials again that are not under the current secrets key. Returns their number.
pub async fn reseal(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    use provider_connection::{Column, Entity};
    let place = SealedColumn::<Entity> { name: "provider_connection", id: Column::Id, sealed: Column::Sealed };
    Ok(resealing::reseal(tx, secrets, place, context).await?)
}

fn context(id: &Uuid) -> String {
    format!("provider_connection/{id}")
}
