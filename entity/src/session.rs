//! Browser sessions: the state behind the session cookie, found by the hash of the cookie value.

use sea_orm::entity::prelude::*;

/// One signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "session")]
pub struct Model {
    /// SHA-256 of the cookie value, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The user who signed in.
    pub user_id: Uuid,
    /// When the browser signed in.
    pub created_at: DateTimeUtc,
    /// When the session stops working.
    pub expires_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
