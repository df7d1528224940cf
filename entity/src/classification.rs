//! Saved classifications: segments of pages and topic clusters of queries.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// One row of `classification`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "classification")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the property it belongs to.
    pub property_id: Uuid,
    /// Id of the user who made it; `None` once that user is deleted, and for rows older than this column.
    pub created_by: Option<Uuid>,
    /// Its kind.
    pub kind: Kind,
    /// Name, as the user wrote it.
    pub name: String,
    /// Name folded for comparison ([`crate::key`]); unique per property and kind.
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

/// The kinds of classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum, Serialize)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A segment: its conditions are on pages.
    Segment,
    /// A topic cluster: its conditions are on queries.
    TopicCluster,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A property's classifications of one kind, ordered by name.
    #[must_use]
    pub fn of_property(property_id: Uuid, kind: Kind) -> Select<Self> {
        Self::find()
            .filter(Column::PropertyId.eq(property_id))
            .filter(Column::Kind.eq(kind))
            .order_by_asc(Column::NameKey)
    }

    /// One classification of a property.
    #[must_use]
    pub fn one_of_property(property_id: Uuid, kind: Kind, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::PropertyId.eq(property_id)).filter(Column::Kind.eq(kind))
    }
}
