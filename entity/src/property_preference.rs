//! Marks of a user on a property: favourite and hidden.

use sea_orm::entity::prelude::*;

/// One row of `property_preference`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "property_preference")]
pub struct Model {
    /// Id of the user.
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    /// Id of the property.
    #[sea_orm(primary_key, auto_increment = false)]
    pub property_id: Uuid,
    /// True if the property is listed first.
    pub favorite: bool,
    /// True if the property is listed as hidden.
    pub hidden: bool,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
