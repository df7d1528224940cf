//! Clients of the embedded issuer: registered ones (RFC 7591), and ones that an operator added.

use sea_orm::entity::prelude::*;

/// One client.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_client")]
pub struct Model {
    /// The client id.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// Name that the consent page shows.
    pub name: Option<String>,
    /// Registered redirect URIs, a JSON array.
    #[sea_orm(column_type = "Text")]
    pub redirect_uris: String,
    /// True if the client registered the `refresh_token` grant.
    pub refreshes: bool,
    /// True if the client registered the grant of device codes.
    pub uses_device_codes: bool,
    /// Time of the registration.
    pub created_at: DateTimeUtc,
    /// True if an operator added it, so that it is kept even if nobody uses it.
    pub added_by_operator: bool,
    /// SHA-256 of its secret in lower-case hex, if an operator gave it one.
    #[sea_orm(column_type = "Text", nullable)]
    pub secret_hash: Option<String>,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
