//! Browser sessions: the state behind the session cookie, stored by the hash of the cookie value.

use sea_orm::entity::prelude::*;

/// One signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "session")]
pub struct Model {
    /// SHA-256 of the cookie value, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Id of the user who signed in.
    pub user_id: Uuid,
    /// Time of the sign-in.
    pub created_at: DateTimeUtc,
    /// Expiry time of the session.
    pub expires_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
