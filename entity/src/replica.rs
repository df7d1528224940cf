//! Replicas of the service on `PostgreSQL`: each keeps a row while it runs.

use sea_orm::entity::prelude::*;

/// A replica.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "replica")]
pub struct Model {
    /// Made anew at each start.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// JSON object: digests of settings, by the names of the settings.
    #[sea_orm(column_type = "Text")]
    pub settings: String,
    /// The last sign of life, by the clock of the server.
    pub seen_at: DateTimeUtc,
}

/// No declared relations.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
