//! Browser sessions, revocations, and the state of the embedded issuer: clients, grants, codes, refresh tokens, keys.

use sea_orm_migration::{prelude::*, schema};

/// Creates the seven tables.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [
            session(),
            revocation(),
            signing_key(),
            oauth_client(),
            oauth_grant(),
            authorization_code(),
            refresh_token(),
        ] {
            manager.create_table(table).await?;
        }
        for (table, column) in [
            ("session", "user_id"),
            ("oauth_grant", "subject"),
            ("oauth_grant", "client_id"),
            ("authorization_code", "grant_id"),
            ("refresh_token", "grant_id"),
        ] {
            let name = format!("idx_{table}_{column}");
            manager.create_index(Index::create().name(name).table(table).col(column).to_owned()).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [
            "refresh_token",
            "authorization_code",
            "oauth_grant",
            "oauth_client",
            "signing_key",
            "revocation",
            "session",
        ] {
            manager.drop_table(Table::drop().table(table).to_owned()).await?;
        }
        Ok(())
    }
}

fn session() -> TableCreateStatement {
    Table::create()
        .table("session")
        .col(schema::string_len("hash", 64).primary_key())
        .col(schema::uuid("user_id"))
        .col(schema::string_null("email"))
        .col(schema::string_null("name"))
        .col(schema::timestamp_with_time_zone("created_at"))
        .col(schema::timestamp_with_time_zone("expires_at"))
        .to_owned()
}

fn revocation() -> TableCreateStatement {
    Table::create()
        .table("revocation")
        .col(schema::string_len("kind", 16))
        .col(schema::string("value"))
        .col(schema::timestamp_with_time_zone("not_before"))
        .col(schema::timestamp_with_time_zone("expires_at"))
        .primary_key(Index::create().col("kind").col("value"))
        .to_owned()
}

fn signing_key() -> TableCreateStatement {
    Table::create()
        .table("signing_key")
        .col(schema::string_len("purpose", 32).primary_key())
        .col(schema::blob("sealed"))
        .col(schema::timestamp_with_time_zone("created_at"))
        .to_owned()
}

fn oauth_client() -> TableCreateStatement {
    Table::create()
        .table("oauth_client")
        .col(schema::string("id").primary_key())
        .col(schema::string_null("name"))
        .col(schema::text("redirect_uris"))
        .col(schema::boolean("refreshes"))
        .col(schema::timestamp_with_time_zone("created_at"))
        .to_owned()
}

fn oauth_grant() -> TableCreateStatement {
    Table::create()
        .table("oauth_grant")
        .col(schema::uuid("id").primary_key())
        .col(schema::string("client_id"))
        .col(schema::string("subject"))
        .col(schema::string("scope"))
        .col(schema::text("resources"))
        .col(schema::timestamp_with_time_zone("created_at"))
        .col(schema::timestamp_with_time_zone("expires_at"))
        .col(schema::timestamp_with_time_zone_null("ended_at"))
        .to_owned()
}

fn authorization_code() -> TableCreateStatement {
    Table::create()
        .table("authorization_code")
        .col(schema::string_len("hash", 64).primary_key())
        .col(schema::uuid("grant_id"))
        .col(schema::text("redirect_uri"))
        .col(schema::string_len("challenge", 64))
        .col(schema::text_null("nonce"))
        .col(schema::timestamp_with_time_zone("expires_at"))
        .col(schema::timestamp_with_time_zone_null("used_at"))
        .to_owned()
}

fn refresh_token() -> TableCreateStatement {
    Table::create()
        .table("refresh_token")
        .col(schema::string_len("hash", 64).primary_key())
        .col(schema::uuid("grant_id"))
        .col(schema::timestamp_with_time_zone("expires_at"))
        .col(schema::timestamp_with_time_zone_null("spent_at"))
        .to_owned()
}
