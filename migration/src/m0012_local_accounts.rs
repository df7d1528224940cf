//! Local accounts of the embedded issuer, its browser sessions, one-time links, and remembered consents.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

use crate::schema::{
    belongs_to, drop_all, index, string, string_len, string_null, table, text, text_null,
    timestamp_with_time_zone as instant, timestamp_with_time_zone_null as instant_null, unique, uuid, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A service session ends with the issuer's session, and none can begin after that one has ended.
const REFERS: &str = "REFERENCES issuer_session (id) ON DELETE CASCADE";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [account(), account_link(), issuer_session(), consent()] {
            manager.create_table(table).await?;
        }
        unique(manager, "account", &["email_key"]).await?;
        unique(manager, "account", &["upstream_issuer", "upstream_subject"]).await?;
        index(manager, "account_link", &["account_id"]).await?;
        unique(manager, "issuer_session", &["hash"]).await?;
        index(manager, "issuer_session", &["subject"]).await?;
        for column in [uuid_null("issuer_session_id"), instant_null("auth_time")] {
            manager.alter_table(Table::alter().table("oauth_grant").add_column(column).take()).await?;
        }
        // The library cannot add a column with a foreign key to a table of SQLite.
        let kind = if manager.get_database_backend() == DbBackend::Postgres { "uuid" } else { "uuid_text" };
        let column = format!("ALTER TABLE session ADD COLUMN issuer_session_id {kind} {REFERS}");
        manager.get_connection().execute_unprepared(&column).await?;
        index(manager, "session", &["issuer_session_id"]).await
    }

    /// `SQLite` cannot drop a column with a foreign key, so `session` starts empty: everyone signs in again.
    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["session", "consent", "issuer_session", "account_link", "account"]).await?;
        for column in ["issuer_session_id", "auth_time"] {
            manager.alter_table(Table::alter().table("oauth_grant").drop_column(column).take()).await?;
        }
        let session = Table::create()
            .table("session")
            .col(string_len("hash", 64).primary_key())
            .col(uuid("user_id"))
            .col(instant("created_at"))
            .col(instant("expires_at"))
            .take();
        manager.create_table(session).await?;
        manager
            .create_index(Index::create().name("idx_session_user_id").table("session").col("user_id").to_owned())
            .await
    }
}

fn account() -> TableCreateStatement {
    table("account")
        .col(string("email"))
        .col(string("email_key"))
        .col(string_null("name"))
        .col(text_null("password_hash"))
        .col(instant_null("email_verified_at"))
        .col(instant("password_changed_at"))
        .col(instant_null("last_sign_in_at"))
        .col(text_null("upstream_issuer"))
        .col(text_null("upstream_subject"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .take()
}

fn account_link() -> TableCreateStatement {
    Table::create()
        .table("account_link")
        .col(string_len("hash", 64).primary_key())
        .col(uuid("account_id"))
        .col(string("purpose"))
        .col(instant("expires_at"))
        .col(instant_null("used_at"))
        .foreign_key(&mut belongs_to("account_link", "account_id", "account"))
        .take()
}

fn issuer_session() -> TableCreateStatement {
    table("issuer_session")
        .col(string_len("hash", 64))
        .col(string("subject"))
        .col(instant("auth_time"))
        .col(instant("created_at"))
        .col(instant("expires_at"))
        .take()
}

fn consent() -> TableCreateStatement {
    Table::create()
        .table("consent")
        .col(text("subject"))
        .col(text("client_id"))
        .col(text("scope"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .primary_key(Index::create().name("pk_consent").col("subject").col("client_id"))
        .take()
}
