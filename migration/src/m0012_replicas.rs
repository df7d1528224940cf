//! Creates the table by which replicas find out that their settings differ: `replica`.

use sea_orm_migration::prelude::*;

use crate::schema::{instant, order_text_by_bytes, table, text};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let replica = table("replica").col(text("settings")).col(instant("seen_at")).take();
        manager.create_table(replica).await?;
        order_text_by_bytes(manager).await
    }
}
