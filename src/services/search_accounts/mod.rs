//! Search accounts: the grants that people gave the service, stored sealed.

pub mod grants;
mod others;
pub mod sites;

use api::privacy::AuditAction;
use chrono::{DateTime, Utc};
use common::{plain_text, random::Random, secrets::Secrets};
use entity::search_account::{self, Status};
use sea_orm::{
    ActiveModelTrait,
    ActiveValue::Set,
    ColumnTrait, ConnectionTrait, DatabaseConnection, DbBackend, EntityTrait, IntoActiveModel, QueryFilter,
    QuerySelect as _,
    sea_query::{LockType, OnConflict},
};
use store::{
    database,
    resealing::{self, SealedColumn},
    transaction::Transaction,
};
use uuid::Uuid;

use super::{audit::Event, users};
use crate::error::{Disconnection, Error};

/// The result of connecting a search account.
#[derive(Clone)]
pub struct Connection {
    /// The account's identifier at the search engine.
    pub subject: String,
    /// Its e-mail address at the search engine.
    pub email: Option<String>,
    /// The refresh token, in plain text. `None` keeps the stored one.
    pub refresh_token: Option<String>,
}

/// Returns the accounts that a person connected, oldest first, with their health.
pub async fn of_user(db: &impl ConnectionTrait, user_id: Uuid) -> Result<Vec<search_account::Model>, Error> {
    Ok(search_account::Entity::of_user(user_id).all(db).await?)
}

/// Returns an account that a person connected.
///
/// # Errors
/// [`Error::NotFound`] if it is another person's or unknown.
pub async fn one_of_user(db: &impl ConnectionTrait, user_id: Uuid, id: Uuid) -> Result<search_account::Model, Error> {
    search_account::Entity::one_of_user(user_id, id).one(db).await?.ok_or(Error::NotFound)
}

/// Stores a grant. Connecting an account again renews its grant. The sites that it reads best are read by it from now on.
pub async fn connect(
    db: &DatabaseConnection,
    secrets: &Secrets,
    random: &Random,
    now: DateTime<Utc>,
    user_id: Uuid,
    connection: &Connection,
) -> Result<search_account::Model, Error> {
    use search_account::Column;
    let tx = database::begin(db).await?;
    users::lock(&tx, user_id).await?;
    let row = search_account::ActiveModel {
        id: Set(random.id(now)),
        user_id: Set(user_id),
        subject: Set(connection.subject.clone()),
        email: Set(connection.email.clone()),
        refresh_token: Set(None),
        status: Set(Status::Connected),
        status_at: Set(None),
        last_error: Set(None),
        connected_at: Set(now),
        synced_at: Set(None),
        updated_at: Set(now),
    };
    let again = OnConflict::columns([Column::UserId, Column::Subject])
        .update_columns([
            Column::Email,
            Column::Status,
            Column::StatusAt,
            Column::LastError,
            Column::ConnectedAt,
            Column::UpdatedAt,
        ])
        .to_owned();
    let mut account = search_account::Entity::insert(row).on_conflict(again).exec_with_returning(&tx).await?;
    if let Some(token) = &connection.refresh_token {
        let mut row = account.clone().into_active_model();
        row.refresh_token = Set(Some(secrets.seal(token.as_bytes(), &context(&account.id))));
        account = row.update(&tx).await?;
    }
    sites::choose(&tx, user_id, now).await?;
    event(&account, AuditAction::SearchAccountConnected).note(&tx, random.id(now), now).await?;
    tx.commit().await?;
    Ok(account)
}

/// Stores the refresh token with which the search engine replaced the one of `account`. An account that was disconnected or renewed
/// meanwhile is left unchanged. The seal is bound to the account, so it cannot be opened for another one.
pub async fn replace_refresh_token(
    db: &impl ConnectionTrait,
    secrets: &Secrets,
    account: &search_account::Model,
    token: &str,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let renewed = search_account::ActiveModel {
        refresh_token: Set(Some(secrets.seal(token.as_bytes(), &context(&account.id)))),
        updated_at: Set(now),
        ..Default::default()
    };
    search_account::Entity::update_many().set(renewed).filter(still(account)).exec(db).await?;
    Ok(())
}

