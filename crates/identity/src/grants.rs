//! Grants of the embedded issuer: the access that a person gave to a client. Codes, refresh tokens and access tokens belong to
//! a grant and end with it.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use entity::oauth_grant::{Column, Entity, Model};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select, sea_query::Expr,
};
use uuid::Uuid;

use super::revocation;

/// Lifetime of access tokens and ID tokens.
pub const ACCESS_TOKEN_LIFETIME: TimeDelta = TimeDelta::hours(1);

/// Lifetime of an unused refresh token.
pub const REFRESH_TOKEN_LIFETIME: TimeDelta = TimeDelta::days(30);

/// Returns the current grants of a person, newest first.
pub async fn of_subject(db: &impl ConnectionTrait, subject: &str, now: DateTime<Utc>) -> Result<Vec<Model>, DbErr> {
    let current = not_ended(subject).filter(Column::ExpiresAt.gt(now));
    current.order_by_desc(Column::CreatedAt).order_by_desc(Column::Id).all(db).await
}

/// Returns the current grants to a client, newest first.
pub async fn of_client(db: &impl ConnectionTrait, client_id: &str, now: DateTime<Utc>) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::ClientId.eq(client_id))
        .filter(Column::EndedAt.is_null())
        .filter(Column::ExpiresAt.gt(now))
        .order_by_desc(Column::CreatedAt)
        .all(db)
        .await
}

/// Returns the number of current grants of each client that has any.
pub async fn counts(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<HashMap<String, usize>, DbErr> {
    let counted: Vec<(String, i64)> = Entity::find()
        .select_only()
        .column(Column::ClientId)
        .column_as(Column::Id.count(), "grants")
        .filter(Column::EndedAt.is_null())
        .filter(Column::ExpiresAt.gt(now))
        .group_by(Column::ClientId)
        .into_tuple()
        .all(db)
        .await?;
    Ok(counted.into_iter().map(|(id, count)| (id, usize::try_from(count).unwrap_or_default())).collect())
}

/// Returns the grant with this id.
pub async fn find(db: &impl ConnectionTrait, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// Returns whether a person ever gave access to a client, as far as that is stored.
pub async fn has_any(db: &impl ConnectionTrait, subject: &str, client_id: &str) -> Result<bool, DbErr> {
    let given = Entity::find().filter(Column::Subject.eq(subject)).filter(Column::ClientId.eq(client_id));
    Ok(given.one(db).await?.is_some())
}

/// Ends a grant. Its code, refresh tokens and access tokens are refused from now on, by every API at once.
pub async fn end(db: &impl ConnectionTrait, grant: &Model, now: DateTime<Utc>) -> Result<(), DbErr> {
    // Resource servers check this row, so it is written first: if the second statement fails, too much is refused, not too
    // little.
    let last_token = now + ACCESS_TOKEN_LIFETIME;
    revocation::revoke_grant(db, grant.id, last_token, now).await?;
    Entity::update_many()
        .col_expr(Column::EndedAt, Expr::value(now))
        .filter(Column::Id.eq(grant.id))
        .filter(Column::EndedAt.is_null())
        .exec(db)
        .await
        .map(|_| ())
}

/// Ends every grant of a person.
pub async fn end_all(db: &impl ConnectionTrait, subject: &str, now: DateTime<Utc>) -> Result<(), DbErr> {
    end_each(db, not_ended(subject), now).await
}

/// Ends every grant that a person gave to a client.
pub async fn end_of_client(
    db: &impl ConnectionTrait,
    subject: &str,
    client_id: &str,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    end_each(db, not_ended(subject).filter(Column::ClientId.eq(client_id)), now).await
}

/// Ends every grant that was given to a client in a session of the embedded issuer.
pub async fn end_of_session(
    db: &impl ConnectionTrait,
    session: Uuid,
    client_id: &str,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    let given = Entity::find().filter(Column::IssuerSessionId.eq(session)).filter(Column::ClientId.eq(client_id));
    end_each(db, given.filter(Column::EndedAt.is_null()), now).await
}

/// Also selects grants past their expiry: a token that was issued late in a grant outlives it by the lifetime of a code.
fn not_ended(subject: &str) -> Select<Entity> {
    Entity::find().filter(Column::Subject.eq(subject)).filter(Column::EndedAt.is_null())
}

async fn end_each(db: &impl ConnectionTrait, grants: Select<Entity>, now: DateTime<Utc>) -> Result<(), DbErr> {
    for grant in grants.all(db).await? {
        end(db, &grant, now).await?;
    }
    Ok(())
}
