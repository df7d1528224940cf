//! The embedded issuer's signing keys, stored encrypted. One of them is active; the others are retired.

use sea_orm::entity::prelude::*;

/// One encrypted private key.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "signing_key")]
pub struct Model {
    /// The key id of its tokens (RFC 7638).
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    /// The private key (PKCS#8 PEM), encrypted with the service's secrets key.
    pub sealed: Vec<u8>,
    /// Creation time of the key.
    pub created_at: DateTimeUtc,
    /// Time when another key replaced it. Tokens that it signed stay valid.
    pub retired_at: Option<DateTimeUtc>,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// The key that is not retired.
    #[must_use]
    pub fn active() -> Select<Self> {
        Self::find().filter(Column::RetiredAt.is_null())
    }
}
