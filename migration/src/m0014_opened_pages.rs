//! Creates the table of the kinds of pages that people opened lately: `opened_page`.

use sea_orm_migration::prelude::*;

use crate::schema::{belongs_to, date, index, order_text_by_bytes, text, uuid};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let opened = Table::create()
            .table("opened_page")
            .col(uuid("property_id"))
            .col(text("page"))
            .col(date("opened_on"))
            .primary_key(Index::create().name("pk_opened_page").col("property_id").col("page"))
            .foreign_key(&mut belongs_to("opened_page", "property_id", "property"))
            .take();
        manager.create_table(opened).await?;
        index(manager, "opened_page", &["opened_on"]).await?;
        order_text_by_bytes(manager).await
    }
}
