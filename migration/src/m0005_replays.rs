//! Responses to writes with an idempotency key, stored for replay.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, blob, drop_all, index, integer, string, string_null, table, timestamp_with_time_zone as instant,
    unique, uuid,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut replay = table("replay");
        replay
            .col(uuid("user_id"))
            .col(string("method"))
            .col(string("path"))
            .col(string("idempotency_key"))
            .col(blob("request_hash"))
            .col(integer("status"))
            .col(string_null("content_type"))
            .col(string_null("location"))
            .col(string_null("etag"))
            .col(blob("body"))
            .col(instant("created_at"))
            .col(instant("expires_at"))
            .foreign_key(&mut belongs_to("replay", "user_id", "users"));
        manager.create_table(replay).await?;
        unique(manager, "replay", &["user_id", "method", "path", "idempotency_key"]).await?;
        index(manager, "replay", &["expires_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["replay"]).await
    }
}
