//! Makes text on `PostgreSQL` behave as on `SQLite`: of any length, and ordered by its bytes.
//!
//! The API limits lengths. A column with a folded name must take more than the name itself, because folding can turn
//! one character into many. Lists must have the same order whatever the locale of the server.

use sea_orm_migration::prelude::*;

use crate::schema::order_text_by_bytes;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        order_text_by_bytes(manager).await
    }

    /// Text stored in the meantime may be longer than the old columns, so they stay as they are.
    async fn down(&self, _manager: &SchemaManager) -> Result<(), DbErr> {
        Ok(())
    }
}
