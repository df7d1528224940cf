//! Search accounts: the grants that people gave the service, stored sealed.

use chrono::{DateTime, Utc};
use entity::search_account::{self, Status};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, EntityTrait, IntoActiveModel,
    QueryFilter, sea_query::OnConflict,
};
use uuid::Uuid;

use crate::{error::Error, random::Random, secrets::Secrets};

/// The result of connecting a search account.
#[derive(Clone)]
pub struct Connection {
    /// The account's identifier at the search engine.
    pub subject: String,
    /// Its e-mail address at the search engine.
    pub email: Option<String>,
    /// The refresh token, in plain text.
    pub refresh_token: String,
}

/// Returns the accounts that a person connected, oldest first, with their health.
pub async fn of_user(db: &impl ConnectionTrait, user_id: Uuid) -> Result<Vec<search_account::Model>, Error> {
    Ok(search_account::Entity::of_user(user_id).all(db).await?)
}

/// Stores a grant. Connecting an account again renews its grant.
pub async fn connect(
    db: &DatabaseConnection,
    secrets: &Secrets,
    random: &Random,
    now: DateTime<Utc>,
    user_id: Uuid,
    connection: &Connection,
) -> Result<search_account::Model, Error> {
    use search_account::Column;
    let row = search_account::ActiveModel {
        id: Set(random.id(now)),
        user_id: Set(user_id),
        subject: Set(connection.subject.clone()),
        email: Set(connection.email.clone()),
        refresh_token: Set(None),
        status: Set(Status::Connected),
        last_error: Set(None),
        connected_at: Set(now),
        synced_at: Set(None),
        updated_at: Set(now),
    };
    let again = OnConflict::columns([Column::UserId, Column::Subject])
        .update_columns([Column::Email, Column::Status, Column::LastError, Column::ConnectedAt, Column::UpdatedAt])
        .to_owned();
    let account = search_account::Entity::insert(row).on_conflict(again).exec_with_returning(db).await?;
    replace_refresh_token(db, secrets, &account, &connection.refresh_token, now).await
}

/// Stores the refresh token with which the search engine replaced the old one. The seal is bound to the account, so it cannot be
/// opened for another one.
pub async fn replace_refresh_token(
    db: &DatabaseConnection,
    secrets: &Secrets,
    account: &search_account::Model,
    token: &str,
    now: DateTime<Utc>,
) -> Result<search_account::Model, Error> {
    let mut row = account.clone().into_active_model();
    row.refresh_token = Set(Some(secrets.seal(token.as_bytes(), &context(account))));
    row.updated_at = Set(now);
    Ok(row.update(db).await?)
}

/// Returns the account's refresh token, unless the search engine refused it. `owner_must` is true if the account is another
/// person's.
pub fn refresh_token(secrets: &Secrets, account: &search_account::Model, owner_must: bool) -> Result<String, Error> {
    let sealed = account.refresh_token.as_deref().filter(|_| account.status == Status::Connected);
    let sealed = sealed.ok_or(Error::SearchAccountDisconnected { owner_must })?;
    let token = secrets.open(sealed, &context(account)).map_err(Error::internal)?;
    String::from_utf8(token).map_err(Error::internal)
}

/// Records that the search engine refused the grant that `account` was read with. A grant renewed meanwhile is left unchanged.
pub async fn mark_reconnect_required(
    db: &DatabaseConnection,
    account: &search_account::Model,
    reason: &str,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    use search_account::Column;
    let refused = search_account::ActiveModel {
        status: Set(Status::ReconnectRequired),
        last_error: Set(Some(reason.to_owned())),
        updated_at: Set(now),
        ..Default::default()
    };
    search_account::Entity::update_many()
        .set(refused)
        .filter(Column::Id.eq(account.id))
        .filter(Column::RefreshToken.eq(account.refresh_token.clone()))
        .exec(db)
        .await?;
    Ok(())
}

fn context(account: &search_account::Model) -> String {
    format!("search_account/{}", account.id)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::testing::{World, noon};

    #[tokio::test]
    async fn a_grant_is_sealed_refused_and_renewed() {
        let world = World::new().await;
        let secrets = Secrets::new([7; 32], Random::seeded(3));
        let connection = |token: &str| Connection {
            subject: "g-1".into(),
            email: Some("owner@search.test".into()),
            refresh_token: token.into(),
        };
        let connect = async |token: &str, now| {
            super::connect(&world.db, &secrets, &world.random, now, world.owner, &connection(token)).await.unwrap()
        };
        let account = connect("first", noon()).await;
        assert!(!account.refresh_token.as_ref().unwrap().windows(5).any(|part| part == b"first"));
        assert_eq!(refresh_token(&secrets, &account, false).unwrap(), "first");

        let later = noon() + TimeDelta::hours(1);
        mark_reconnect_required(&world.db, &account, "invalid_grant", later).await.unwrap();
        let refused = of_user(&world.db, world.owner).await.unwrap().into_iter().find(|a| a.id == account.id).unwrap();
        assert_eq!(refused.last_error.as_deref(), Some("invalid_grant"));
        let error = refresh_token(&secrets, &refused, true).unwrap_err();
        assert!(matches!(error, Error::SearchAccountDisconnected { owner_must: true }));

        let renewed = connect("second", later).await;
        assert_eq!((renewed.id, renewed.status), (account.id, Status::Connected));
        assert_eq!(refresh_token(&secrets, &renewed, false).unwrap(), "second");
        mark_reconnect_required(&world.db, &account, "late news of the first grant", later).await.unwrap();
        let still = of_user(&world.db, world.owner).await.unwrap();
        assert!(still.iter().all(|account| account.status == Status::Connected));
    }
}
