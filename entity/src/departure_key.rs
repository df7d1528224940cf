//! The key of the hashes in `departure`, stored encrypted. It outlives a replacement of the secrets key.

use sea_orm::entity::prelude::*;

/// The one key.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "departure_key")]
pub struct Model {
    /// Always the same, so that there is one key.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The key, encrypted with the service's secrets key.
    pub sealed: Vec<u8>,
}

/// No declared relations: there is one row.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
