//! Adds the secret of a client that an operator made: `oauth_client.secret_hash`.

use sea_orm_migration::prelude::*;

use crate::schema::{order_text_by_bytes, text_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let secret = Table::alter().table("oauth_client").add_column(text_null("secret_hash")).take();
        manager.alter_table(secret).await?;
        order_text_by_bytes(manager).await
    }
}
