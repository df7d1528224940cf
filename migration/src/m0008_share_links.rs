//! Adds what the classification of a share link stood for when the link was made: `share_link.pinned`.

use sea_orm_migration::prelude::*;

use crate::schema::{order_text_by_bytes, text_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let pinned = Table::alter().table("share_link").add_column(text_null("pinned")).take();
        manager.alter_table(pinned).await?;
        order_text_by_bytes(manager).await
    }
}
