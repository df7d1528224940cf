//! Grants of people who deleted their data, until the search engine has revoked them. Nothing tells whose they were.

use sea_orm::entity::prelude::*;

/// One grant to revoke.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "pending_revocation")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The refresh token, encrypted.
    pub sealed: Vec<u8>,
    /// Time of the deletion.
    pub created_at: DateTimeUtc,
}

/// No declared relations: finders select all.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
