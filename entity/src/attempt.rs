//! Attempts that are limited: guesses at passwords, requests for links, registrations, authorizations.

use sea_orm::entity::prelude::*;

/// The attempts of one kind by one caller.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "attempt")]
pub struct Model {
    /// A keyed hash of the kind and the caller.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// The time at which the whole burst is available again, in nanoseconds since 1970. The row is of no use from then on.
    pub full_at: i64,
}

/// No declared relations: a row belongs to nobody who is known.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
