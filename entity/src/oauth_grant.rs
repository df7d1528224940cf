//! What a person allowed a client at the embedded issuer; tokens and codes hang on a grant and die with it.

use sea_orm::entity::prelude::*;

/// One consent.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_grant")]
pub struct Model {
    /// The grant id, a claim of every access token of the grant.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The client that was allowed.
    pub client_id: String,
    /// The person who consented.
    pub subject: String,
    /// Granted scopes, separated by spaces.
    pub scope: String,
    /// Resources the grant is limited to, a JSON array; empty: all of them.
    #[sea_orm(column_type = "Text")]
    pub resources: String,
    /// When the person signed in and consented.
    pub created_at: DateTimeUtc,
    /// When the last token of the grant expires.
    pub expires_at: DateTimeUtc,
    /// When the grant was revoked.
    pub ended_at: Option<DateTimeUtc>,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
