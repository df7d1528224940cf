//! Creates the tables of sign-in: `account`, `account_link`, `issuer_session`, `consent`, `signing_key`, `oauth_client`, `oauth_grant`,
//! `authorization_code`, `refresh_token` of the embedded issuer, and `session`, `revocation`, `client_use`, `client_refusal` of any issuer.

use sea_orm_migration::prelude::*;

use crate::schema::{
    belongs_to, blob, boolean, index, instant, instant_null, order_text_by_bytes, string, string_len, string_len_null,
    string_null, table, text, text_null, unique, uuid, uuid_null,
};

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        accounts(manager).await?;
        issuer_session(manager).await?;
        consent(manager).await?;
        signing_key(manager).await?;
        oauth_client(manager).await?;
        oauth_grant(manager).await?;
        codes_and_tokens(manager).await?;
        session(manager).await?;
        revocation(manager).await?;
        clients_of_users(manager).await?;
        order_text_by_bytes(manager).await
    }
}

/// Starts a table whose primary key is the hash of a secret.
fn hashed(name: &'static str) -> TableCreateStatement {
    Table::create().table(name).col(string_len("hash", 64).primary_key()).take()
}

/// Accounts, and the links with which people set a password.
async fn accounts(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let account = table("account")
        .col(string("email"))
        .col(string("email_key"))
        .col(string_null("name"))
        .col(text_null("password_hash"))
        .col(instant_null("email_verified_at"))
        .col(instant("password_changed_at"))
        .col(instant_null("last_sign_in_at"))
        .col(text_null("upstream_issuer"))
        .col(text_null("upstream_subject"))
        .col(boolean("added_by_operator"))
        .col(text_null("added_as_key"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .take();
    manager.create_table(account).await?;
    unique(manager, "account", &["email_key"]).await?;
    unique(manager, "account", &["upstream_issuer", "upstream_subject"]).await?;

    let link = hashed("account_link")
        .col(uuid("account_id"))
        .col(string("purpose"))
        .col(instant("expires_at"))
        .col(instant_null("used_at"))
        .foreign_key(&mut belongs_to("account_link", "account_id", "account"))
        .take();
    manager.create_table(link).await?;
    index(manager, "account_link", &["account_id"]).await
}

/// Browsers that are signed in at the issuer.
async fn issuer_session(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let session = table("issuer_session")
        .col(string_len("hash", 64))
        .col(string("subject"))
        .col(instant("auth_time"))
        .col(instant("created_at"))
        .col(instant("expires_at"))
        .col(text_null("user_agent"))
        .take();
    manager.create_table(session).await?;
    unique(manager, "issuer_session", &["hash"]).await?;
    index(manager, "issuer_session", &["subject"]).await
}

/// The consents of people to clients, by address.
async fn consent(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let consent = Table::create()
        .table("consent")
        .col(text("subject"))
        .col(text("client_id"))
        .col(text("address"))
        .col(text("scope"))
        .col(boolean("opens_api"))
        .col(text("allows"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .primary_key(Index::create().name("pk_consent").col("subject").col("client_id").col("address"))
        .take();
    manager.create_table(consent).await
}

/// One key at a time is not retired, also if two processes create or replace one at the same time.
const ONE_ACTIVE_KEY: &str =
    "CREATE UNIQUE INDEX uq_signing_key_active ON signing_key ((retired_at IS NULL)) WHERE retired_at IS NULL";

async fn signing_key(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let key = Table::create()
        .table("signing_key")
        .col(string_len("id", 43).primary_key())
        .col(blob("sealed"))
        .col(instant("created_at"))
        .col(instant_null("retired_at"))
        .take();
    manager.create_table(key).await?;
    manager.get_connection().execute_unprepared(ONE_ACTIVE_KEY).await.map(|_| ())
}

async fn oauth_client(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let client = Table::create()
        .table("oauth_client")
        .col(string("id").primary_key())
        .col(string_null("name"))
        .col(text("redirect_uris"))
        .col(boolean("refreshes"))
        .col(boolean("added_by_operator"))
        .col(instant("created_at"))
        .take();
    manager.create_table(client).await
}

/// All refresh tokens of a grant have `refresh_family` in common. So the issuer knows spent ones without a row of their own.
async fn oauth_grant(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let grant = table("oauth_grant")
        .col(string("client_id"))
        .col(string("subject"))
        .col(string("scope"))
        .col(text("resources"))
        .col(uuid_null("issuer_session_id"))
        .col(instant_null("auth_time"))
        .col(instant("created_at"))
        .col(instant("expires_at"))
        .col(string_len_null("refresh_family", 64))
        .col(instant_null("ended_at"))
        .take();
    manager.create_table(grant).await?;
    index(manager, "oauth_grant", &["subject"]).await?;
    index(manager, "oauth_grant", &["client_id"]).await?;
    unique(manager, "oauth_grant", &["refresh_family"]).await
}

/// Authorization codes and refresh tokens.
async fn codes_and_tokens(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let code = hashed("authorization_code")
        .col(uuid("grant_id"))
        .col(text("redirect_uri"))
        .col(string_len("challenge", 64))
        .col(text_null("nonce"))
        .col(instant("expires_at"))
        .col(instant_null("used_at"))
        .take();
    let token = hashed("refresh_token").col(uuid("grant_id")).col(instant("expires_at")).take();
    for table in [code, token] {
        manager.create_table(table).await?;
    }
    index(manager, "authorization_code", &["grant_id"]).await?;
    index(manager, "refresh_token", &["grant_id"]).await
}

/// Browsers that are signed in at the service. A session ends with its person. It ends with the issuer's session that it began with.
async fn session(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let session = hashed("session")
        .col(uuid("id"))
        .col(uuid("user_id"))
        .col(uuid_null("issuer_session_id"))
        .col(instant("created_at"))
        .col(instant("expires_at"))
        .col(text_null("user_agent"))
        .foreign_key(&mut belongs_to("session", "user_id", "users"))
        .foreign_key(&mut belongs_to("session", "issuer_session_id", "issuer_session"))
        .take();
    manager.create_table(session).await?;
    unique(manager, "session", &["id"]).await?;
    index(manager, "session", &["user_id"]).await?;
    index(manager, "session", &["issuer_session_id"]).await
}

/// Revocations before expiry: of a token, or of all tokens of a grant or of a person.
async fn revocation(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let revocation = Table::create()
        .table("revocation")
        .col(string_len("kind", 16))
        .col(string("value"))
        .col(instant("not_before"))
        .col(instant("expires_at"))
        .primary_key(Index::create().col("kind").col("value"))
        .take();
    manager.create_table(revocation).await
}

/// The clients that act for a person, and those that the person refuses.
async fn clients_of_users(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let uses = of_user_and_client("client_use")
        .col(text("scopes"))
        .col(instant("first_used_at"))
        .col(instant("last_used_at"))
        .col(instant_null("tools_used_at"))
        .take();
    manager.create_table(uses).await?;
    let refusals = of_user_and_client("client_refusal").col(instant("refused_at")).take();
    manager.create_table(refusals).await
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
