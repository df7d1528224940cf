//! Who else may see or edit a user's properties.

use chrono::{DateTime, Utc};
use macros::api_trait;
use poem_openapi::{Enum, Object, param::Path};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Created, NoContent},
    body::Body,
    params::{Params, QueryParams},
    security::Caller,
};

/// Who else may see or edit a user's properties.
#[api_trait(tag = Team, routes = TeamRoutes)]
pub trait TeamApi: Send + Sync + 'static {
    /// Grants on the caller's properties
    ///
    /// By e-mail address. With `received=true`, the grants that others made to the caller instead, with what is known of
    /// those others.
    #[get("/api/team")]
    #[errors(InvalidRequest)]
    async fn list_team_members(
        &self,
        caller: Caller,
        params: Params<TeamListParams>,
    ) -> Answered<Answer<Vec<TeamGrant>>>;

    /// Grant a user access to properties
    ///
    /// To named properties or to all of the caller's, later ones included. The grant takes effect when a user whose identity
    /// provider has verified this e-mail address signs in, at once if it has verified the address within the last seven days; no e-mail is sent, and the answer does
    /// not say whether there is such a user. One grant per address; you cannot invite yourself. At most 500 grants per user.
    #[post("/api/team")]
    #[plan(Team)]
    #[idempotency(enforced)]
    #[errors(SubscriptionRequired, NotFound)]
    async fn invite_team_member(&self, caller: Caller, body: Body<InviteInput>) -> Answered<Created<TeamGrant>>;

    /// Change the role of a grant
    ///
    /// Takes effect with the next request. Below admin, the share links that the member made are revoked.
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
    /// Takes effect with the next request. The share links that the member made are revoked. Also for a grant that the caller
    /// received: that is how to leave, whatever the plan.
    #[delete("/api/team/{memberId}")]
    #[idempotency(ignored)]
    #[errors(PreconditionFailed)]
    async fn remove_team_member(&self, caller: Caller, member_id: Path<Uuid>) -> Answered<NoContent>;
}

/// Parameters of the list of grants.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct TeamListParams {
    /// Lists the grants made to the caller instead of those that the caller made.
    #[param(default = "false", example = "true")]
    pub received: bool,
}

/// A grant: on the caller's properties, or received.
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
    /// Whether it has been used.
    pub status: GrantStatus,
    /// Whether it covers all of the owner's properties, later ones included.
    pub all_properties: bool,
    /// The properties it covers; empty when it covers all. Of a received grant, those that are tracked.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// On a received grant: the name of who made it, where it is known.
    #[oai(validator(max_length = 255))]
    pub owner_name: Option<String>,
    /// On a received grant: the verified e-mail address of who made it, where there is one.
    #[oai(validator(max_length = 320))]
    pub owner_email: Option<String>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// When it was first used: when its holder first asked for one of the properties.
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

/// Whether a grant has been used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum GrantStatus {
    /// Nobody with the address has asked for one of the properties yet, whether or not there is such a user.
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
