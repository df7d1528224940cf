//! Makes text on `PostgreSQL` behave as on `SQLite`: of any length, and ordered by its bytes.
//!
//! The API limits lengths. A column with a folded name must take more than the name itself, because folding can turn
//! one character into many. Lists must have the same order whatever the locale of the server.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

const ALTER: &str = r#"
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name <> 'seaql_migrations'
            AND data_type IN ('character varying', 'text')
    LOOP
        EXECUTE format(
            'ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', found.table_name, found.column_name
        );
    END LOOP;
END $$
"#;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Postgres {
            manager.get_connection().execute_unprepared(ALTER).await?;
        }
        Ok(())
    }

    /// Text stored in the meantime may be longer than the old columns, so they stay as they are.
    async fn down(&self, _manager: &SchemaManager) -> Result<(), DbErr> {
        Ok(())
    }
}
