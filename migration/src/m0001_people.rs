//! Creates the tables of people: `users`, `search_account`, `provider_connection`, `departure`, `departure_key`, `former_trial`.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, big_integer_null, blob, blob_null, boolean, index, instant, instant_null, order_text_by_bytes, string,
    string_len, string_null, table, text, text_null, unique, uuid,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        users(manager).await?;
        search_account(manager).await?;
        provider_connection(manager).await?;
        departures(manager).await?;
        order_text_by_bytes(manager).await
    }
}

/// People, their plans, and when a token last stated their address and their name.
async fn users(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let users = table("users")
        .col(string("issuer"))
        .col(string("subject"))
        .col(string_null("email"))
        .col(string_null("email_key"))
        .col(boolean("email_verified"))
        .col(instant_null("email_stated_at"))
        .col(string_null("name"))
        .col(instant_null("name_stated_at"))
        .col(string("plan"))
        .col(string("plan_state"))
        .col(instant_null("period_starts_at"))
        .col(instant_null("period_ends_at"))
        .col(instant_null("trial_ends_at"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .take();
    manager.create_table(users).await?;
    unique(manager, "users", &["issuer", "subject"]).await?;
    index(manager, "users", &["email_key"]).await
}

/// Accounts at the search engine.
async fn search_account(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let account = table("search_account")
        .col(uuid("user_id"))
        .col(string("subject"))
        .col(string_null("email"))
        .col(blob_null("refresh_token"))
        .col(string("status"))
        .col(instant_null("status_at"))
        .col(text_null("last_error"))
        .col(instant("connected_at"))
        .col(instant_null("synced_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("search_account", "user_id", "users"))
        .take();
    manager.create_table(account).await?;
    unique(manager, "search_account", &["user_id", "subject"]).await
}

/// Credentials of SEO providers. Balances are millionths, because money is never kept as a floating-point number.
async fn provider_connection(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let connection = table("provider_connection")
        .col(uuid("user_id"))
        .col(string("provider"))
        .col(text("account"))
        .col(blob("sealed"))
        .col(string("state"))
        .col(instant("state_at"))
        .col(instant("checked_at"))
        .col(big_integer_null("balance_millionths"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("provider_connection", "user_id", "users"))
        .take();
    manager.create_table(connection).await?;
    unique(manager, "provider_connection", &["user_id", "provider"]).await
}

/// Keyed hashes of people who have left, and the key. Nobody gets another trial by leaving.
async fn departures(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    for name in ["departure", "former_trial"] {
        let left =
            Table::create().table(name).col(string_len("person", 64).primary_key()).col(instant("left_at")).take();
        manager.create_table(left).await?;
        index(manager, name, &["left_at"]).await?;
    }
    let key = Table::create().table("departure_key").col(string_len("id", 16).primary_key()).col(blob("sealed")).take();
    manager.create_table(key).await
}
