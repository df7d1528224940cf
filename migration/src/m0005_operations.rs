//! Creates the tables of what the service keeps to operate: `audit_event`, `replay`, `pending_revocation`.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, blob, index, instant, integer, order_text_by_bytes, refers_to, string, string_null, table, text_null,
    unique, uuid, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        audit_event(manager).await?;
        replay(manager).await?;
        pending_revocation(manager).await?;
        order_text_by_bytes(manager).await
    }
}

/// The audit trail.
async fn audit_event(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let event = table("audit_event")
        .col(uuid("owner_id"))
        .col(uuid_null("actor_id"))
        .col(string("action"))
        .col(text_null("what"))
        .col(uuid_null("property_id"))
        .col(text_null("whom"))
        .col(text_null("whom_key"))
        .col(text_null("role"))
        .col(instant("at"))
        .foreign_key(&mut belongs_to("audit_event", "owner_id", "users"))
        .foreign_key(&mut refers_to("audit_event", "actor_id", "users"))
        .take();
    manager.create_table(event).await?;
    index(manager, "audit_event", &["owner_id", "at"]).await?;
    index(manager, "audit_event", &["actor_id"]).await?;
    index(manager, "audit_event", &["whom_key"]).await
}

/// Responses to writes with an idempotency key. Each has the shape of one version of the API.
async fn replay(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let replay = table("replay")
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
        .col(integer("size"))
        .col(string("api_version"))
        .col(instant("created_at"))
        .col(instant("expires_at"))
        .foreign_key(&mut belongs_to("replay", "user_id", "users"))
        .take();
    manager.create_table(replay).await?;
    unique(manager, "replay", &["user_id", "method", "path", "idempotency_key"]).await?;
    index(manager, "replay", &["expires_at"]).await?;
    index(manager, "replay", &["user_id", "expires_at", "size"]).await
}

/// Grants at the search engine that wait to be revoked.
async fn pending_revocation(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let pending = table("pending_revocation").col(blob("sealed")).col(instant("created_at")).take();
    manager.create_table(pending).await
}
