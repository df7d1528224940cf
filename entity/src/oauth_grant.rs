//! Consents of users to clients of the embedded issuer. Tokens and codes belong to a grant and end with it.

use sea_orm::entity::prelude::*;

/// One consent.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_grant")]
pub struct Model {
    /// Id of the grant, a claim of each of its access tokens.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the client.
    pub client_id: String,
    /// Subject of the user who consented.
    pub subject: String,
    /// Granted scopes, separated by spaces.
    pub scope: String,
    /// Resources that the grant is limited to, a JSON array; empty means all.
    #[sea_orm(column_type = "Text")]
    pub resources: String,
    /// Id of the issuer's session in which the user consented. Absent for sign-in without a page.
    pub issuer_session_id: Option<Uuid>,
    /// Time when the user proved who they are, if that was before the consent.
    pub auth_time: Option<DateTimeUtc>,
    /// Time when the user consented.
    pub created_at: DateTimeUtc,
    /// Time when the last token of the grant expires.
    pub expires_at: DateTimeUtc,
    /// SHA-256 of the family of its refresh tokens, lower-case hex, if it has any.
    pub refresh_family: Option<String>,
    /// Time when the grant was revoked, if it was.
    pub ended_at: Option<DateTimeUtc>,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
