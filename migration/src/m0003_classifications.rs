//! Classifications of a property's queries and pages: branded keywords, segments, topic clusters.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, drop_all, string, string_null, table, text, timestamp_with_time_zone as instant, unique, uuid,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut keyword = table("branded_keyword");
        keyword
            .col(uuid("property_id"))
            .col(string("keyword"))
            .col(string("keyword_key"))
            .col(instant("created_at"))
            .foreign_key(&mut belongs_to("branded_keyword", "property_id", "property"));
        manager.create_table(keyword).await?;
        unique(manager, "branded_keyword", &["property_id", "keyword_key"]).await?;

        for name in ["segment", "topic_cluster"] {
            manager.create_table(classification(name)).await?;
            unique(manager, name, &["property_id", "name_key"]).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["topic_cluster", "segment", "branded_keyword"]).await
    }
}

fn classification(name: &'static str) -> TableCreateStatement {
    table(name)
        .col(uuid("property_id"))
        .col(string("name"))
        .col(string("name_key"))
        .col(string_null("color"))
        .col(text("conditions"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut belongs_to(name, "property_id", "property"))
        .take()
}