/// Returns the reason why an account cannot be used, or `None` if it can.
#[must_use]
pub fn disconnection(account: &search_account::Model) -> Option<Disconnection> {
    match account.status {
        Status::Connected if account.refresh_token.is_some() => None,
        Status::Connected | Status::ReconnectRequired => Some(Disconnection::Revoked),
        Status::ScopeMissing => Some(Disconnection::ScopeMissing),
        Status::Disconnected => Some(Disconnection::ByPerson),
    }
}

/// Returns the account's refresh token, or `None` if none is stored.
pub fn refresh_token(secrets: &Secrets, account: &search_account::Model) -> Result<Option<String>, Error> {
    let Some(sealed) = &account.refresh_token else { return Ok(None) };
    let token = secrets.open(sealed, &context(&account.id)).map_err(Error::internal)?;
    String::from_utf8(token).map(Some).map_err(Error::internal)
}

/// Records that the search engine refused the grant that `account` was read with: it has ended, or it does not allow reading. A
/// grant renewed meanwhile is left unchanged. Other accounts take over the sites that they can read.
pub async fn mark_refused(
    db: &DatabaseConnection,
    account: &search_account::Model,
    reason: Disconnection,
    said: &str,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let status = if reason == Disconnection::ScopeMissing { Status::ScopeMissing } else { Status::ReconnectRequired };
    let refused = search_account::ActiveModel {
        status: Set(status),
        status_at: Set(Some(now)),
        last_error: Set(Some(plain_text::clean(said))),
        updated_at: Set(now),
        ..Default::default()
    };
    let tx = database::begin(db).await?;
    users::lock(&tx, account.user_id).await?;
    let changed = search_account::Entity::update_many().set(refused).filter(still(account)).exec(&tx).await?;
    if changed.rows_affected > 0 {
        sites::choose(&tx, account.user_id, now).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Waits until nobody holds the row of an account, for as long as a lock may take.
///
/// # Errors
/// Somebody holds it for longer.
pub async fn wait_until_free(db: &DatabaseConnection, id: Uuid) -> Result<(), Error> {
    if db.get_database_backend() == DbBackend::Postgres {
        let tx = database::begin(db).await?;
        search_account::Entity::find_by_id(id).lock(LockType::NoKeyUpdate).one(&tx).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Forgets the grant of an account that its owner disconnected. Other accounts take over the sites that they can read.
pub async fn disconnect(
    tx: &Transaction,
    random: &Random,
    account: &search_account::Model,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    users::lock(tx, account.user_id).await?;
    let row = search_account::ActiveModel {
        id: Set(account.id),
        refresh_token: Set(None),
        status: Set(Status::Disconnected),
        status_at: Set(Some(now)),
        last_error: Set(None),
        updated_at: Set(now),
        ..Default::default()
    };
    row.update(tx).await?;
    event(account, AuditAction::SearchAccountDisconnected).note(tx, random.id(now), now).await?;
    sites::choose(tx, account.user_id, now).await
}

fn event(account: &search_account::Model, action: AuditAction) -> Event {
    Event::own(account.user_id, action).record(account.email.as_ref().unwrap_or(&account.subject))
}

/// Returns whether another person of this service has connected the same account at the search engine. Both grants are one there:
/// revoking either ends both.
pub async fn is_connected_by_others(db: &impl ConnectionTrait, user_id: Uuid, subject: &str) -> Result<bool, Error> {
    Ok(search_account::Entity::connected_by_others(user_id, subject).one(db).await?.is_some())
}

/// Returns whether anybody has connected this account.
pub async fn is_connected(db: &impl ConnectionTrait, subject: &str) -> Result<bool, Error> {
    is_connected_by_others(db, Uuid::nil(), subject).await
}

/// The account with the grant that was read, still connected.
fn still(account: &search_account::Model) -> sea_orm::Condition {
    use search_account::Column;
    sea_orm::Condition::all()
        .add(Column::Id.eq(account.id))
        .add(Column::Status.eq(Status::Connected))
        .add(Column::RefreshToken.eq(account.refresh_token.clone()))
}

/// Seals every refresh token again that is not under the current secrets key. Returns their number.
pub async fn reseal(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    use search_account::{Column, Entity};
    let place = SealedColumn::<Entity> { name: "search_account", id: Column::Id, sealed: Column::RefreshToken };
    Ok(resealing::reseal(tx, secrets, place, context).await?)
}

fn context(account_id: &Uuid) -> String {
    format!("search_account/{account_id}")
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use test_data::noon;

    use super::*;
    use crate::testing::World;

    #[tokio::test]
    async fn a_grant_is_sealed_refused_and_renewed() {
        let world = World::new().await;
        let secrets = Secrets::new([7; 32], Random::seeded(3));
        let connection = |token: Option<&str>| Connection {
            subject: "g-1".into(),
            email: Some("owner@search.test".into()),
            refresh_token: token.map(str::to_owned),
        };
        let connect = async |token: Option<&str>, now| {
            super::connect(&world.db, &secrets, &world.random, now, world.owner, &connection(token)).await.unwrap()
        };
        let stored = async |id| one_of_user(&world.db, world.owner, id).await.unwrap();
        let token = |account: &_| refresh_token(&secrets, account).unwrap().unwrap_or_default();
        let account = connect(Some("first"), noon()).await;
        assert!(!account.refresh_token.as_ref().unwrap().windows(5).any(|part| part == b"first"));
        assert_eq!((token(&account).as_str(), disconnection(&account)), ("first", None));
        assert_eq!(token(&connect(None, noon()).await), "first", "a consent without a new token keeps the old one");

        let moved = search_account::Model { id: world.stranger, ..account.clone() };
        assert!(refresh_token(&secrets, &moved).is_err(), "it opens in its own row alone");

        let later = noon() + TimeDelta::hours(1);
        mark_refused(&world.db, &account, Disconnection::Revoked, "invalid_grant", later).await.unwrap();
        let refused = stored(account.id).await;
        assert_eq!(refused.last_error.as_deref(), Some("invalid_grant"));
        assert_eq!((disconnection(&refused), refused.status_at), (Some(Disconnection::Revoked), Some(later)));

        let renewed = connect(Some("second"), later).await;
        assert_eq!((renewed.id, renewed.status, renewed.status_at), (account.id, Status::Connected, None));
        assert_eq!(token(&renewed), "second");
        mark_refused(&world.db, &account, Disconnection::Revoked, "late news of the first", later).await.unwrap();
        assert_eq!(disconnection(&stored(account.id).await), None);

        mark_refused(&world.db, &renewed, Disconnection::ScopeMissing, "openid only", later).await.unwrap();
        assert_eq!(disconnection(&stored(account.id).await), Some(Disconnection::ScopeMissing));
        let tx = database::begin(&world.db).await.unwrap();
        disconnect(&tx, &world.random, &renewed, later).await.unwrap();
        tx.commit().await.unwrap();
        replace_refresh_token(&world.db, &secrets, &renewed, "third", later).await.unwrap();
        let ended = stored(account.id).await;
        assert_eq!((disconnection(&ended), ended.refresh_token), (Some(Disconnection::ByPerson), None));
    }

    #[tokio::test]
    async fn an_account_of_two_people_is_known_as_such_while_both_are_connected() {
        let world = World::new().await;
        let secrets = Secrets::new([7; 32], Random::seeded(3));
        let connection = Connection { subject: "shared".into(), email: None, refresh_token: Some("token".into()) };
        let mut accounts = Vec::new();
        for user in [world.owner, world.stranger] {
            accounts.push(connect(&world.db, &secrets, &world.random, noon(), user, &connection).await.unwrap());
        }
        let others = async || is_connected_by_others(&world.db, world.owner, "shared").await.unwrap();
        assert!(others().await);
        mark_refused(&world.db, &accounts[1], Disconnection::Revoked, "invalid_grant", noon()).await.unwrap();
        assert!(!others().await);
    }
}
