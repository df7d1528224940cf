//! The properties that a grant names.

use sea_orm::entity::prelude::*;

/// One row of `team_grant_property`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "team_grant_property")]
pub struct Model {
    /// The grant.
    #[sea_orm(primary_key, auto_increment = false)]
    pub grant_id: Uuid,
    /// The property.
    #[sea_orm(primary_key, auto_increment = false)]
    pub property_id: Uuid,
}

/// The tables this one refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The grant.
    #[sea_orm(belongs_to = "super::team_grant::Entity", from = "Column::GrantId", to = "super::team_grant::Column::Id")]
    Grant,
    /// The property.
    #[sea_orm(belongs_to = "super::property::Entity", from = "Column::PropertyId", to = "super::property::Column::Id")]
    Property,
}

impl Related<super::team_grant::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Grant.def()
    }
}

impl Related<super::property::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Property.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// What the given grants name.
    #[must_use]
    pub fn of_grants(grants: impl IntoIterator<Item = Uuid>) -> Select<Self> {
        Self::find().filter(Column::GrantId.is_in(grants))
    }
}
