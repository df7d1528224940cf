//! What was revoked here: a single token, all tokens of a grant, or all tokens of a person issued so far.

use sea_orm::entity::prelude::*;

/// One entry of the deny list.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "revocation")]
pub struct Model {
    /// `token` (value: `jti`), `grant` (value: grant id) or `subject` (value: SHA-256 of issuer and subject).
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// What is revoked; its meaning depends on `kind`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub value: String,
    /// For `subject`: tokens issued up to this time are refused. Otherwise the time of the revocation.
    pub not_before: DateTimeUtc,
    /// When every token concerned has expired by itself and the entry may go.
    pub expires_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
