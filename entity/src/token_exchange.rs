//! Exchanges of a code or a refresh token at the embedded issuer, kept for as long as they may be repeated.

use sea_orm::entity::prelude::*;

/// One exchange.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "token_exchange")]
pub struct Model {
    /// SHA-256 of the code or refresh token that was exchanged, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Id of the grant.
    pub grant_id: Uuid,
    /// With the code or token, the secret that the next refresh token is made from.
    pub salt: String,
    /// Time of the exchange.
    pub exchanged_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
