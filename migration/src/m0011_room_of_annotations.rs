//! Makes the index `ix_annotation_room` anew on `SQLite`, by functions that its versions before 3.43 have: those of an operator's system have to
//! check and copy the database.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A count of annotations reads this index alone.
const ROOM: &str = "CREATE INDEX ix_annotation_room ON annotation (property_id, length(CAST(\"text\" AS BLOB)))";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() != DbBackend::Sqlite {
            return Ok(());
        }
        let db = manager.get_connection();
        db.execute_unprepared("DROP INDEX ix_annotation_room").await?;
        db.execute_unprepared(ROOM).await.map(|_| ())
    }
}
