//! Adds indices over references to people, which a deletion follows, and over what sweeps and the export of the audit trail look for.

use sea_orm_migration::prelude::*;

use crate::schema::index;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        index(manager, "annotation", &["author_id"]).await?;
        index(manager, "share_link", &["created_by"]).await?;
        index(manager, "classification", &["created_by"]).await?;
        index(manager, "audit_event", &["at"]).await?;
        index(manager, "audit_event", &["actor_id", "at"]).await?;
        index(manager, "audit_event", &["whom_key", "at"]).await
    }
}
