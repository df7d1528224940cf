//! The properties that grants name.

use sea_orm::entity::prelude::*;

/// One row of `team_grant_property`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "team_grant_property")]
pub struct Model {
    /// Id of the grant.
    #[sea_orm(primary_key, auto_increment = false)]
    pub grant_id: Uuid,
    /// Id of the property.
    #[sea_orm(primary_key, auto_increment = false)]
    pub property_id: Uuid,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// Properties that the given grants name.
    #[must_use]
    pub fn of_grants(grants: impl IntoIterator<Item = Uuid>) -> Select<Self> {
        Self::find().filter(Column::GrantId.is_in(grants))
    }
}
