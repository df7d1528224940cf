//! Clients that registered themselves at the embedded issuer (RFC 7591).

use sea_orm::entity::prelude::*;

/// One registered public client.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_client")]
pub struct Model {
    /// The client id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Name to show on the consent page.
    pub name: Option<String>,
    /// Registered redirect URIs, a JSON array.
    #[sea_orm(column_type = "Text")]
    pub redirect_uris: String,
    /// Whether the client registered the refresh_token grant.
    pub refreshes: bool,
    /// When it registered.
    pub created_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
