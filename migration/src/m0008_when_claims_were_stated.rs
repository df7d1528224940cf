//! Users store the time when a token last stated their address and their name. The later of two tokens counts, and
//! grants to an address end some time after its last statement. For existing users nothing is known until their next
//! token.

use sea_orm_migration::prelude::*;

use super::schema;

#[derive(DeriveMigrationName)]
pub struct Migration;

const COLUMNS: [&str; 2] = ["email_stated_at", "name_stated_at"];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in COLUMNS {
            let stated_at = schema::timestamp_with_time_zone_null(column);
            manager.alter_table(Table::alter().table("users").add_column(stated_at).take()).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in COLUMNS {
            manager.alter_table(Table::alter().table("users").drop_column(column).take()).await?;
        }
        Ok(())
    }
}
