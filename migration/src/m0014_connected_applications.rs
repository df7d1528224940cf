//! The clients that act for users, those that users refuse, and what the account page shows of a session.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

use crate::schema::{
    belongs_to, drop_all, text, text_null, timestamp_with_time_zone as instant, unique, uuid, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut uses = of_user_and_client("client_use");
        uses.col(text("scopes")).col(instant("first_used_at")).col(instant("last_used_at"));
        let mut refusals = of_user_and_client("client_refusal");
        refusals.col(instant("refused_at"));
        for table in [uses, refusals] {
            manager.create_table(table).await?;
        }
        for column in [uuid_null("id"), text_null("user_agent")] {
            manager.alter_table(Table::alter().table("session").add_column(column).take()).await?;
        }
        let new_id = match manager.get_database_backend() {
            DbBackend::Postgres => "gen_random_uuid()",
            _ => "randomblob(16)",
        };
        manager.get_connection().execute_unprepared(&format!("UPDATE session SET id = {new_id}")).await?;
        unique(manager, "session", &["id"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name("uq_session_id").table("session").to_owned()).await?;
        for column in ["id", "user_agent"] {
            manager.alter_table(Table::alter().table("session").drop_column(column).take()).await?;
        }
        drop_all(manager, &["client_refusal", "client_use"]).await
    }
}

/// Starts a table of pairs of a user and a client.
fn of_user_and_client(name: &'static str) -> TableCreateStatement {
    Table::create()
        .table(name)
        .col(uuid("user_id"))
        .col(text("client_id"))
        .primary_key(Index::create().name(format!("pk_{name}")).col("user_id").col("client_id"))
        .foreign_key(&mut belongs_to(name, "user_id", "users"))
        .take()
}
