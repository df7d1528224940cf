//! How much a person allows an application, kept with the consent.
//!
//! Earlier consents were for everything, so they name every scope from now on.

use sea_orm_migration::prelude::*;

use crate::schema::text;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut allows = text("allows");
        let added = Table::alter().table("consent").add_column(allows.default("everything")).take();
        manager.alter_table(added).await?;
        let named = "UPDATE consent SET scope = scope || ' search:read records:write account'";
        manager.get_connection().execute_unprepared(named).await.map(|_| ())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let named = "UPDATE consent SET scope = replace(replace(replace(scope, ' search:read', ''), ' records:write', ''), ' account', '')";
        manager.get_connection().execute_unprepared(named).await?;
        manager.alter_table(Table::alter().table("consent").drop_column("allows").take()).await
    }
}
