//! The sites a user has connected, and which of them are tracked.

use chrono::{DateTime, Utc};
use macros::api_trait;
use poem_openapi::{Enum, Object};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered},
    body::Body,
    models::{DateRange, Metrics, Role},
    params::{Params, QueryParams, Whole},
    security::Caller,
};

/// The sites a user has connected, and which of them are tracked.
#[api_trait(tag = Properties, routes = PropertiesRoutes)]
pub trait PropertiesApi: Send + Sync + 'static {
    /// Tracked properties with headline metrics
    ///
    /// Favourites first, then by name. One property's upstream trouble never fails the list: its entry says what is wrong.
    /// An entry is locked when the owner's plan does not open it. The plan opens the properties tracked longest, up to its quota.
    /// Members need a plan with a team.
    #[get("/api/properties")]
    #[etag(Weak)]
    #[errors(InvalidRequest)]
    async fn list_properties(
        &self,
        caller: Caller,
        params: Params<PropertyListParams>,
    ) -> Answered<Answer<Vec<TrackedProperty>>>;

    /// Discover properties
    ///
    /// Reads the sites of the caller's search-engine account: adds new ones, updates permissions, marks those that are gone.
    /// Unverified sites are left out. Doing it twice changes nothing more.
    #[post("/api/properties/sync")]
    #[idempotency(ignored)]
    #[errors(SearchAccountDisconnected, SearchEngineUnavailable)]
    async fn sync_properties(&self, caller: Caller) -> Answered<Answer<SyncResult>>;

    /// Owned properties and tracking usage
    ///
    /// All properties of the caller's own search-engine account, tracked or not, and how much of the plan's quota is used.
    #[get("/api/properties/tracking")]
    async fn get_property_tracking(&self, caller: Caller) -> Answered<Answer<Tracking>>;

    /// Replace the tracked selection
    ///
    /// Tracks exactly the properties listed, at most as many as the plan allows. All or nothing. What belongs to an untracked
    /// property is kept, and is there again when it is tracked again. After a change to a smaller plan, those tracked longest
    /// stay open; untracking them opens others.
    #[put("/api/properties/tracking")]
    #[idempotency(ignored)]
    #[errors(InvalidRequest, PropertyQuotaExceeded, NotFound, PreconditionFailed)]
    async fn replace_property_tracking(
        &self,
        caller: Caller,
        body: Body<TrackingSelection>,
    ) -> Answered<Answer<Tracking>>;

    /// Mark or unmark a favourite
    ///
    /// The caller's own mark; others do not see it.
    #[put("/api/properties/{id}/favorite")]
    #[idempotency(ignored)]
    #[errors(InvalidRequest)]
    async fn set_property_favorite(
        &self,
        caller: Caller,
        body: Body<FavoriteInput>,
    ) -> Answered<Answer<PropertyPreference>>;

    /// Hide or show a property
    ///
    /// The caller's own mark; others do not see it. `listProperties` still lists the property, with `hidden: true`.
    #[put("/api/properties/{id}/hidden")]
    #[idempotency(ignored)]
    #[errors(InvalidRequest)]
    async fn set_property_hidden(
        &self,
        caller: Caller,
        body: Body<HiddenInput>,
    ) -> Answered<Answer<PropertyPreference>>;
}

/// Parameters of the property list.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct PropertyListParams {
    /// How many final days the headline metrics cover.
    #[param(default = "28", example = "28")]
    pub days: Whole<1, 480>,
}

/// A tracked property that the caller can see.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct TrackedProperty {
    /// The property's id.
    pub id: Uuid,
    /// The search engine's identifier: `sc-domain:…` or a URL prefix, byte for byte.
    #[oai(validator(max_length = 2048))]
    pub site_url: String,
    /// The site in short, for display.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// The caller's role.
    pub role: Role,
    /// The caller's mark.
    pub favorite: bool,
    /// The caller's mark.
    pub hidden: bool,
    /// The caller's tags on it, in the caller's order.
    pub tag_ids: Vec<Uuid>,
    /// Whether it can be read.
    pub access: PropertyAccessState,
    /// What to do, when `access` is not `ok`.
    #[oai(validator(max_length = 500))]
    pub hint: Option<String>,
    /// Headline metrics; absent when `access` is not `ok`.
    pub headline: Option<Headline>,
}

/// Whether a property can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum PropertyAccessState {
    /// It can.
    Ok,
    /// Its owner's plan does not include access: there is none, or it tracks fewer properties, or it has no team.
    SubscriptionRequired,
    /// The search engine refused the owner's stored grant.
    SearchAccountDisconnected,
    /// The search engine does not let the owner's search account read the site.
    Lost,
    /// The search engine did not answer in time.
    SearchEngineUnavailable,
}

/// Metrics of the last final days.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Headline {
    /// The days covered.
    pub window: DateRange,
    /// Metrics of these days.
    pub current: Metrics,
    /// Metrics of as many days before them; absent where those reach back beyond what the search engine keeps.
    pub previous: Option<Metrics>,
}

/// What a sync did.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct SyncResult {
    /// Properties that are new.
    pub added: u64,
    /// Properties whose permission changed, or that came back.
    pub updated: u64,
    /// Properties that the account has lost.
    pub lost: u64,
    /// All properties of the account now, lost ones included.
    pub properties: Vec<OwnedProperty>,
}

/// A property of the caller's own search-engine account.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct OwnedProperty {
    /// The property's id.
    pub id: Uuid,
    /// The search engine's identifier, byte for byte.
    #[oai(validator(max_length = 2048))]
    pub site_url: String,
    /// The site in short, for display.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// What the search engine lets the account do.
    pub permission: SitePermission,
    /// Whether it is tracked.
    pub tracked: bool,
    /// Since when the account no longer has it.
    pub lost_at: Option<DateTime<Utc>>,
}

/// What the search engine lets an account do with a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum SitePermission {
    /// Owner.
    Owner,
    /// Full user.
    Full,
    /// Restricted user; may read performance.
    Restricted,
}

/// The caller's properties and how many of them are tracked.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Tracking {
    /// Tracked properties.
    pub used: u64,
    /// The most that the plan allows.
    pub quota: u64,
    /// All properties of the caller's account, by site.
    pub properties: Vec<OwnedProperty>,
    /// Version of the selection; send it in `If-Match` to change exactly this one.
    #[oai(validator(max_length = 128))]
    pub etag: String,
}

/// The properties to track.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrackingSelection {
    /// Ids of the caller's own properties; an empty list tracks none.
    #[oai(validator(max_items = 1000, unique_items))]
    pub property_ids: Vec<Uuid>,
}

/// A favourite mark.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(deny_unknown_fields)]
pub struct FavoriteInput {
    /// Whether the property is a favourite.
    pub favorite: bool,
}

/// A hidden mark.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(deny_unknown_fields)]
pub struct HiddenInput {
    /// Whether the property is hidden.
    pub hidden: bool,
}

/// The caller's marks on a property.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PropertyPreference {
    /// The property's id.
    pub id: Uuid,
    /// Whether it is a favourite.
    pub favorite: bool,
    /// Whether it is hidden.
    pub hidden: bool,
}
