//! Public read-only links to a property's dashboard.

use chrono::NaiveDate;
use macros::api_trait;
use poem_openapi::{Enum, Object, param::Path};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    analytics::{AnswerMeta, Performance, PerformanceCoverage, PropertyPerformanceParams},
    answer::{Answered, Created, Listed, NoContent, Record, Rendered},
    body::Body,
    classifications::ClassificationCondition,
    models::{Classification, DateRange, Dimension, FilterCondition, Name, Timestamp},
    params::{Echo, Ignored, Paging, Params, TextField},
    security::Caller,
};

/// Public read-only links to a property's dashboard.
#[api_trait(tag = Sharing, routes = SharingRoutes)]
pub trait SharingApi: Send + Sync + 'static {
    /// Active share links of a property
    ///
    /// Ordered by creation, newest first, without revoked and expired links. Callers who may manage links also get their tokens.
    #[get("/api/properties/{id}/share-links")]
    #[scope(Account)]
    async fn list_property_share_links(&self, caller: Caller, params: Params<Paging>) -> Answered<Listed<ShareLink>>;

    /// A share link
    ///
    /// An active link of the property, as `listPropertyShareLinks` shows it: with its token for callers who may manage links. A link
    /// that is revoked or expired answers 404.
    #[get("/api/properties/{id}/share-links/{linkId}")]
    #[scope(Account)]
    async fn get_property_share_link(
        &self,
        caller: Caller,
        link_id: Path<Uuid>,
        ignored: Params<Ignored>,
    ) -> Answered<Record<ShareLink>>;

    /// Create a share link
    ///
    /// Anyone with the link can read the property's performance until it is revoked or expires. The page at `url` shows totals and
    /// a chart of the newest days. The same token opens more by `apiUrl`: the tables of queries, pages, countries, devices and
    /// search appearances, with any filter and over 16 months, as far as the link allows: `window` binds it to some days, `filters`
    /// and `classification` to a part of the traffic, and `show` hides queries, pages or annotations. At most 100 active links per
    /// property. A link that a member made is revoked when the member's grant ends or falls below admin.
    #[post("/api/properties/{id}/share-links")]
    #[plan(ShareLinks)]
    #[idempotency(enforced)]
    #[role(Admin)]
    #[scope(Account)]
    #[errors(FilterTooComplex)]
    async fn create_property_share_link(
        &self,
        caller: Caller,
        body: Body<ShareLinkInput>,
    ) -> Answered<Created<ShareLink>>;

    /// Revoke a share link
    ///
    /// The public link stops working at once.
    #[delete("/api/properties/{id}/share-links/{linkId}")]
    #[idempotency(ignored)]
    #[role(Admin)]
    #[if_match]
    #[scope(Account)]
    async fn revoke_property_share_link(&self, caller: Caller, link_id: Path<Uuid>) -> Answered<NoContent>;

    /// Read-only shared dashboard
    ///
    /// Returns the performance of the link's property, with the same parameters as the private operation. No sign-in is needed.
    ///
    /// A link may be bound to days and to a part of the traffic. Its own conditions narrow every question, are never shown, and count
    /// as the whole property in coverage. Other days than its own, a comparison, and `usual`, are then `invalid_request`. So is a question
    /// about a table that the link hides: `scope=tables`, `sort`, `explain`, and a filter, a classification or a condition on
    /// metrics that is on it. `scope=all` has the other tables.
    ///
    /// A link that is unknown, revoked or expired answers 404. So does a link whose property is no longer tracked, or no longer
    /// covered by its owner's plan, and one whose own days are gone.
    #[get("/api/share/{token}/performance")]
    #[access(ShareToken)]
    #[etag(Weak)]
    #[errors(FilterTooComplex, NotAvailableForSearchType, SearchAccountDisconnected, SearchEngineUnavailable)]
    async fn get_shared_performance(
        &self,
        caller: Caller,
        token: Path<String>,
        params: Params<PropertyPerformanceParams>,
    ) -> Answered<Rendered<SharedPerformanceAnswer>>;
}

