//! The author of each segment and topic cluster.

use sea_orm_migration::prelude::*;

use crate::schema::uuid_null;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("classification").add_column(uuid_null("created_by")).take()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("classification").drop_column("created_by").take()).await
    }
}
