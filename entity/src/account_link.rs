//! One-time links with which a person sets a password, stored by the hash of their token.

use sea_orm::entity::prelude::*;

/// One link.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "account_link")]
pub struct Model {
    /// SHA-256 of the token, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Id of the account.
    pub account_id: Uuid,
    /// The reason for the link.
    pub purpose: Purpose,
    /// Expiry time of the link.
    pub expires_at: DateTimeUtc,
    /// Time when it was used or withdrawn, if it was.
    pub used_at: Option<DateTimeUtc>,
}

/// The reason for a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum Purpose {
    /// An operator added the account or took its password away.
    Operator,
    /// The person has forgotten the password.
    Forgotten,
}

/// No declared relations: finders select by token or account.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
