//! Signing keys that replace each other, and clients that an operator added.
//!
//! The existing key keeps its row. Its id is its former purpose, because the name of a key is computed from the sealed key.

use sea_orm_migration::prelude::*;

use crate::schema::{boolean, timestamp_with_time_zone_null as instant_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// One key at a time is not retired, also if two processes create or replace one at the same time.
const ONE_ACTIVE_KEY: &str =
    "CREATE UNIQUE INDEX uq_signing_key_active ON signing_key ((retired_at IS NULL)) WHERE retired_at IS NULL";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("signing_key").rename_column("purpose", "id").take()).await?;
        manager.alter_table(Table::alter().table("signing_key").add_column(instant_null("retired_at")).take()).await?;
        manager.get_connection().execute_unprepared(ONE_ACTIVE_KEY).await?;
        let mut added = boolean("added_by_operator");
        manager.alter_table(Table::alter().table("oauth_client").add_column(added.default(false)).take()).await
    }

    /// The older program knows one key, by its purpose. The others are lost, and so are the tokens that they signed.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        manager.alter_table(Table::alter().table("oauth_client").drop_column("added_by_operator").take()).await?;
        db.execute_unprepared("DELETE FROM signing_key WHERE id <> 'tokens' OR retired_at IS NOT NULL").await?;
        manager.drop_index(Index::drop().name("uq_signing_key_active").table("signing_key").to_owned()).await?;
        manager.alter_table(Table::alter().table("signing_key").drop_column("retired_at").take()).await?;
        manager.alter_table(Table::alter().table("signing_key").rename_column("id", "purpose").take()).await
    }
}
