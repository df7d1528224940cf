//! Segments: saved classifications of pages.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// One row of `segment`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "segment")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Where it belongs.
    pub property_id: Uuid,
    /// Name as written.
    pub name: String,
    /// Name folded for comparison ([`crate::key`]); unique on the property.
    pub name_key: String,
    /// Colour in charts.
    pub color: Option<String>,
    /// The conditions, a JSON array of `{operator, value, logic?}`.
    #[sea_orm(column_type = "Text")]
    pub conditions: String,
    /// When the row was made.
    pub created_at: DateTimeUtc,
    /// When the row last changed.
    pub updated_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A property's segments, by name.
    #[must_use]
    pub fn of_property(property_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::PropertyId.eq(property_id)).order_by_asc(Column::NameKey)
    }

    /// One segment of a property.
    #[must_use]
    pub fn one_of_property(property_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::PropertyId.eq(property_id))
    }
}
