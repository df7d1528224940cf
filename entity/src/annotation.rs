//! Annotations: what happened on a day, told on the charts of a property.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// One row of `annotation`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "annotation")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Where it stands.
    pub property_id: Uuid,
    /// Who wrote it; none once that person is gone.
    pub author_id: Option<Uuid>,
    /// Its day, or the first of several.
    pub date: Date,
    /// The last day, if it covers several.
    pub end_date: Option<Date>,
    /// What happened.
    #[sea_orm(column_type = "Text")]
    pub text: String,
    /// A free word to group by.
    pub category: Option<String>,
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
    /// A property's annotations, by day.
    #[must_use]
    pub fn of_property(property_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::PropertyId.eq(property_id)).order_by_asc(Column::Date).order_by_asc(Column::Id)
    }

    /// One annotation of a property.
    #[must_use]
    pub fn one_of_property(property_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::PropertyId.eq(property_id))
    }
}
