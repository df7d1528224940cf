//! The audit trail, departures of people, grants that wait to be revoked, and sessions that end with their user.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

use crate::schema::{
    belongs_to, blob, drop_all, index, refers_to, string, string_len, table, text_null,
    timestamp_with_time_zone as instant, unique, uuid, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [audit_event(), departure(), departure_key(), pending_revocation()] {
            manager.create_table(table).await?;
        }
        index(manager, "audit_event", &["owner_id", "at"]).await?;
        index(manager, "audit_event", &["actor_id"]).await?;
        index(manager, "audit_event", &["whom_key"]).await?;
        index(manager, "departure", &["left_at"]).await?;
        let db = manager.get_connection();
        db.execute_unprepared("DELETE FROM session WHERE user_id NOT IN (SELECT id FROM users)").await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            let key = belongs_to("session", "user_id", "users");
            return manager.create_foreign_key(key).await;
        }
        with_foreign_key(manager).await
    }

    /// Sessions keep their foreign key, which the older program does not notice.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["pending_revocation", "departure_key", "departure", "audit_event"]).await?;
        if manager.get_database_backend() == DbBackend::Postgres {
            let key = ForeignKey::drop().name("fk_session_user_id").table("session").to_owned();
            return manager.drop_foreign_key(key).await;
        }
        Ok(())
    }
}

fn audit_event() -> TableCreateStatement {
    table("audit_event")
        .col(uuid("owner_id"))
        .col(uuid_null("actor_id"))
        .col(string("action"))
        .col(text_null("what"))
        .col(uuid_null("property_id"))
        .col(text_null("whom"))
        .col(text_null("whom_key"))
        .col(text_null("role"))
        .col(instant("at"))
        .foreign_key(&mut belongs_to("audit_event", "owner_id", "users"))
        .foreign_key(&mut refers_to("audit_event", "actor_id", "users"))
        .take()
}

fn departure() -> TableCreateStatement {
    Table::create().table("departure").col(string_len("person", 64).primary_key()).col(instant("left_at")).take()
}

fn departure_key() -> TableCreateStatement {
    Table::create().table("departure_key").col(string_len("id", 16).primary_key()).col(blob("sealed")).take()
}

fn pending_revocation() -> TableCreateStatement {
    table("pending_revocation").col(blob("sealed")).col(instant("created_at")).take()
}

/// `SQLite` cannot add a foreign key to a table, so the table is made again.
async fn with_foreign_key(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let db = manager.get_connection();
    db.execute_unprepared("ALTER TABLE session RENAME TO session_before").await?;
    for name in ["idx_session_user_id", "ix_session_issuer_session_id", "uq_session_id"] {
        db.execute_unprepared(&format!("DROP INDEX IF EXISTS {name}")).await?;
    }
    let session = Table::create()
        .table("session")
        .col(string_len("hash", 64).primary_key())
        .col(uuid_null("id"))
        .col(uuid("user_id"))
        .col(uuid_null("issuer_session_id"))
        .col(instant("created_at"))
        .col(instant("expires_at"))
        .col(text_null("user_agent"))
        .foreign_key(&mut belongs_to("session", "user_id", "users"))
        .foreign_key(&mut belongs_to("session", "issuer_session_id", "issuer_session"))
        .take();
    manager.create_table(session).await?;
    let columns = "hash, id, user_id, issuer_session_id, created_at, expires_at, user_agent";
    db.execute_unprepared(&format!("INSERT INTO session ({columns}) SELECT {columns} FROM session_before")).await?;
    drop_all(manager, &["session_before"]).await?;
    let by_user = Index::create().name("idx_session_user_id").table("session").col("user_id").to_owned();
    manager.create_index(by_user).await?;
    index(manager, "session", &["issuer_session_id"]).await?;
    unique(manager, "session", &["id"]).await
}
