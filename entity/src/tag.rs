//! Tags: each person's own labels on properties.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// One row of `tag`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "tag")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose tag.
    pub user_id: Uuid,
    /// Name as written.
    pub name: String,
    /// Name folded for comparison ([`crate::key`]); unique for the person.
    pub name_key: String,
    /// Its place in lists, smallest first (`order` on the wire).
    pub position: i32,
    /// When the row was made.
    pub created_at: DateTimeUtc,
    /// When the row last changed.
    pub updated_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A person's tags, in their order.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id)).order_by_asc(Column::Position).order_by_asc(Column::NameKey)
    }

    /// One tag of a person.
    #[must_use]
    pub fn one_of_user(user_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::UserId.eq(user_id))
    }
}
