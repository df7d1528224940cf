//! Annotations: dated notes, shown on the charts of a property.

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
    /// Id of the annotated property.
    pub property_id: Uuid,
    /// Id of the author; `None` once that user is deleted.
    pub author_id: Option<Uuid>,
    /// The day, or the first day of a range.
    pub date: Date,
    /// The last day of a range.
    pub end_date: Option<Date>,
    /// The note.
    #[sea_orm(column_type = "Text")]
    pub text: String,
    /// Category, chosen by the user.
    pub category: Option<String>,
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
    /// A property's annotations, ordered by day.
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
