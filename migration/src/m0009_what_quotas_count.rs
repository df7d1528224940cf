//! Inputs of quotas and budgets: the time since which a property is tracked, and the size of a stored response.

use sea_orm_migration::prelude::*;

use crate::schema::{index, integer, timestamp_with_time_zone_null as instant_null};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        manager.alter_table(Table::alter().table("property").add_column(instant_null("tracked_at")).take()).await?;
        db.execute_unprepared("UPDATE property SET tracked_at = created_at WHERE tracked").await?;
        index(manager, "property", &["user_id", "tracked_at", "id"]).await?;

        let mut size = integer("size");
        manager.alter_table(Table::alter().table("replay").add_column(size.default(0)).take()).await?;
        db.execute_unprepared("UPDATE replay SET size = length(body)").await?;
        index(manager, "replay", &["user_id", "expires_at", "size"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for (table, column, index) in [
            ("replay", "size", "ix_replay_user_id_expires_at_size"),
            ("property", "tracked_at", "ix_property_user_id_tracked_at_id"),
        ] {
            manager.drop_index(Index::drop().name(index).table(table).to_owned()).await?;
            manager.alter_table(Table::alter().table(table).drop_column(column).take()).await?;
        }
        Ok(())
    }
}
