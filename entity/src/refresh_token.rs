//! Refresh tokens of the embedded issuer, stored by hash. Each is used once, deleted and replaced.

use sea_orm::entity::prelude::*;

/// One refresh token.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "refresh_token")]
pub struct Model {
    /// SHA-256 of the token, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Id of the grant it renews.
    pub grant_id: Uuid,
    /// Expiry time of the token.
    pub expires_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
