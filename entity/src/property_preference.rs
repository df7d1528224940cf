//! What each person made of a property: a favourite, or hidden.

use sea_orm::entity::prelude::*;

/// One row of `property_preference`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "property_preference")]
pub struct Model {
    /// Whose preference.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// About which property.
    #[sea_orm(primary_key, auto_increment = false)]
    pub property_id: Uuid,
    /// Listed first.
    pub favorite: bool,
    /// Listed as hidden.
    pub hidden: bool,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// All preferences of a person.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id))
    }
}
