//! Browser sessions: the state behind the session cookie, stored by the hash of the cookie value.

use sea_orm::entity::prelude::*;

/// One signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "session")]
pub struct Model {
    /// SHA-256 of the cookie value, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// Public handle of the session, as the account page names it. It opens nothing.
    pub id: Uuid,
    /// Id of the user who signed in.
    pub user_id: Uuid,
    /// Id of the embedded issuer's session that it began with. It ends with that session.
    pub issuer_session_id: Option<Uuid>,
    /// Time of the sign-in.
    pub created_at: DateTimeUtc,
    /// Expiry time of the session.
    pub expires_at: DateTimeUtc,
    /// `User-Agent` of the browser at sign-in, shortened.
    #[sea_orm(column_type = "Text", nullable)]
    pub user_agent: Option<String>,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
