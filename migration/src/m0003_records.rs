//! Creates the tables of records: `annotation`, `branded_keyword`, `classification`, `tag`, `property_tag`, `share_link`, `filter_preset`.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, blob, boolean, date, date_null, index, instant, instant_null, integer, join_table, order_text_by_bytes,
    refers_to, string, string_null, table, text, unique, uuid, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        annotation(manager).await?;
        branded_keyword(manager).await?;
        classification(manager).await?;
        tag(manager).await?;
        share_link(manager).await?;
        filter_preset(manager).await?;
        order_text_by_bytes(manager).await
    }
}

/// A count of annotations reads this index alone. The library's indices have no expressions.
const ANNOTATION_ROOM: &str = "CREATE INDEX ix_annotation_room ON annotation (property_id, octet_length(\"text\"))";

async fn annotation(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let annotation = table("annotation")
        .col(uuid("property_id"))
        .col(uuid_null("author_id"))
        .col(date("date"))
        .col(date_null("end_date"))
        .col(text("text"))
        .col(string_null("category"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("annotation", "property_id", "property"))
        .foreign_key(&mut refers_to("annotation", "author_id", "users"))
        .take();
    manager.create_table(annotation).await?;
    index(manager, "annotation", &["property_id", "date"]).await?;
    manager.get_connection().execute_unprepared(ANNOTATION_ROOM).await.map(|_| ())
}

async fn branded_keyword(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let keyword = table("branded_keyword")
        .col(uuid("property_id"))
        .col(string("keyword"))
        .col(string("keyword_key"))
        .col(instant("created_at"))
        .foreign_key(&mut belongs_to("branded_keyword", "property_id", "property"))
        .take();
    manager.create_table(keyword).await?;
    unique(manager, "branded_keyword", &["property_id", "keyword_key"]).await
}

/// Segments and topic clusters, told apart by their kind.
async fn classification(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let classification = table("classification")
        .col(uuid("property_id"))
        .col(uuid_null("created_by"))
        .col(string("kind"))
        .col(string("name"))
        .col(string("name_key"))
        .col(string_null("color"))
        .col(text("conditions"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("classification", "property_id", "property"))
        .take();
    manager.create_table(classification).await?;
    unique(manager, "classification", &["property_id", "kind", "name_key"]).await
}

/// Tags, and the properties that have them.
async fn tag(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let tag = table("tag")
        .col(uuid("user_id"))
        .col(string("name"))
        .col(string("name_key"))
        .col(integer("position"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("tag", "user_id", "users"))
        .take();
    manager.create_table(tag).await?;
    unique(manager, "tag", &["user_id", "name_key"]).await?;

    let property_tag = join_table("property_tag", ("tag_id", "tag"), ("property_id", "property"));
    manager.create_table(property_tag).await?;
    index(manager, "property_tag", &["property_id"]).await
}

/// The service finds a link by the SHA-256 digest of its token. The encrypted copy allows the link to be shown again.
async fn share_link(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let link = table("share_link")
        .col(uuid("property_id"))
        .col(uuid_null("created_by"))
        .col(uuid_null("grant_id"))
        .col(string_null("name"))
        .col(blob("token_hash"))
        .col(blob("sealed_token"))
        .col(date_null("first_day"))
        .col(date_null("last_day"))
        .col(string_null("filters"))
        .col(string_null("classification"))
        .col(boolean("shows_queries"))
        .col(boolean("shows_pages"))
        .col(boolean("shows_notes"))
        .col(instant_null("expires_at"))
        .col(instant_null("revoked_at"))
        .col(instant("created_at"))
        .foreign_key(&mut belongs_to("share_link", "property_id", "property"))
        .foreign_key(&mut refers_to("share_link", "created_by", "users"))
        .take();
    manager.create_table(link).await?;
    unique(manager, "share_link", &["token_hash"]).await?;
    index(manager, "share_link", &["property_id"]).await?;
    index(manager, "share_link", &["grant_id"]).await
}

async fn filter_preset(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let preset = table("filter_preset")
        .col(uuid("user_id"))
        .col(string("name"))
        .col(string("name_key"))
        .col(text("filters"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to("filter_preset", "user_id", "users"))
        .take();
    manager.create_table(preset).await?;
    unique(manager, "filter_preset", &["user_id", "name_key"]).await
}
