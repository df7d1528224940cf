//! The embedded issuer's signing key, created once and stored encrypted.

use sea_orm::entity::prelude::*;

/// One encrypted private key.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "signing_key")]
pub struct Model {
    /// Purpose of the key; there is one key per purpose.
    #[sea_orm(primary_key, auto_increment = false)]
    pub purpose: String,
    /// The private key (PKCS#8 PEM), encrypted with the service's secrets key.
    pub sealed: Vec<u8>,
    /// Creation time of the key.
    pub created_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
