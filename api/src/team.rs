//! Who else may see or edit a user's properties.

use chrono::{DateTime, Utc};
use macros::api_trait;
use poem_openapi::{Enum, Object, param::Path};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Created, NoContent},
    body::Body,
    security::Caller,
};

/// Who else may see or edit a user's properties.
#[api_trait(tag = Team, routes = TeamRoutes)]
pub trait TeamApi: Send + Sync + 'static {
    /// Grants on the caller's properties
    ///
    /// By e-mail address. Grants that others made to the caller show in the list of properties.
    #[get("/api/team")]
    async fn list_team_members(&self, caller: Caller) -> Answered<Answer<Vec<TeamGrant>>>;

    /// Grant a user access to properties
    ///
    /// To named properties or to all of the caller's, later ones included. The grant takes effect when a user whose identity
    /// provider has verified this e-mail address signs in, at once if one has already; no e-mail is sent. One grant per address; you cannot invite
    /// yourself. At most 500 grants per user.
    #[post("/api/team")]
    #[idempotency(enforced)]
    #[errors(SubscriptionRequired, NotFound)]
    async fn invite_team_member(&self, caller: Caller, body: Body<InviteInput>) -> Answered<Created<TeamGrant>>;

    /// Change the role of a grant
    ///
    /// Takes effect with the next request.
    #[put("/api/team/{memberId}")]
    #[idempotency(ignored)]
    #[errors(SubscriptionRequired, PreconditionFailed)]
    async fn update_team_member_role(
        &self,
        caller: Caller,
        member_id: Path<Uuid>,
        body: Body<RoleInput>,
    ) -> Answered<Answer<TeamGrant>>;

    /// Revoke a grant
    ///
    /// Takes effect with the next request.
    #[delete("/api/team/{memberId}")]
    #[idempotency(ignored)]
    #[errors(PreconditionFailed)]
    async fn remove_team_member(&self, caller: Caller, member_id: Path<Uuid>) -> Answered<NoContent>;
}

/// A grant on the caller's properties.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct TeamGrant {
    /// The grant's id; `memberId` in paths.
    pub id: Uuid,
    /// The e-mail address it was made to.
    #[oai(validator(max_length = 320))]
    pub email: String,
    /// What it allows.
    pub role: GrantRole,
    /// Whether somebody holds it.
    pub status: GrantStatus,
    /// Whether it covers all of the caller's properties, later ones included.
    pub all_properties: bool,
    /// The properties it covers; empty when it covers all.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// When the grant took effect: at once where a user has the address already, else when one first signed in with it.
    pub accepted_at: Option<DateTime<Utc>>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A role that can be granted. Owner cannot: it comes with the search account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum GrantRole {
    /// Reads.
    Viewer,
    /// Also writes annotations, segments, topic clusters and branded keywords.
    Editor,
    /// Also manages share links.
    Admin,
}

/// Whether somebody holds a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum GrantStatus {
    /// Nobody has signed in with the address yet.
    Pending,
    /// Somebody has.
    Active,
}

/// A grant to make: `propertyIds` or `allProperties: true`, not both.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields, skip_serializing_if_is_none)]
pub struct InviteInput {
    /// The e-mail address of the user, ignoring case.
    #[oai(validator(max_length = 320, pattern = r"^[^\s@\x00]+@[^\s@\x00]+\.[^\s@\x00]+$"))]
    pub email: String,
    /// What the grant allows.
    pub role: GrantRole,
    /// Ids of the caller's own properties.
    #[oai(validator(min_items = 1, max_items = 1000, unique_items))]
    pub property_ids: Option<Vec<Uuid>>,
    /// All of the caller's properties, later ones included.
    pub all_properties: Option<bool>,
}

/// A role to change to.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields)]
pub struct RoleInput {
    /// What the grant allows from now on.
    pub role: GrantRole,
}
