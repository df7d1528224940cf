//! Replaces the active signing key: by command, or when it is old.

use chrono::{DateTime, TimeDelta, Utc};
use common::secrets::Secrets;
use entity::signing_key::{ActiveModel, Column, Entity};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait as _, QueryFilter as _,
    sea_query::{Expr, OnConflict},
};

use super::{KeysError, PUBLISHED_AHEAD, context, pair};
use crate::store::database;

/// Time to publish a retired key. It signs a few minutes longer, its tokens live for an hour, and the rest is a margin.
const KEEP_RETIRED: TimeDelta = TimeDelta::hours(2);

/// A new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// Its key id.
    pub id: String,
    /// Time from which tokens are signed with it.
    pub signs_from: DateTime<Utc>,
}

/// The former keys after a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Former {
    /// They stay published, and their tokens stay valid until they expire.
    Published,
    /// They are deleted, and their tokens become invalid. For a key that leaked.
    Deleted,
}

/// Replaces the active key. Returns `None` if another process has just replaced it.
pub async fn rotate(
    db: &DatabaseConnection,
    secrets: &Secrets,
    former: Former,
    now: DateTime<Utc>,
) -> Result<Option<Rotated>, KeysError> {
    let active = Entity::active().one(db).await?;
    let is_only = active.is_none() || former == Former::Deleted;
    let (id, pem) = pair::generate().await?;
    let tx = database::begin(db).await?;
    if let Some(active) = active {
        let retired = Entity::update_many()
            .col_expr(Column::RetiredAt, Expr::value(now))
            .filter(Column::Id.eq(active.id))
            .filter(Column::RetiredAt.is_null())
            .exec(&tx)
            .await?;
        if retired.rows_affected == 0 {
            tx.rollback().await?;
            return Ok(None);
        }
    }
    if former == Former::Deleted {
        Entity::delete_many().exec(&tx).await?;
    }
    // A process that starts now may have made the first key meanwhile.
    if !insert(&tx, secrets, &id, &pem, now).await? {
        tx.rollback().await?;
        return Ok(None);
    }
    tx.commit().await?;
    let signs_from = if is_only { now } else { now + PUBLISHED_AHEAD };
    Ok(Some(Rotated { id, signs_from }))
}

/// Replaces the active key if it is at least `max_age` old. Of several replicas, one does so.
pub async fn rotate_if_old(
    db: &DatabaseConnection,
    secrets: &Secrets,
    max_age: TimeDelta,
    now: DateTime<Utc>,
) -> Result<Option<Rotated>, KeysError> {
    let active = Entity::active().one(db).await?;
    if active.is_none_or(|key| now - key.created_at < max_age) {
        return Ok(None);
    }
    rotate(db, secrets, Former::Published, now).await
}

/// Deletes keys of which no token can be valid. Returns their number.
pub async fn sweep(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<u64, DbErr> {
    let outlived = Entity::delete_many().filter(Column::RetiredAt.lt(now - KEEP_RETIRED));
    Ok(outlived.exec(db).await?.rows_affected)
}

/// Adds a key if none is active.
pub(super) async fn add_first(
    db: &impl ConnectionTrait,
    secrets: &Secrets,
    now: DateTime<Utc>,
) -> Result<(), KeysError> {
    let (id, pem) = pair::generate().await?;
    insert(db, secrets, &id, &pem, now).await?;
    Ok(())
}

/// Inserts the active key. Returns whether there was none.
async fn insert(
    db: &impl ConnectionTrait,
    secrets: &Secrets,
    id: &str,
    pem: &[u8],
    now: DateTime<Utc>,
) -> Result<bool, DbErr> {
    let row = ActiveModel {
        id: Set(id.to_owned()),
        sealed: Set(secrets.seal(pem, &context(id))),
        created_at: Set(now),
        retired_at: Set(None),
    };
    let first_wins = OnConflict::new().do_nothing().to_owned();
    let inserted = Entity::insert(row).on_conflict(first_wins).exec_without_returning(db).await?;
    Ok(inserted == 1)
}
