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

/// The tables this one refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The person.
    #[sea_orm(belongs_to = "super::user::Entity", from = "Column::UserId", to = "super::user::Column::Id")]
    User,
    /// The property.
    #[sea_orm(belongs_to = "super::property::Entity", from = "Column::PropertyId", to = "super::property::Column::Id")]
    Property,
}

impl Related<super::user::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::User.def()
    }
}

impl Related<super::property::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Property.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// All preferences of a person.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id))
    }
}
