//! Sites that a user has connected, and the selection of tracked ones.

mod list;
mod portfolio;

use macros::api_trait;
use poem_openapi::{Enum, Object};
use uuid::Uuid;

pub use self::{
    list::{
        DailyMetrics, Headline, HeadlineParams, PropertyAccessState, PropertyAnswer, PropertyFilterParams,
        PropertyListAnswer, PropertyListMeta, PropertyListParams, PropertyMeta, PropertyParams, PropertySort,
        ReadingProgress, TrackedProperty,
    },
    portfolio::{
        CoveredProperty, LateProperty, Movers, Portfolio, PortfolioAnswer, PortfolioCoverage, PortfolioMeta,
        PortfolioParams, PortfolioProperty, TagSum,
    },
};
use crate::{
    answer::{Answer, Answered, Rendered},
    body::Body,
    models::Timestamp,
    params::Params,
    security::Caller,
};

/// Sites that a user has connected, and the selection of tracked ones.
#[api_trait(tag = Properties, routes = PropertiesRoutes)]
pub trait PropertiesApi: Send + Sync + 'static {
    /// Tracked properties with headline metrics
    ///
    /// Without `sort`, favourites come first, then names. The answer comes within three seconds. Headlines that are not read by then have
    /// `access: still_reading`; reading goes on, and the next answer has more. An upstream error of one property never fails the list; its
    /// entry reports the error. An entry is locked when the owner's plan does not cover it. The plan covers the properties tracked longest,
    /// up to its quota. Members have access only if the owner's plan includes the team feature.
    #[get("/api/properties")]
    #[etag(Weak)]
    #[errors(InvalidRequest, NotFound)]
    #[scope(SearchRead)]
    async fn list_properties(
        &self,
        caller: Caller,
        params: Params<PropertyListParams>,
    ) -> Answered<Rendered<PropertyListAnswer>>;

    /// Sums over several properties
    ///
    /// Adds up the visible properties that the filter leaves. All of them end on the earliest last final day among them; a property more
    /// than seven days behind the newest is left out and listed in `meta.late`. Hidden, locked and disconnected properties are left out.
    /// Each day of each site is counted once: of properties that cover one another, such as `sc-domain:example.com` and
    /// `https://www.example.com/`, the widest that was read counts, and `meta.overlaps` lists the others. Like `listProperties` the
    /// answer comes within three seconds, and `meta.coverage` says how many properties it sums up. Without any there are no sums, which
    /// are then null.
    #[get("/api/portfolio")]
    #[etag(Weak)]
    #[errors(InvalidRequest, NotFound)]
    #[scope(SearchRead)]
    async fn get_portfolio(
        &self,
        caller: Caller,
        params: Params<PortfolioParams>,
    ) -> Answered<Rendered<PortfolioAnswer>>;

    /// A tracked property with headline metrics
    ///
    /// One entry of `listProperties`. An upstream error is reported in the entry, as there. Properties that the caller does not track, or
    /// cannot see, answer 404, and locked ones 402.
    #[get("/api/properties/{id}")]
    #[scope(SearchRead)]
    async fn get_property(&self, caller: Caller, params: Params<PropertyParams>) -> Answered<Rendered<PropertyAnswer>>;

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
    /// Tracks exactly the properties in `propertyIds`, or adds and removes some, at most as many as the plan allows. The change is all or nothing. Records
    /// of an untracked property are kept and come back when it is tracked again. After a change to a smaller plan, the
    /// properties tracked longest stay open; untracking them opens others. Only the owner of a property can track it. Without a plan every
    /// selection is refused.
    #[put("/api/properties/tracking")]
    #[plan(tracking)]
    #[idempotency(ignored)]
    #[errors(InvalidRequest, SubscriptionRequired, PropertyQuotaExceeded, Forbidden, NotFound)]
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
    /// Short name of the site, for display: its host in Unicode, its port, and its path. Sites of one name differ by `siteUrl`.
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

/// The properties to track: all of them as `propertyIds`, or only the changes as `add` and `remove`.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrackingSelection {
    /// Ids of all of the caller's own properties to track; an empty list tracks none.
    #[oai(validator(max_items = 5000, unique_items))]
    pub property_ids: Option<Vec<Uuid>>,
    /// Ids of the caller's own properties to track besides the tracked ones. Not with `propertyIds`.
    #[oai(validator(max_items = 5000, unique_items))]
    pub add: Option<Vec<Uuid>>,
    /// Ids of the caller's own properties to untrack. Not with `propertyIds`.
    #[oai(validator(max_items = 5000, unique_items))]
    pub remove: Option<Vec<Uuid>>,
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
