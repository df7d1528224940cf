//! The time at which a client last used the tool endpoint.

use sea_orm_migration::prelude::*;

use crate::schema::timestamp_with_time_zone_null;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let used = timestamp_with_time_zone_null("tools_used_at");
        manager.alter_table(Table::alter().table("client_use").add_column(used).take()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("client_use").drop_column("tools_used_at").take()).await
    }
}
