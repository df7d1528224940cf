//! What all refresh tokens of a grant have in common, so that spent ones are known without a row of their own.

use sea_orm_migration::prelude::*;

use crate::schema::{order_text_by_bytes, string_len_null, unique};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let grants = Table::alter().table("oauth_grant").add_column(string_len_null("refresh_family", 64)).take();
        manager.alter_table(grants).await?;
        unique(manager, "oauth_grant", &["refresh_family"]).await?;
        // Also those of the migrations since the last time.
        order_text_by_bytes(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let index = Index::drop().name("uq_oauth_grant_refresh_family").table("oauth_grant").to_owned();
        manager.drop_index(index).await?;
        manager.alter_table(Table::alter().table("oauth_grant").drop_column("refresh_family").take()).await
    }
}
