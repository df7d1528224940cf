//! Orders the text columns that were added after the first such migration by their bytes, too.

use sea_orm_migration::prelude::*;

use crate::schema::order_text_by_bytes;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        order_text_by_bytes(manager).await
    }

    /// The older columns work with either order.
    async fn down(&self, _manager: &SchemaManager) -> Result<(), DbErr> {
        Ok(())
    }
}
