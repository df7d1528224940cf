//! Sites that a user has connected, and the selection of tracked ones.

use macros::api_trait;
use poem_openapi::{Enum, Object};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, ListMeta, Rendered},
    body::Body,
    models::{Change, DateRange, Freshness, Metrics, Role, Timestamp, Warning},
    params::{Paging, Params, QueryParams, Text, Whole},
    security::Caller,
};

/// Sites that a user has connected, and the selection of tracked ones.
#[api_trait(tag = Properties, routes = PropertiesRoutes)]
pub trait PropertiesApi: Send + Sync + 'static {
    /// Tracked properties with headline metrics
    ///
    /// Ordered by favourite, then by name. An upstream error of one property never fails the list; its entry reports
    /// the error. While the search engine is away, the list comes without headlines within three seconds. An entry is locked when the owner's plan does not cover it. The plan covers the properties tracked
    /// longest, up to its quota. Members have access only if the owner's plan includes the team feature.
    #[get("/api/properties")]
    #[etag(Weak)]
    #[errors(InvalidRequest)]
    #[scope(SearchRead)]
    async fn list_properties(
        &self,
        caller: Caller,
        params: Params<PropertyListParams>,
    ) -> Answered<Rendered<PropertyListAnswer>>;

    /// A tracked property with headline metrics
    ///
    /// One entry of `listProperties`. An upstream error is reported in the entry, as there. Properties that the caller does not track, or
    /// cannot see, answer 404, and locked ones 402.
    #[get("/api/properties/{id}")]
    #[scope(SearchRead)]
    async fn get_property(&self, caller: Caller, params: Params<HeadlineParams>) -> Answered<Rendered<PropertyAnswer>>;

    /// Discover properties
    ///
    /// Reads the sites of the caller's search-engine account: adds new ones, updates permissions, marks lost ones.
    /// Unverified sites are left out. Repeating it changes nothing more.
    #[post("/api/properties/sync")]
    #[idempotency(ignored)]
    #[errors(SearchAccountDisconnected, SearchEngineUnavailable)]
    #[scope(Account)]
    async fn sync_properties(&self, caller: Caller) -> Answered<Answer<SyncResult>>;

    /// Owned properties and tracking usage
    ///
    /// Returns all properties of the caller's own search-engine account, tracked or not, and the used part of the plan's quota.
    #[get("/api/properties/tracking")]
    #[scope(Account)]
    async fn get_property_tracking(&self, caller: Caller) -> Answered<Answer<Tracking>>;

    /// Replace the tracked selection
    ///
    /// Tracks exactly the listed properties, at most as many as the plan allows. The change is all or nothing. Records
    /// of an untracked property are kept and come back when it is tracked again. After a change to a smaller plan, the
    /// properties tracked longest stay open; untracking them opens others.
    #[put("/api/properties/tracking")]
    #[idempotency(ignored)]
    #[errors(InvalidRequest, PropertyQuotaExceeded, NotFound)]
    #[if_match]
    #[scope(Account)]
    async fn replace_property_tracking(
        &self,
        caller: Caller,
        body: Body<TrackingSelection>,
    ) -> Answered<Answer<Tracking>>;

    /// Mark or unmark a favourite
    ///
    /// Sets the caller's own mark; other users do not see it.
    #[put("/api/properties/{id}/favorite")]
    #[idempotency(ignored)]
    #[errors(InvalidRequest)]
    #[scope(RecordsWrite)]
    async fn set_property_favorite(
        &self,
        caller: Caller,
        body: Body<FavoriteInput>,
    ) -> Answered<Answer<PropertyPreference>>;

    /// Hide or show a property
    ///
    /// Sets the caller's own mark; other users do not see it. `listProperties` still lists the property, with `hidden: true`.
    #[put("/api/properties/{id}/hidden")]
    #[idempotency(ignored)]
    #[errors(InvalidRequest)]
    #[scope(RecordsWrite)]
    async fn set_property_hidden(
        &self,
        caller: Caller,
        body: Body<HiddenInput>,
    ) -> Answered<Answer<PropertyPreference>>;
}

/// The days of headline metrics.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct HeadlineParams {
    /// Number of final days that the headline metrics cover.
    #[param(default = "28", example = "28")]
    pub days: Whole<1, 480>,
}

/// Parameters of the property list.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct PropertyListParams {
    /// The days of the headline metrics.
    #[param(flatten)]
    pub headline: HeadlineParams,
    /// Only properties whose name, or the name of one of the caller's tags on them, contains this text. Upper and lower case are equal.
    /// Without it: all of them.
    #[param(example = "northmoor")]
    pub search: Option<Text<200>>,
    /// The page of the list. Headlines of other properties are not read.
    #[param(flatten)]
    pub paging: Paging,
}

