//! Sign-in by another provider: who was let in by an operator, and who by an address.

use sea_orm_migration::prelude::*;

use crate::schema::boolean;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    /// Operators added every account so far.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = boolean("added_by_operator").default(true).take();
        manager.alter_table(Table::alter().table("account").add_column(column).take()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("account").drop_column("added_by_operator").take()).await
    }
}
