//! Helpers of the migrations: tables whose rows belong to another row, and indices with derived names.

pub use sea_orm_migration::schema::*;
use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

/// Starts a table with a UUID primary key `id`.
pub fn table(name: &'static str) -> TableCreateStatement {
    Table::create().table(name).col(pk_uuid("id")).take()
}

/// Creates a table that joins two others. The pair of columns is its primary key. Deleting either side deletes the row.
pub fn join_table(
    name: &'static str,
    left: (&'static str, &'static str),
    right: (&'static str, &'static str),
) -> TableCreateStatement {
    Table::create()
        .table(name)
        .col(uuid(left.0))
        .col(uuid(right.0))
        .primary_key(Index::create().name(format!("pk_{name}")).col(left.0).col(right.0))
        .foreign_key(&mut belongs_to(name, left.0, left.1))
        .foreign_key(&mut belongs_to(name, right.0, right.1))
        .take()
}

/// Foreign key from `table.column` to `parent`; deleting the parent deletes the row.
pub fn belongs_to(
    table: &'static str,
    column: &'static str,
    parent: &'static str,
) -> sea_orm_migration::sea_query::ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("fk_{table}_{column}"))
        .from(table, column)
        .to(parent, "id")
        .on_delete(ForeignKeyAction::Cascade)
        .take()
}

/// Foreign key from `table.column` to `parent`; deleting the parent keeps the row and sets the column to null.
pub fn refers_to(
    table: &'static str,
    column: &'static str,
    parent: &'static str,
) -> sea_orm_migration::sea_query::ForeignKeyCreateStatement {
    belongs_to(table, column, parent).on_delete(ForeignKeyAction::SetNull).take()
}

/// Creates a unique index over `columns`, so that the rule also holds under concurrent writers.
pub async fn unique(manager: &SchemaManager<'_>, table: &'static str, columns: &[&'static str]) -> Result<(), DbErr> {
    manager.create_index(over("uq", table, columns).unique().take()).await
}

/// Creates an index over `columns`.
pub async fn index(manager: &SchemaManager<'_>, table: &'static str, columns: &[&'static str]) -> Result<(), DbErr> {
    manager.create_index(over("ix", table, columns)).await
}

fn over(prefix: &str, table: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(format!("{prefix}_{table}_{}", columns.join("_"))).table(table);
    for column in columns {
        index.col(*column);
    }
    index
}

/// Drops `tables`, in the order given.
pub async fn drop_all(manager: &SchemaManager<'_>, tables: &[&'static str]) -> Result<(), DbErr> {
    for table in tables {
        manager.drop_table(Table::drop().table(*table).take()).await?;
    }
    Ok(())
}

/// Makes every text column on `PostgreSQL` of any length and ordered by its bytes, as on `SQLite`.
pub async fn order_text_by_bytes(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    if manager.get_database_backend() == DbBackend::Postgres {
        manager.get_connection().execute_unprepared(ORDER_TEXT_BY_BYTES).await?;
    }
    Ok(())
}

const ORDER_TEXT_BY_BYTES: &str = r#"
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name <> 'seaql_migrations'
            AND data_type IN ('character varying', 'text') AND collation_name IS DISTINCT FROM 'C'
    LOOP
        EXECUTE format(
            'ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', found.table_name, found.column_name
        );
    END LOOP;
END $$
"#;