/// A public link.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ShareLink {
    /// The link's id.
    pub id: Uuid,
    /// Name, visible to people who manage the link or open it.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub name: Option<String>,
    /// Secret token in the public link; only for callers who may manage links. It opens all of `getSharedPerformance`, tables and
    /// 16 months included.
    #[oai(validator(max_length = 128))]
    pub token: Option<String>,
    /// Public page of the link, for people: totals and a chart; only for callers who may manage links.
    #[oai(validator(max_length = 2048))]
    pub url: Option<String>,
    /// Public URL of the link for programs, the URL of `getSharedPerformance`; only for callers who may manage links.
    #[oai(validator(max_length = 2048))]
    pub api_url: Option<String>,
    /// Name of the user who made it, or else that user's verified e-mail address; absent if the user is unknown or has left.
    #[oai(validator(max_length = 320))]
    pub created_by: Option<String>,
    /// Expiry time; absent if the link does not expire.
    pub expires_at: Option<Timestamp>,
    /// Days of every answer; absent if readers choose them.
    pub window: Option<DateRange>,
    /// Conditions that narrow every question of readers; absent if there are none.
    #[oai(validator(max_items = 50))]
    pub filters: Option<Vec<FilterCondition>>,
    /// Subset of the traffic that every answer is about: `branded`, `nonBranded`, `segment:<uuid>` or `topicCluster:<uuid>`; absent
    /// for all traffic.
    pub classification: Option<TextField<Classification>>,
    /// What the classification stood for when the link was made, which is what the link shows.
    pub pinned: Option<PinnedClassification>,
    /// Parts that readers see besides totals, series, countries, devices and search appearances.
    #[oai(validator(max_items = 3))]
    pub show: Vec<SharedPart>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// Creation time.
    pub created_at: Timestamp,
}

/// What the classification of a link stood for when the link was made. Later changes of the records do not change the link.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize, Deserialize)]
#[oai(skip_serializing_if_is_none)]
pub struct PinnedClassification {
    /// Conditions of the segment on pages, or of the topic cluster on queries.
    #[oai(validator(max_items = 50))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<ClassificationCondition>>,
    /// Branded keywords.
    #[oai(validator(max_items = 200))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
}

/// Content of a new link.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields, skip_serializing_if_is_none)]
pub struct ShareLinkInput {
    /// Name, visible to people who open the link.
    #[oai(validator(max_length = 100))]
    pub name: Option<Name>,
    /// Expiry time, in the future.
    pub expires_at: Option<Timestamp>,
    /// Days of every answer, at most 16 months back; absent if readers choose them. Readers get no comparison then. The link opens
    /// nothing once the search engine no longer has the first of these days.
    pub window: Option<ShareLinkWindowInput>,
    /// Conditions on the traffic, as JSON at most 60,000 bytes, by which every question of readers is narrowed. `logic` joins a
    /// condition to the one before it; `and` binds tighter than `or`. Readers never see them.
    #[oai(validator(max_items = 50))]
    pub filters: Option<Vec<FilterCondition>>,
    /// Subset of the traffic that every answer is about: `branded`, `nonBranded`, `segment:<uuid>` or `topicCluster:<uuid>`, combined
    /// with `filters` by AND. Readers never see it. The link keeps what it stands for now, whatever becomes of the records.
    pub classification: Option<TextField<Classification>>,
    /// Parts that readers see besides totals, series, countries, devices and search appearances; absent means all.
    #[oai(validator(max_items = 3, unique_items = true))]
    pub show: Option<Vec<SharedPart>>,
}

/// The days that a link is bound to, both ends inclusive, in the search engine's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShareLinkWindowInput {
    /// First day.
    pub start_date: NaiveDate,
    /// Last day, at most a day after today, which is then taken as today.
    pub end_date: NaiveDate,
}

/// A part of a shared dashboard that a link can hide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum SharedPart {
    /// The table of queries, and everything about queries.
    Queries,
    /// The table of pages, and everything about pages.
    Pages,
    /// Annotations.
    Notes,
}

impl SharedPart {
    /// Every part.
    pub const ALL: [Self; 3] = [Self::Queries, Self::Pages, Self::Notes];

    /// The part with the table of rows by a dimension. `None`: no link can hide it.
    #[must_use]
    pub fn of(dimension: Dimension) -> Option<Self> {
        match dimension {
            Dimension::Query => Some(Self::Queries),
            Dimension::Page => Some(Self::Pages),
            Dimension::Country | Dimension::Device | Dimension::SearchAppearance => None,
        }
    }
}

/// The performance of a shared property. It names the site, but no user, and no id except those of annotations.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct SharedPerformanceAnswer {
    /// Totals, series and tables.
    pub data: Performance,
    /// Metadata of the answer and the link.
    pub meta: SharedPerformanceMeta,
}

/// Metadata of a shared answer and its link.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct SharedPerformanceMeta {
    /// Metadata that all analytics answers share, without `labels`.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<PropertyPerformanceParams>,
    /// Coverage of each table; absent without tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<PerformanceCoverage>,
    /// Short name of the site: its host in Unicode, its port, and its path.
    #[oai(validator(max_length = 2048))]
    pub site: String,
    /// Name of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_length = 100))]
    pub link_name: Option<String>,
    /// Expiry time of the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_expires_at: Option<Timestamp>,
    /// True if the link shows fixed days. Other days, comparisons and explanations are then refused.
    pub fixed_window: bool,
    /// The parts that the link shows. What is about a hidden table is refused.
    #[oai(validator(max_items = 3))]
    pub show: Vec<SharedPart>,
}
