//! Refusals: clients of an external issuer that may no longer act for a user.

use sea_orm::entity::prelude::*;

/// A client that is refused for a user until the user allows it again.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "client_refusal")]
pub struct Model {
    /// Id of the user.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// Id of the client, as its tokens state it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub client_id: String,
    /// Time since which the client is refused.
    pub refused_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// The refusals of one user.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id))
    }
}
