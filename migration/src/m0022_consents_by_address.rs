//! Consents that count for one address of a client, what the account page shows of a browser that is signed in at the embedded
//! issuer alone, and the address by which an operator added an account.
//!
//! Earlier consents do not say which address they were given for. So they are forgotten, and people are asked once more.

use sea_orm_migration::prelude::*;

use crate::schema::{drop_all, text, text_null, timestamp_with_time_zone as instant};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_all(manager, &["consent"]).await?;
        manager.create_table(consent(&["subject", "client_id", "address"])).await?;
        manager.alter_table(Table::alter().table("issuer_session").add_column(text_null("user_agent")).take()).await?;
        manager.alter_table(Table::alter().table("account").add_column(text_null("added_as_key")).take()).await?;
        let known = "UPDATE account SET added_as_key = email_key WHERE added_by_operator";
        manager.get_connection().execute_unprepared(known).await.map(|_| ())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("account").drop_column("added_as_key").take()).await?;
        manager.alter_table(Table::alter().table("issuer_session").drop_column("user_agent").take()).await?;
        drop_all(manager, &["consent"]).await?;
        manager.create_table(consent(&["subject", "client_id"])).await
    }
}

/// The table with the primary key `columns`.
fn consent(columns: &[&'static str]) -> TableCreateStatement {
    let mut key = Index::create();
    key.name("pk_consent");
    let mut table = Table::create();
    table.table("consent");
    for column in columns {
        table.col(text(*column));
        key.col(*column);
    }
    table.col(text("scope")).col(instant("created_at")).col(instant("updated_at")).primary_key(&mut key).take()
}
