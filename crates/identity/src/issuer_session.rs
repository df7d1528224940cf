//! The embedded issuer's sessions, as far as the service lists and ends them.

use chrono::{DateTime, Utc};
use entity::issuer_session::{Column, Entity};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::{clients, grants};

pub use entity::issuer_session::Model as IssuerSession;

/// The name of the cookie that holds a session, over plain http.
pub const COOKIE: &str = "sightline_issuer";

/// Returns the open sessions of a person.
pub async fn of_subject(
    db: &impl ConnectionTrait,
    subject: &str,
    now: DateTime<Utc>,
) -> Result<Vec<IssuerSession>, DbErr> {
    Entity::find().filter(Column::Subject.eq(subject)).filter(Column::ExpiresAt.gt(now)).all(db).await
}

/// Returns the session whose cookie value has this hash.
pub async fn with_hash(db: &impl ConnectionTrait, hash: &str) -> Result<Option<IssuerSession>, DbErr> {
    Entity::find().filter(Column::Hash.eq(hash)).one(db).await
}

/// Ends a session, the sessions of the service that began with it, and the grant of the documentation's page. Other clients keep
/// their access.
///
/// The session goes first: a code that is redeemed afterwards is refused.
pub async fn end(db: &impl ConnectionTrait, id: Uuid, now: DateTime<Utc>) -> Result<(), DbErr> {
    Entity::delete_by_id(id).exec(db).await?;
    grants::end_of_session(db, id, clients::DOCS, now).await
}
