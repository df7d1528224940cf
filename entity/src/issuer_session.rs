//! Browsers that are signed in at the embedded issuer. A session of the service that began with one ends with it.

use sea_orm::entity::prelude::*;

/// One signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "issuer_session")]
pub struct Model {
    /// Id of the session, the claim `sid` of its ID tokens.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// SHA-256 of the cookie value, lower-case hex; unique.
    pub hash: String,
    /// Subject of the person.
    pub subject: String,
    /// Time when the person last proved who they are.
    pub auth_time: DateTimeUtc,
    /// Time when the session began.
    pub created_at: DateTimeUtc,
    /// Expiry time of the session.
    pub expires_at: DateTimeUtc,
    /// `User-Agent` of the browser at the last sign-in, shortened.
    #[sea_orm(column_type = "Text", nullable)]
    pub user_agent: Option<String>,
}

/// No declared relations: finders select by id, cookie or subject.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
