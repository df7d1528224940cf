//! Departures: people who deleted their data, known by a keyed hash alone. No token from before brings them back.

use sea_orm::entity::prelude::*;

/// One departure.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "departure")]
pub struct Model {
    /// HMAC-SHA-256 of issuer and subject, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub person: String,
    /// Time of the deletion.
    pub left_at: DateTimeUtc,
}

/// No declared relations: finders select by hash.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
