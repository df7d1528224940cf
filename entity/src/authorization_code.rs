//! Authorization codes of the embedded issuer, by hash: one use, one minute.

use sea_orm::entity::prelude::*;

/// One code.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "authorization_code")]
pub struct Model {
    /// SHA-256 of the code, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The grant the code stands for.
    pub grant_id: Uuid,
    /// The redirect URI it was sent to.
    #[sea_orm(column_type = "Text")]
    pub redirect_uri: String,
    /// PKCE S256 challenge.
    pub challenge: String,
    /// OpenID Connect nonce of the request.
    pub nonce: Option<String>,
    /// When the code stops working.
    pub expires_at: DateTimeUtc,
    /// When it was redeemed.
    pub used_at: Option<DateTimeUtc>,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
