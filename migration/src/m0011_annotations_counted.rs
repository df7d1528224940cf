//! An index that holds all that a count of annotations reads, so that a write does not read the annotations themselves.

use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let index = "CREATE INDEX ix_annotation_room ON annotation (property_id, octet_length(\"text\"))";
        manager.get_connection().execute_unprepared(index).await.map(|_| ())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name("ix_annotation_room").table("annotation").to_owned()).await
    }
}
