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
    /// Id of the property it belongs to.
    pub property_id: Uuid,
    /// Name, as the user wrote it.
    pub name: String,
    /// Name folded for comparison ([`crate::key`]); unique per property.
    pub name_key: String,
    /// Colour in charts.
    pub color: Option<String>,
    /// The conditions, a JSON array of `{operator, value, logic?}`.
    #[sea_orm(column_type = "Text")]
    pub conditions: String,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A property's segments, ordered by name.
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
