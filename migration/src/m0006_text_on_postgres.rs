//! Text on `PostgreSQL` as it is on `SQLite`: of any length, and ordered by its bytes.
//!
//! Lengths are held by the document. A column that holds a folded name must take more than the name has, because folding can make
//! one character many; and the same lists come in the same order, whatever locale a server was set up with.

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

    /// What was stored meanwhile may be longer than the columns were, so they stay as they are.
    async fn down(&self, _manager: &SchemaManager) -> Result<(), DbErr> {
        Ok(())
    }
}
