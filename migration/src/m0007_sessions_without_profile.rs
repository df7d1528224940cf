//! Sessions refer to the user and store nothing else about them; the profile is stored with the user only.

use sea_orm_migration::prelude::*;

use super::schema;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in ["email", "name"] {
            manager.alter_table(Table::alter().table("session").drop_column(column).take()).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in ["email", "name"] {
            manager.alter_table(Table::alter().table("session").add_column(schema::string_null(column)).take()).await?;
        }
        Ok(())
    }
}
