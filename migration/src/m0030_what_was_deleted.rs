//! Has an `SQLite` file rewritten by the next sweep: older versions left what was deleted readable in it.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        mark(manager, 1).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        mark(manager, 0).await
    }
}

/// `store/remains.rs` reads the mark.
async fn mark(manager: &SchemaManager<'_>, version: u8) -> Result<(), DbErr> {
    if manager.get_database_backend() != DbBackend::Sqlite {
        return Ok(());
    }
    manager.get_connection().execute_unprepared(&format!("PRAGMA user_version = {version}")).await.map(|_| ())
}
