//! Annotations, tags, share links and saved filters.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, blob, date, date_null, drop_all, index, integer, join_table, refers_to, string, string_null, table,
    text, timestamp_with_time_zone as instant, timestamp_with_time_zone_null as instant_null, unique, uuid, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        annotations(manager).await?;
        tags(manager).await?;
        share_links(manager).await?;
        filter_presets(manager).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["filter_preset", "share_link", "property_tag", "tag", "annotation"]).await
    }
}

async fn annotations(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut annotation = table("annotation");
    annotation
        .col(uuid("property_id"))
        .col(uuid_null("author_id"))
        .col(date("date"))
        .col(date_null("end_date"))
        .col(text("text"))
        .col(string_null("category"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("annotation", "property_id", "property"))
        .foreign_key(&mut refers_to("annotation", "author_id", "users"));
    manager.create_table(annotation).await?;
    index(manager, "annotation", &["property_id", "date"]).await
}

async fn tags(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut tag = table("tag");
    tag.col(uuid("user_id"))
        .col(string("name"))
        .col(string("name_key"))
        .col(integer("position"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("tag", "user_id", "users"));
    manager.create_table(tag).await?;
    unique(manager, "tag", &["user_id", "name_key"]).await?;

    let property_tag = join_table("property_tag", ("tag_id", "tag"), ("property_id", "property"));
    manager.create_table(property_tag).await?;
    index(manager, "property_tag", &["property_id"]).await
}

/// The link's token is looked up by its SHA-256 digest. The encrypted copy allows the link to be shown again.
async fn share_links(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut link = table("share_link");
    link.col(uuid("property_id"))
        .col(uuid_null("created_by"))
        .col(string_null("name"))
        .col(blob("token_hash"))
        .col(blob("sealed_token"))
        .col(instant_null("expires_at"))
        .col(instant_null("revoked_at"))
        .col(instant("created_at"))
        .foreign_key(&mut belongs_to("share_link", "property_id", "property"))
        .foreign_key(&mut refers_to("share_link", "created_by", "users"));
    manager.create_table(link).await?;
    unique(manager, "share_link", &["token_hash"]).await?;
    index(manager, "share_link", &["property_id"]).await
}

async fn filter_presets(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let mut preset = table("filter_preset");
    preset
        .col(uuid("user_id"))
        .col(string("name"))
        .col(string("name_key"))
        .col(text("filters"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("filter_preset", "user_id", "users"));
    manager.create_table(preset).await?;
    unique(manager, "filter_preset", &["user_id", "name_key"]).await
}
