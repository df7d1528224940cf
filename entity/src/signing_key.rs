//! The embedded issuer's signing key, made once and kept encrypted.

use sea_orm::entity::prelude::*;

/// One sealed private key.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "signing_key")]
pub struct Model {
    /// What the key signs; one key for each purpose.
    #[sea_orm(primary_key, auto_increment = false)]
    pub purpose: String,
    /// The private key (PKCS#8 PEM), sealed by the service's secrets key.
    pub sealed: Vec<u8>,
    /// When the key was made.
    pub created_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
