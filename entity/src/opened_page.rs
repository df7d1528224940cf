//! Kinds of pages that people opened of properties in the last days. A row names nobody and no query.

use sea_orm::entity::prelude::*;

/// A kind of page of a property.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "opened_page")]
pub struct Model {
    /// Id of the property.
    #[sea_orm(primary_key, auto_increment = false)]
    pub property_id: Uuid,
    /// The kind of page, such as `overview`.
    #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
    pub page: String,
    /// The day in UTC on which somebody opened it last.
    pub opened_on: Date,
}

/// No declared relations.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
