//! Segments and topic clusters in one table, told apart by their kind.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, drop_all, string, string_null, table, text, timestamp_with_time_zone as instant, unique, uuid,
};

/// The kinds, each of which had a table of its name.
const KINDS: [&str; 2] = ["segment", "topic_cluster"];

/// The columns that both tables had.
const COLUMNS: &str = "id, property_id, name, name_key, color, conditions, created_at, updated_at";

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut merged = classification("classification");
        manager.create_table(merged.col(string("kind")).take()).await?;
        unique(manager, "classification", &["property_id", "kind", "name_key"]).await?;
        for kind in KINDS {
            let copy = format!("INSERT INTO classification ({COLUMNS}, kind) SELECT {COLUMNS}, '{kind}' FROM {kind}");
            manager.get_connection().execute_unprepared(&copy).await?;
        }
        drop_all(manager, &KINDS).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for kind in KINDS {
            manager.create_table(classification(kind)).await?;
            unique(manager, kind, &["property_id", "name_key"]).await?;
            let copy =
                format!("INSERT INTO {kind} ({COLUMNS}) SELECT {COLUMNS} FROM classification WHERE kind = '{kind}'");
            manager.get_connection().execute_unprepared(&copy).await?;
        }
        drop_all(manager, &["classification"]).await
    }
}

fn classification(name: &'static str) -> TableCreateStatement {
    table(name)
        .col(uuid("property_id"))
        .col(string("name"))
        .col(string("name_key"))
        .col(string_null("color"))
        .col(text("conditions"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to(name, "property_id", "property"))
        .take()
}
