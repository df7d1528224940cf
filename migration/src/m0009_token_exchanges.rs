//! Creates the table of exchanges that may be repeated: `token_exchange`.

use sea_orm_migration::prelude::*;

use crate::schema::{index, instant, order_text_by_bytes, string_len, uuid};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let exchange = Table::create()
            .table("token_exchange")
            .col(string_len("hash", 64).primary_key())
            .col(uuid("grant_id"))
            .col(string_len("salt", 43))
            .col(instant("exchanged_at"))
            .take();
        manager.create_table(exchange).await?;
        index(manager, "token_exchange", &["grant_id"]).await?;
        index(manager, "token_exchange", &["exchanged_at"]).await?;
        order_text_by_bytes(manager).await
    }
}
