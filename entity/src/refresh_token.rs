//! Refresh tokens of the embedded issuer, by hash. Each is spent once and replaced.

use sea_orm::entity::prelude::*;

/// One refresh token.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "refresh_token")]
pub struct Model {
    /// SHA-256 of the token, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The grant it renews.
    pub grant_id: Uuid,
    /// When it stops working.
    pub expires_at: DateTimeUtc,
    /// When it was exchanged for its successor.
    pub spent_at: Option<DateTimeUtc>,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
