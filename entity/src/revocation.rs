//! Revocations: of a single token, of all tokens of a grant, or of all tokens of a user issued so far.

use sea_orm::entity::prelude::*;

/// One entry of the deny list.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "revocation")]
pub struct Model {
    /// `token` (value: `jti`), `grant` (value: grant id) or `subject` (value: SHA-256 of issuer and subject).
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// The revoked value; its meaning depends on `kind`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub value: String,
    /// For `subject`: tokens issued up to this time are refused. Otherwise: time of the revocation.
    pub not_before: DateTimeUtc,
    /// Time when every token concerned has expired, so that the entry may be deleted.
    pub expires_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
