//! Uses: which clients act for which users, and since when. It is written beside requests, at most once an hour per pair.

use sea_orm::entity::prelude::*;

/// A client that has acted for a user.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "client_use")]
pub struct Model {
    /// Id of the user.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// Id of the client, as its tokens state it.
    #[sea_orm(primary_key, auto_increment = false)]
    pub client_id: String,
    /// Scopes of the token used last, separated by spaces.
    #[sea_orm(column_type = "Text")]
    pub scopes: String,
    /// Time of the first recorded use.
    pub first_used_at: DateTimeUtc,
    /// Time of the last recorded use.
    pub last_used_at: DateTimeUtc,
    /// Time of the last recorded use of the tool endpoint. A client with one is an assistant.
    pub tools_used_at: Option<DateTimeUtc>,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// The uses for one user.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id))
    }
}
