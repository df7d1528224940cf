//! Access of other users to a user's properties.

use macros::api_trait;
use poem_openapi::{Enum, Object, param::Path};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record},
    body::Body,
    models::Timestamp,
    params::{Paging, Params, QueryParams},
    security::Caller,
};

/// Access of other users to a user's properties.
#[api_trait(tag = Team, routes = TeamRoutes)]
pub trait TeamApi: Send + Sync + 'static {
    /// Grants on the caller's properties
    ///
    /// Ordered by e-mail address. With `received=true`, returns the grants that others made to the caller, with the
    /// owner's name and address where known.
    #[get("/api/team")]
    #[errors(InvalidRequest)]
    #[scope(Account)]
    async fn list_team_members(&self, caller: Caller, params: Params<TeamListParams>) -> Answered<Listed<TeamGrant>>;

    /// A grant
    ///
    /// A grant that the caller made, or one that the caller received, then with the owner's name and address where known.
    #[get("/api/team/{memberId}")]
    #[scope(Account)]
    async fn get_team_member(&self, caller: Caller, member_id: Path<Uuid>) -> Answered<Record<TeamGrant>>;

    /// Grant a user access to properties
    ///
    /// Covers the named properties, or all of the caller's properties, including later ones. The grant takes effect
    /// when a user whose identity provider has verified this e-mail address signs in. It takes effect at once if the
    /// address was verified within the last seven days. Only the owner of a property can grant it, under every plan. No e-mail is sent, and the answer does not reveal if there is
    /// such a user. One grant per address; you cannot invite yourself. At most 500 grants per user.
    #[post("/api/team")]
    #[plan(Team)]
    #[idempotency(enforced)]
    #[errors(SubscriptionRequired, Forbidden, NotFound)]
    #[scope(Account)]
    async fn invite_team_member(&self, caller: Caller, body: Body<InviteInput>) -> Answered<Created<TeamGrant>>;

    /// Change the role or the properties of a grant
    ///
    /// A partial update, although it is a PUT: takes `role`, and `propertyIds` or `allProperties: true`, or one of these, and what is
    /// absent stays. `propertyIds` replaces the list. Takes effect with the next request. Below admin, the member's share links are revoked; otherwise those for properties that the grant no longer
    /// covers are.
    #[put("/api/team/{memberId}")]
    #[idempotency(ignored)]
    #[errors(SubscriptionRequired, Forbidden)]
    #[if_match]
    #[scope(Account)]
    async fn update_team_member_role(
        &self,
        caller: Caller,
        member_id: Path<Uuid>,
        body: Body<GrantUpdate>,
    ) -> Answered<Answer<TeamGrant>>;

    /// Revoke a grant
    ///
    /// Takes effect with the next request. The member's share links are revoked. A caller can also revoke a grant that
    /// they received, and so leave, under every plan.
    #[delete("/api/team/{memberId}")]
    #[idempotency(ignored)]
    #[if_match]
    #[scope(Account)]
    async fn remove_team_member(&self, caller: Caller, member_id: Path<Uuid>) -> Answered<NoContent>;
}

/// Parameters of the list of grants.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct TeamListParams {
    /// Lists the grants made to the caller instead of the grants that the caller made.
    #[param(default = "false", example = "true")]
    pub received: bool,
    /// The page of the list.
    #[param(flatten)]
    pub paging: Paging,
}

/// A grant: on the caller's properties, or received.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct TeamGrant {
    /// The grant's id; `memberId` in paths.
    pub id: Uuid,
    /// E-mail address that the grant was made to.
    #[oai(validator(max_length = 320))]
    pub email: String,
    /// Role that it grants.
    pub role: GrantRole,
    /// State of the grant.
    pub status: GrantStatus,
    /// True if it covers all of the owner's properties, including later ones.
    pub all_properties: bool,
    /// The properties it covers; empty if it covers all. A received grant lists tracked properties only.
    #[oai(validator(max_items = 1000))]
    pub property_ids: Vec<Uuid>,
    /// On a received grant: name of the owner, if known.
    #[oai(validator(max_length = 255))]
    pub owner_name: Option<String>,
    /// On a received grant: verified e-mail address of the owner, if there is one.
    #[oai(validator(max_length = 320))]
    pub owner_email: Option<String>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// Time of first use: the first request of its holder for one of the properties.
    pub accepted_at: Option<Timestamp>,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
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

/// State of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "lowercase")]
pub enum GrantStatus {
    /// No user with this address has requested one of the properties yet. Such a user may not exist.
    Pending,
    /// A user with this address has requested one of the properties.
    Active,
}

/// A new grant: `propertyIds` or `allProperties: true`, not both.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields, skip_serializing_if_is_none)]
pub struct InviteInput {
    /// The e-mail address of the user, ignoring case.
    #[oai(validator(
        max_length = 320,
        pattern = r#"^[^\s@\x00",:;<>()\[\]\\]+@[^\s@\x00",:;<>()\[\]\\]+\.[^\s@\x00",:;<>()\[\]\\.]+$"#
    ))]
    pub email: String,
    /// Role that it grants.
    pub role: GrantRole,
    /// Ids of the caller's own properties.
    #[oai(validator(min_items = 1, max_items = 1000, unique_items))]
    pub property_ids: Option<Vec<Uuid>>,
    /// Covers all of the caller's properties, including later ones.
    pub all_properties: Option<bool>,
}

/// A change of a grant: `role`, and `propertyIds` or `allProperties: true`, or one of these.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields, skip_serializing_if_is_none)]
pub struct GrantUpdate {
    /// Role that it grants from now on.
    pub role: Option<GrantRole>,
    /// Ids of the caller's own properties, which it covers from now on, and no others.
    #[oai(validator(min_items = 1, max_items = 1000, unique_items))]
    pub property_ids: Option<Vec<Uuid>>,
    /// Covers all of the caller's properties from now on, including later ones.
    pub all_properties: Option<bool>,
}
