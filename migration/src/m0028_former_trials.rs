//! Who has left after a trial, so that nobody gets another one by leaving.

use sea_orm_migration::prelude::*;

use crate::schema::{drop_all, index, string_len, timestamp_with_time_zone as instant};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = Table::create()
            .table("former_trial")
            .col(string_len("person", 64).primary_key())
            .col(instant("left_at"))
            .take();
        manager.create_table(table).await?;
        index(manager, "former_trial", &["left_at"]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["former_trial"]).await
    }
}
