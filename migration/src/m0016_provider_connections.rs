//! Credentials of SEO providers, which people store for themselves.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, big_integer_null, blob, drop_all, string, table, text, timestamp_with_time_zone as instant, unique,
    uuid,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    /// Balances are millionths, because money is never kept as a floating-point number.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connections = table("provider_connection")
            .col(uuid("user_id"))
            .col(string("provider"))
            .col(text("account"))
            .col(blob("sealed"))
            .col(string("state"))
            .col(instant("state_at"))
            .col(instant("checked_at"))
            .col(big_integer_null("balance_millionths"))
            .col(instant("created_at"))
            .col(instant("updated_at"))
            .foreign_key(&mut belongs_to("provider_connection", "user_id", "users"))
            .take();
        manager.create_table(connections).await?;
        unique(manager, "provider_connection", &["user_id", "provider"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["provider_connection"]).await
    }
}
