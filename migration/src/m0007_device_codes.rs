//! Creates the table of codes of machines without a browser: `device_code`. Clients register the use of it: `oauth_client.uses_device_codes`.

use sea_orm_migration::prelude::*;

use crate::schema::{
    index, instant, instant_null, integer, order_text_by_bytes, string, string_len, text, text_null, unique, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let code = Table::create()
            .table("device_code")
            .col(string_len("hash", 64).primary_key())
            .col(string_len("user_code", 43))
            .col(text("client_id"))
            .col(string("scope"))
            .col(text("resources"))
            .col(text_null("asked_from"))
            .col(instant("created_at"))
            .col(instant("expires_at"))
            .col(integer("interval_seconds"))
            .col(instant("next_poll_at"))
            .col(uuid_null("grant_id"))
            .col(instant_null("denied_at"))
            .take();
        manager.create_table(code).await?;
        unique(manager, "device_code", &["user_code"]).await?;
        index(manager, "device_code", &["expires_at"]).await?;
        index(manager, "device_code", &["grant_id"]).await?;
        // The version before this one adds clients without the column.
        let uses = ColumnDef::new("uses_device_codes").boolean().not_null().default(false).take();
        manager.alter_table(Table::alter().table("oauth_client").add_column(uses).take()).await?;
        order_text_by_bytes(manager).await
    }
}
