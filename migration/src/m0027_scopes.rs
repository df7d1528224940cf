//! How much a person allows an application, kept with the consent.
//!
//! Earlier consents were for everything, the REST API included, so they name every scope from now on.

use sea_orm_migration::prelude::*;

use crate::schema::{boolean, text};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for mut column in [text("allows").default("everything").take(), boolean("opens_api").default(true).take()] {
            manager.alter_table(Table::alter().table("consent").add_column(&mut column).take()).await?;
        }
        let named = "UPDATE consent SET scope = scope || ' search:read records:write account'";
        manager.get_connection().execute_unprepared(named).await.map(|_| ())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let named = "UPDATE consent SET scope = replace(replace(replace(scope, ' search:read', ''), ' records:write', ''), ' account', '')";
        manager.get_connection().execute_unprepared(named).await?;
        for column in ["opens_api", "allows"] {
            manager.alter_table(Table::alter().table("consent").drop_column(column).take()).await?;
        }
        Ok(())
    }
}
