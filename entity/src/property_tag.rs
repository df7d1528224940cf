//! Assignments of tags to properties.

use sea_orm::entity::prelude::*;

/// One row of `property_tag`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "property_tag")]
pub struct Model {
    /// Id of the tag.
    #[sea_orm(primary_key, auto_increment = false)]
    pub tag_id: Uuid,
    /// Id of the property.
    #[sea_orm(primary_key, auto_increment = false)]
    pub property_id: Uuid,
}

/// Tables that this table refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The tag.
    #[sea_orm(belongs_to = "super::tag::Entity", from = "Column::TagId", to = "super::tag::Column::Id")]
    Tag,
    /// The property.
    #[sea_orm(belongs_to = "super::property::Entity", from = "Column::PropertyId", to = "super::property::Column::Id")]
    Property,
}

impl Related<super::tag::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Tag.def()
    }
}

impl Related<super::property::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Property.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// All assignments of a user's tags.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().inner_join(super::tag::Entity).filter(super::tag::Column::UserId.eq(user_id))
    }
}
