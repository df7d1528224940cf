//! The version of the API in whose shape a response is stored.

use sea_orm_migration::prelude::*;

use crate::schema::{order_text_by_bytes, string};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The only version until this migration.
const FIRST: &str = "2026-09-14";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let version = string("api_version").default(FIRST).take();
        manager.alter_table(Table::alter().table("replay").add_column(version).take()).await?;
        order_text_by_bytes(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("replay").drop_column("api_version").take()).await
    }
}
