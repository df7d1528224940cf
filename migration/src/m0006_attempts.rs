//! Creates the table of attempts that are limited: `attempt`.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

use crate::schema::{index, order_text_by_bytes, string};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let attempt = Table::create()
            .table("attempt")
            .col(string("key").primary_key())
            .col(ColumnDef::new("full_at").big_integer().not_null())
            .take();
        manager.create_table(attempt).await?;
        index(manager, "attempt", &["full_at"]).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            // Its writes are not worth a log. A crash or a failover empties it, which gives everybody one fresh burst.
            manager.get_connection().execute_unprepared("ALTER TABLE attempt SET UNLOGGED").await?;
        }
        order_text_by_bytes(manager).await
    }
}