/// The tracked properties that the caller can see.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct PropertyListAnswer {
    /// The properties.
    pub data: Vec<TrackedProperty>,
    /// Metadata of the answer.
    pub meta: PropertyListMeta,
}

/// Metadata of the list of properties.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct PropertyListMeta {
    /// Place of the page in the list.
    #[oai(flatten)]
    pub list: ListMeta,
    /// Freshness of the property whose data ends first; absent without any headline.
    pub freshness: Option<Freshness>,
    /// Facts about the windows of the headlines that their numbers do not show; absent without any.
    #[oai(validator(max_items = 100))]
    pub warnings: Option<Vec<Warning>>,
}

/// A tracked property that the caller can see, and its freshness.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct PropertyAnswer {
    /// The property.
    pub data: TrackedProperty,
    /// Metadata of the answer; absent without a headline.
    pub meta: Option<PropertyMeta>,
}

/// Metadata of a property.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct PropertyMeta {
    /// Freshness of the property's data.
    pub freshness: Freshness,
    /// Facts about the windows of the headlines that their numbers do not show; absent without any.
    #[oai(validator(max_items = 100))]
    pub warnings: Option<Vec<Warning>>,
}

/// A tracked property that the caller can see.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct TrackedProperty {
    /// The property's id.
    pub id: Uuid,
    /// The search engine's identifier of the site: `sc-domain:…` or a URL prefix, byte for byte.
    #[oai(validator(max_length = 2048))]
    pub site_url: String,
    /// Short name of the site, for display.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// Role of the caller.
    pub role: Role,
    /// True if the caller marked the property as a favourite.
    pub favorite: bool,
    /// True if the caller marked the property as hidden.
    pub hidden: bool,
    /// Ids of the caller's tags on it, in the caller's order.
    pub tag_ids: Vec<Uuid>,
    /// Shows if the property can be read.
    pub access: PropertyAccessState,
    /// Advice, if `access` is not `ok`.
    #[oai(validator(max_length = 500))]
    pub hint: Option<String>,
    /// Headline metrics; absent if `access` is not `ok`.
    pub headline: Option<Headline>,
}

/// Shows if a property can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum PropertyAccessState {
    /// It can be read.
    Ok,
    /// The owner's plan does not cover it: there is no plan, its quota is smaller, or it lacks the team feature.
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
    /// Metrics of the same number of days before them; absent if they are older than the search engine's history.
    pub previous: Option<Metrics>,
    /// Reason why `previous` is absent.
    #[oai(validator(max_length = 200))]
    pub previous_reason: Option<String>,
    /// Current minus previous; absent without `previous`.
    pub change: Option<Change>,
}

/// Result of a sync.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct SyncResult {
    /// New properties.
    pub added: u64,
    /// Properties whose permission changed, or that came back.
    pub updated: u64,
    /// Properties that the account no longer has.
    pub lost: u64,
    /// All properties of the account now, including lost ones.
    pub properties: Vec<OwnedProperty>,
}

/// A property of the caller's own search-engine account.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct OwnedProperty {
    /// The property's id.
    pub id: Uuid,
    /// The search engine's identifier of the site, byte for byte.
    #[oai(validator(max_length = 2048))]
    pub site_url: String,
    /// Short name of the site, for display.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// Permission of the account on the site.
    pub permission: SitePermission,
    /// True if it is tracked.
    pub tracked: bool,
    /// Time since which the account no longer has it.
    pub lost_at: Option<Timestamp>,
}

/// Permission of an account on a site.
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

/// The caller's properties and the number of tracked ones.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Tracking {
    /// Tracked properties.
    pub used: u64,
    /// Maximum number of tracked properties in the plan; null without a limit.
    #[oai(nullable)]
    pub quota: Option<u64>,
    /// All properties of the caller's account, ordered by site.
    pub properties: Vec<OwnedProperty>,
    /// Version of the selection; send it in `If-Match` to change exactly this version.
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
    /// True if the property is a favourite.
    pub favorite: bool,
}

/// A hidden mark.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(deny_unknown_fields)]
pub struct HiddenInput {
    /// True if the property is hidden.
    pub hidden: bool,
}

/// The caller's marks on a property.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PropertyPreference {
    /// The property's id.
    pub id: Uuid,
    /// True if it is a favourite.
    pub favorite: bool,
    /// True if it is hidden.
    pub hidden: bool,
}
