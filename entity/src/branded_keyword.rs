//! Terms that make a query a branded one.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

/// One row of `branded_keyword`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "branded_keyword")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Whose brand.
    pub property_id: Uuid,
    /// The term as written.
    pub keyword: String,
    /// The term folded for comparison ([`crate::key`]); unique on the property.
    pub keyword_key: String,
    /// When the row was made.
    pub created_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A property's terms, in order.
    #[must_use]
    pub fn of_property(property_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::PropertyId.eq(property_id)).order_by_asc(Column::KeywordKey)
    }
}
