//! Authorization codes of the embedded issuer, stored by hash. A code is valid once, for one minute.

use sea_orm::entity::prelude::*;

/// One authorization code.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "authorization_code")]
pub struct Model {
    /// SHA-256 of the code, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Id of the grant that the code stands for.
    pub grant_id: Uuid,
    /// Redirect URI that the code was sent to.
    #[sea_orm(column_type = "Text")]
    pub redirect_uri: String,
    /// PKCE S256 challenge.
    pub challenge: String,
    /// `OpenID` Connect nonce of the request.
    pub nonce: Option<String>,
    /// Expiry time of the code.
    pub expires_at: DateTimeUtc,
    /// Time when it was redeemed, if it was.
    pub used_at: Option<DateTimeUtc>,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
