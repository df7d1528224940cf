//! Helpers of the migrations: columns, tables whose rows belong to another row, and indices with derived names.

pub use sea_orm_migration::schema::{
    big_integer_null, blob, blob_null, boolean, date, date_null, integer, string, string_len, string_len_null,
    string_null, text, text_null, timestamp_with_time_zone as instant, timestamp_with_time_zone_null as instant_null,
    uuid, uuid_null,
};
use sea_orm_migration::{prelude::*, schema::pk_uuid, sea_orm::DbBackend, sea_query::ForeignKeyCreateStatement};

/// Starts a table with a UUID primary key `id`.
pub fn table(name: &'static str) -> TableCreateStatement {
    Table::create().table(name).col(pk_uuid("id")).take()
}

/// Starts a table that joins two others, each given by a column and its table. The pair of columns is the primary key. Deleting either
/// side deletes the row.
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

/// Foreign key from `table.column` to `parent`. Deleting the parent deletes the row.
pub fn belongs_to(table: &'static str, column: &'static str, parent: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("fk_{table}_{column}"))
        .from(table, column)
        .to(parent, "id")
        .on_delete(ForeignKeyAction::Cascade)
        .take()
}

/// Foreign key from `table.column` to `parent`. Deleting the parent keeps the row and sets the column to null.
pub fn refers_to(table: &'static str, column: &'static str, parent: &'static str) -> ForeignKeyCreateStatement {
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

/// The tables of the service. The schema may hold tables of other applications and of extensions, which no migration touches.
pub const TABLES: &[&str] = &[
    "account",
    "account_link",
    "annotation",
    "attempt",
    "audit_event",
    "authorization_code",
    "branded_keyword",
    "classification",
    "client_refusal",
    "client_use",
    "consent",
    "departure",
    "departure_key",
    "device_code",
    "filter_preset",
    "former_trial",
    "issuer_session",
    "oauth_client",
    "oauth_grant",
    "opened_page",
    "pending_revocation",
    "property",
    "property_account",
    "property_preference",
    "property_tag",
    "provider_connection",
    "refresh_token",
    "replay",
    "replica",
    "revocation",
    "search_account",
    "session",
    "share_link",
    "signing_key",
    "tag",
    "team_grant",
    "team_grant_property",
    "token_exchange",
    "users",
];

/// Makes text in [`TABLES`] on `PostgreSQL` behave as on `SQLite`: of any length, and ordered by its bytes. Each migration that adds text
/// ends with it.
///
/// The API limits lengths. A folded name may be longer than the name, because folding can turn one character into many. Lists must have
/// the same order whatever the locale of the server.
pub async fn order_text_by_bytes(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    if manager.get_database_backend() == DbBackend::Postgres {
        let tables: Vec<String> = TABLES.iter().map(|table| format!("'{table}'")).collect();
        let statement = ORDER_TEXT_BY_BYTES.replace("$tables", &tables.join(", "));
        manager.get_connection().execute_unprepared(&statement).await?;
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
        WHERE table_schema = current_schema() AND table_name IN ($tables)
            AND data_type IN ('character varying', 'text') AND collation_name IS DISTINCT FROM 'C'
    LOOP
        EXECUTE format(
            'ALTER TABLE %I ALTER COLUMN %I TYPE text COLLATE "C"', found.table_name, found.column_name
        );
    END LOOP;
END $$
"#;
