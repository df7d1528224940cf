//! Creates the tables of properties and access to them: `property`, `property_account`, `property_preference`, `team_grant`,
//! `team_grant_property`.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, boolean, index, instant, instant_null, join_table, order_text_by_bytes, string, table, text, unique,
    uuid,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        property(manager).await?;
        property_account(manager).await?;
        property_preference(manager).await?;
        team_grant(manager).await?;
        order_text_by_bytes(manager).await
    }
}

/// A person has a site once. `account_id` is the search account that reads it.
async fn property(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let property = table("property")
        .col(uuid("account_id"))
        .col(uuid("user_id"))
        .col(text("site_url"))
        .col(string("permission_level"))
        .col(boolean("tracked"))
        .col(instant_null("tracked_at"))
        .col(instant_null("lost_at"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("property", "account_id", "search_account"))
        .foreign_key(&mut belongs_to("property", "user_id", "users"))
        .take();
    manager.create_table(property).await?;
    unique(manager, "property", &["user_id", "site_url"]).await?;
    index(manager, "property", &["account_id"]).await?;
    index(manager, "property", &["user_id", "tracked"]).await?;
    index(manager, "property", &["user_id", "tracked_at", "id"]).await
}

/// The search accounts that list a property's site.
async fn property_account(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let listing = join_table("property_account", ("property_id", "property"), ("account_id", "search_account"))
        .col(string("permission_level"))
        .col(instant_null("lost_at"))
        .take();
    manager.create_table(listing).await?;
    index(manager, "property_account", &["account_id"]).await
}

/// The marks of a person on a property.
async fn property_preference(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let preference = join_table("property_preference", ("user_id", "users"), ("property_id", "property"))
        .col(boolean("favorite"))
        .col(boolean("hidden"))
        .take();
    manager.create_table(preference).await?;
    index(manager, "property_preference", &["property_id"]).await
}

/// The roles that an owner gives to the holder of an address, and the properties that they count for.
async fn team_grant(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let grant = table("team_grant")
        .col(uuid("owner_id"))
        .col(string("email"))
        .col(string("email_key"))
        .col(string("role"))
        .col(boolean("all_properties"))
        .col(instant_null("accepted_at"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("team_grant", "owner_id", "users"))
        .take();
    manager.create_table(grant).await?;
    unique(manager, "team_grant", &["owner_id", "email_key"]).await?;
    index(manager, "team_grant", &["email_key"]).await?;

    let property = join_table("team_grant_property", ("grant_id", "team_grant"), ("property_id", "property"));
    manager.create_table(property).await?;
    index(manager, "team_grant_property", &["property_id"]).await
}
