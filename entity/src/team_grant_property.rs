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

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// What the given grants name.
    #[must_use]
    pub fn of_grants(grants: impl IntoIterator<Item = Uuid>) -> Select<Self> {
        Self::find().filter(Column::GrantId.is_in(grants))
    }
}
