//! Users, their search accounts, the properties found there, and the grants on them.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, blob_null, boolean, drop_all, index, join_table, string, string_null, table, text, text_null,
    timestamp_with_time_zone as instant, timestamp_with_time_zone_null as instant_null, unique, uuid,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        people(manager).await?;
        properties(manager).await?;
        grants(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tables =
            ["team_grant_property", "team_grant", "property_preference", "property", "search_account", "users"];
        drop_all(manager, &tables).await
    }
}

async fn people(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut users = table("users");
    users
        .col(string("issuer"))
        .col(string("subject"))
        .col(string_null("email"))
        .col(string_null("email_key"))
        .col(boolean("email_verified"))
        .col(string_null("name"))
        .col(string("plan"))
        .col(instant_null("trial_ends_at"))
        .col(instant("created_at"))
        .col(instant("updated_at"));
    manager.create_table(users).await?;
    unique(manager, "users", &["issuer", "subject"]).await?;
    index(manager, "users", &["email_key"]).await?;

    let mut accounts = table("search_account");
    accounts
        .col(uuid("user_id"))
        .col(string("subject"))
        .col(string_null("email"))
        .col(blob_null("refresh_token"))
        .col(string("status"))
        .col(text_null("last_error"))
        .col(instant("connected_at"))
        .col(instant_null("synced_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("search_account", "user_id", "users"));
    manager.create_table(accounts).await?;
    unique(manager, "search_account", &["user_id", "subject"]).await
}

async fn properties(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut property = table("property");
    property
        .col(uuid("account_id"))
        .col(uuid("user_id"))
        .col(text("site_url"))
        .col(string("permission_level"))
        .col(boolean("tracked"))
        .col(instant_null("lost_at"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("property", "account_id", "search_account"))
        .foreign_key(&mut belongs_to("property", "user_id", "users"));
    manager.create_table(property).await?;
    unique(manager, "property", &["account_id", "site_url"]).await?;
    index(manager, "property", &["user_id", "tracked"]).await?;

    let mut preference = join_table("property_preference", ("user_id", "users"), ("property_id", "property"));
    preference.col(boolean("favorite")).col(boolean("hidden"));
    manager.create_table(preference).await?;
    index(manager, "property_preference", &["property_id"]).await
}

async fn grants(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut grant = table("team_grant");
    grant
        .col(uuid("owner_id"))
        .col(string("email"))
        .col(string("email_key"))
        .col(string("role"))
        .col(boolean("all_properties"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("team_grant", "owner_id", "users"));
    manager.create_table(grant).await?;
    unique(manager, "team_grant", &["owner_id", "email_key"]).await?;
    index(manager, "team_grant", &["email_key"]).await?;

    let properties = join_table("team_grant_property", ("grant_id", "team_grant"), ("property_id", "property"));
    manager.create_table(properties).await?;
    index(manager, "team_grant_property", &["property_id"]).await
}
