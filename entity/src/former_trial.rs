//! People who left after they had tried a plan, known by the keyed hash of their departure. They get no other trial for a year.

use sea_orm::entity::prelude::*;

/// One person.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "former_trial")]
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
