//! Filter presets: sets of conditions that a user saved.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// One row of `filter_preset`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "filter_preset")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the user.
    pub user_id: Uuid,
    /// Name, as the user wrote it.
    pub name: String,
    /// Name folded for comparison ([`crate::key`]); unique per user.
    pub name_key: String,
    /// The conditions, a JSON array of `{dimension, operator, value, logic?}`.
    #[sea_orm(column_type = "Text")]
    pub filters: String,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A user's presets, ordered by name.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id)).order_by_asc(Column::NameKey)
    }

    /// One preset of a user.
    #[must_use]
    pub fn one_of_user(user_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::UserId.eq(user_id))
    }
}
