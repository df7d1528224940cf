//! Indices that hold all that a count of records or of stored answers reads, so that a write does not read the rows themselves.

use sea_orm_migration::prelude::*;

use crate::schema::index;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let notes = "CREATE INDEX ix_annotation_room ON annotation (property_id, octet_length(\"text\"))";
        manager.get_connection().execute_unprepared(notes).await?;
        index(manager, "replay", &["user_id", "expires_at", "size"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let drop = |name, table| Index::drop().name(name).table(table).to_owned();
        manager.drop_index(drop("ix_replay_user_id_expires_at_size", "replay")).await?;
        manager.drop_index(drop("ix_annotation_room", "annotation")).await
    }
}
