//! Sign-in and applications in the export of a user's data. Tokens and passwords are named but never shown.

use poem_openapi::{Enum, Object};
use uuid::Uuid;

use crate::models::Timestamp;

/// An account of the embedded issuer.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct LocalAccount {
    /// The account's id, the subject of its tokens.
    pub id: Uuid,
    /// E-mail address.
    #[oai(validator(max_length = 320))]
    pub email: String,
    /// Display name.
    #[oai(validator(max_length = 255))]
    pub name: Option<String>,
    /// True if a password is set. It is not shown.
    pub has_password: bool,
    /// Time when the address was verified.
    pub email_verified_at: Option<Timestamp>,
    /// Time when the password was last set, changed or taken away.
    pub password_changed_at: Timestamp,
    /// Time of the last sign-in.
    pub last_sign_in_at: Option<Timestamp>,
    /// The issuer of another provider at which the user signs in.
    #[oai(validator(max_length = 2048))]
    pub upstream_issuer: Option<String>,
    /// The user's identifier at that issuer.
    #[oai(validator(max_length = 255))]
    pub upstream_subject: Option<String>,
    /// True if an operator added the account.
    pub added_by_operator: bool,
    /// The address by which an operator added the account.
    #[oai(validator(max_length = 320))]
    pub added_as: Option<String>,
    /// One-time links for a password.
    pub links: Vec<LocalAccountLink>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A one-time link for a password, without its token.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct LocalAccountLink {
    /// Expiry time.
    pub expires_at: Timestamp,
    /// Time when it was used or withdrawn.
    pub used_at: Option<Timestamp>,
}

/// A session of the web app.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct SessionRecord {
    /// `User-Agent` of the browser at sign-in.
    #[oai(validator(max_length = 200))]
    pub user_agent: Option<String>,
    /// Time when it began.
    pub created_at: Timestamp,
    /// Time when it ends.
    pub expires_at: Timestamp,
}

/// A browser that is signed in at the embedded issuer.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct IssuerSessionRecord {
    /// `User-Agent` of the browser at the last sign-in.
    #[oai(validator(max_length = 200))]
    pub user_agent: Option<String>,
    /// Time when the user last proved who they are.
    pub auth_time: Timestamp,
    /// Time when it began.
    pub created_at: Timestamp,
    /// Time when it ends.
    pub expires_at: Timestamp,
}

/// A consent that the embedded issuer remembers.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Consent {
    /// Id of the application.
    #[oai(validator(max_length = 2048))]
    pub client_id: String,
    /// Address of the application that answers go to.
    #[oai(validator(max_length = 2048))]
    pub address: String,
    /// Scopes that the user has allowed.
    #[oai(validator(max_length = 255))]
    pub scopes: Vec<String>,
    /// The person's choice: `read`, `records` or `everything`.
    #[oai(validator(max_length = 16))]
    pub allows: String,
    /// Time of the first consent.
    pub created_at: Timestamp,
    /// Time of the last consent.
    pub updated_at: Timestamp,
}

/// A grant of the embedded issuer to an application.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ApplicationGrant {
    /// The grant's id.
    pub id: Uuid,
    /// Id of the application.
    #[oai(validator(max_length = 2048))]
    pub client_id: String,
    /// Granted scopes.
    #[oai(validator(max_length = 255))]
    pub scopes: Vec<String>,
    /// Time when the user proved who they are.
    pub auth_time: Option<Timestamp>,
    /// Time of the consent.
    pub created_at: Timestamp,
    /// Time when the last token of the grant expires.
    pub expires_at: Timestamp,
    /// Time when the grant was ended.
    pub ended_at: Option<Timestamp>,
}

/// A code or refresh token, which is stored as a hash and not shown.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ApplicationToken {
    /// Kind of the token.
    pub kind: ApplicationTokenKind,
    /// Id of the grant that it belongs to.
    pub grant_id: Uuid,
    /// Expiry time.
    pub expires_at: Timestamp,
    /// Time when it was used.
    pub used_at: Option<Timestamp>,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum ApplicationTokenKind {
    /// An authorization code.
    AuthorizationCode,
    /// A refresh token.
    RefreshToken,
}

/// The use of an application, which is recorded at most once an hour.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ApplicationUse {
    /// Id of the application.
    #[oai(validator(max_length = 2048))]
    pub client_id: String,
    /// Scopes of the token used last.
    #[oai(validator(max_length = 255))]
    pub scopes: Vec<String>,
    /// Time of the first recorded use.
    pub first_used_at: Timestamp,
    /// Time of the last recorded use.
    pub last_used_at: Timestamp,
    /// Time of the last recorded use of the tool endpoint.
    pub tools_used_at: Option<Timestamp>,
}

/// An application that the user refuses.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct ApplicationRefusal {
    /// Id of the application.
    #[oai(validator(max_length = 2048))]
    pub client_id: String,
    /// Time since which it is refused.
    pub refused_at: Timestamp,
}
