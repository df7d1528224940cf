//! Browser sessions: a random cookie value, of which the database stores only the hash.

use chrono::{DateTime, TimeDelta, Utc};
use entity::session::{ActiveModel, Column, Entity};
use sea_orm::{ActiveValue::Set, ColumnTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::{clock::Clock, digest::sha256_hex, random::Random};

/// Lifetime of a session.
pub const LIFETIME: TimeDelta = TimeDelta::days(7);

/// The sessions of all browsers.
#[derive(Clone)]
pub struct Sessions {
    db: DatabaseConnection,
    clock: Clock,
    random: Random,
}

impl Sessions {
    /// Stores sessions in `db`.
    #[must_use]
    pub fn new(db: DatabaseConnection, clock: Clock, random: Random) -> Self {
        Self { db, clock, random }
    }

    /// Starts a session and returns the value for the cookie.
    pub async fn start(&self, user_id: Uuid) -> Result<String, DbErr> {
        let (value, now) = (self.random.token(), self.clock.now());
        let row = ActiveModel {
            hash: Set(sha256_hex(&value)),
            user_id: Set(user_id),
            created_at: Set(now),
            expires_at: Set(now + LIFETIME),
        };
        Entity::insert(row).exec_without_returning(&self.db).await?;
        Ok(value)
    }

    /// Ends the session of a cookie value, if there is one.
    pub async fn end(&self, value: &str) -> Result<(), DbErr> {
        Entity::delete_by_id(sha256_hex(value)).exec(&self.db).await.map(|_| ())
    }

    /// Ends every session of a user.
    pub async fn end_all(&self, user_id: Uuid) -> Result<(), DbErr> {
        Entity::delete_many().filter(Column::UserId.eq(user_id)).exec(&self.db).await.map(|_| ())
    }

    /// Deletes sessions that expired before `now`. Returns the number of deleted rows.
    pub async fn sweep(&self, now: DateTime<Utc>) -> Result<u64, DbErr> {
        Ok(Entity::delete_many().filter(Column::ExpiresAt.lt(now)).exec(&self.db).await?.rows_affected)
    }
}
