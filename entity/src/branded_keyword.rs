//! Branded keywords: terms that make a query branded.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

/// One row of `branded_keyword`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "branded_keyword")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the property.
    pub property_id: Uuid,
    /// The keyword, as the user wrote it.
    pub keyword: String,
    /// The keyword folded for comparison ([`crate::key`]); unique per property.
    pub keyword_key: String,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A property's keywords, in order.
    #[must_use]
    pub fn of_property(property_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::PropertyId.eq(property_id)).order_by_asc(Column::KeywordKey)
    }
}
