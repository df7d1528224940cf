//! Branded keywords, segments of pages and topic clusters of queries.

mod preview;
mod suggestions;

pub use preview::*;
pub use suggestions::*;

use macros::api_trait;
use poem_openapi::{Object, param::Path};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    answer::{Answer, Answered, Created, Listed, NoContent, Record, Rendered},
    body::Body,
    models::{FilterLogic, FilterOperator, Name, Timestamp},
    params::{Ignored, Paging, Params, QueryParams, Text},
    security::Caller,
};

/// Branded keywords, segments of pages and topic clusters of queries.
#[api_trait(tag = Classifications, routes = ClassificationsRoutes)]
pub trait ClassificationsApi: Send + Sync + 'static {
    /// Branded keywords of a property
    ///
    /// Ordered by keyword. A query is branded when it contains a keyword between word boundaries, ignoring case. `suggest=true` adds
    /// terms to look at, each with its evidence from the queries. If queries cannot be read, these are from the name of the site alone.
    #[get("/api/properties/{id}/branded-keywords")]
    #[scope(SearchRead)]
    async fn list_property_branded_keywords(
        &self,
        caller: Caller,
        params: Params<BrandedKeywordsParams>,
    ) -> Answered<Rendered<BrandedKeywordsAnswer>>;

    /// Add branded keywords
    ///
    /// Existing keywords, ignoring case, are unchanged. The answer lists all keywords of the property. At most 200 per property.
    #[post("/api/properties/{id}/branded-keywords")]
    #[idempotency(enforced)]
    #[role(Editor)]
    #[errors(FilterTooComplex)]
    #[scope(RecordsWrite)]
    async fn create_property_branded_keywords(
        &self,
        caller: Caller,
        body: Body<BrandedKeywordsInput>,
    ) -> Answered<Created<Vec<BrandedKeyword>>>;

    /// Preview of branded keywords
    ///
    /// Stores nothing. Counts web search in the last 28 final days as if the property also had these keywords. Takes the
    /// body of `createPropertyBrandedKeywords`, and is refused for the same reasons.
    #[post("/api/properties/{id}/branded-keywords/preview")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[errors(FilterTooComplex, SearchAccountDisconnected, SearchSiteRefused, SearchEngineUnavailable)]
    #[scope(SearchRead)]
    async fn preview_property_branded_keywords(
        &self,
        caller: Caller,
        body: Body<BrandedKeywordsInput>,
    ) -> Answered<Rendered<ClassificationPreviewAnswer>>;

    /// Remove a branded keyword
    ///
    /// Answers 404 if the property has no such keyword.
    #[delete("/api/properties/{id}/branded-keywords")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[scope(RecordsWrite)]
    async fn delete_property_branded_keyword(
        &self,
        caller: Caller,
        params: Params<BrandedKeywordParams>,
    ) -> Answered<NoContent>;

    /// Segments of a property
    ///
    /// Saved classifications of pages, ordered by name.
    #[get("/api/properties/{id}/segments")]
    #[scope(SearchRead)]
    async fn list_property_segments(&self, caller: Caller, params: Params<Paging>) -> Answered<Listed<Segment>>;

    /// Create a segment
    ///
    /// Conditions that could not be used as filters are refused. As JSON they take at most 60,000 bytes. A property has
    /// at most 500 segments, with conditions of at most 4 MiB in total.
    #[post("/api/properties/{id}/segments")]
    #[idempotency(enforced)]
    #[role(Editor)]
    #[errors(FilterTooComplex)]
    #[scope(RecordsWrite)]
    async fn create_property_segment(&self, caller: Caller, body: Body<SegmentInput>) -> Answered<Created<Segment>>;

    /// Preview of a segment
    ///
    /// Stores nothing. Counts the pages and the traffic that the conditions match in web search in the last 28 final days. Takes the
    /// body of `createPropertySegment`; `name` and `color` make no difference. Conditions are refused for the same reasons.
    #[post("/api/properties/{id}/segments/preview")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[errors(FilterTooComplex, SearchAccountDisconnected, SearchSiteRefused, SearchEngineUnavailable)]
    #[scope(SearchRead)]
    async fn preview_property_segment(
        &self,
        caller: Caller,
        body: Body<ClassificationPreviewInput>,
    ) -> Answered<Rendered<ClassificationPreviewAnswer>>;

    /// A segment
    ///
    /// As `listPropertySegments` shows it.
    #[get("/api/properties/{id}/segments/{segmentId}")]
    #[scope(SearchRead)]
    async fn get_property_segment(
        &self,
        caller: Caller,
        segment_id: Path<Uuid>,
        ignored: Params<Ignored>,
    ) -> Answered<Record<Segment>>;

    /// Replace a segment
    ///
    /// Replaces the whole record: without `color`, the colour is removed. Requests that use it apply the new conditions immediately.
    #[put("/api/properties/{id}/segments/{segmentId}")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[errors(FilterTooComplex)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn update_property_segment(
        &self,
        caller: Caller,
        segment_id: Path<Uuid>,
        body: Body<SegmentInput>,
    ) -> Answered<Answer<Segment>>;

    /// Delete a segment
    ///
    /// Requests that use it answer 404 from then on.
    #[delete("/api/properties/{id}/segments/{segmentId}")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn delete_property_segment(&self, caller: Caller, segment_id: Path<Uuid>) -> Answered<NoContent>;

    /// Topic clusters of a property
    ///
    /// Saved classifications of queries, ordered by name.
    #[get("/api/properties/{id}/topic-clusters")]
    #[scope(SearchRead)]
    async fn list_property_topic_clusters(
        &self,
        caller: Caller,
        params: Params<Paging>,
    ) -> Answered<Listed<TopicCluster>>;

    /// Create a topic cluster
    ///
    /// Conditions that could not be used as filters are refused. As JSON they take at most 60,000 bytes. A property has
    /// at most 500 topic clusters, with conditions of at most 4 MiB in total.
    #[post("/api/properties/{id}/topic-clusters")]
    #[idempotency(enforced)]
    #[role(Editor)]
    #[errors(FilterTooComplex)]
    #[scope(RecordsWrite)]
    async fn create_property_topic_cluster(
        &self,
        caller: Caller,
        body: Body<TopicClusterInput>,
    ) -> Answered<Created<TopicCluster>>;

    /// Preview of a topic cluster
    ///
    /// Stores nothing. Counts the queries and the traffic that the conditions match in web search in the last 28 final days. Takes the
    /// body of `createPropertyTopicCluster`; `name` and `color` make no difference. Conditions are refused for the same reasons.
    #[post("/api/properties/{id}/topic-clusters/preview")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[errors(FilterTooComplex, SearchAccountDisconnected, SearchSiteRefused, SearchEngineUnavailable)]
    #[scope(SearchRead)]
    async fn preview_property_topic_cluster(
        &self,
        caller: Caller,
        body: Body<ClassificationPreviewInput>,
    ) -> Answered<Rendered<ClassificationPreviewAnswer>>;

    /// A topic cluster
    ///
    /// As `listPropertyTopicClusters` shows it.
    #[get("/api/properties/{id}/topic-clusters/{clusterId}")]
    #[scope(SearchRead)]
    async fn get_property_topic_cluster(
        &self,
        caller: Caller,
        cluster_id: Path<Uuid>,
        ignored: Params<Ignored>,
    ) -> Answered<Record<TopicCluster>>;

    /// Replace a topic cluster
    ///
    /// Replaces the whole record: without `color`, the colour is removed. Requests that use it apply the new conditions immediately.
    #[put("/api/properties/{id}/topic-clusters/{clusterId}")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[errors(FilterTooComplex)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn update_property_topic_cluster(
        &self,
        caller: Caller,
        cluster_id: Path<Uuid>,
        body: Body<TopicClusterInput>,
    ) -> Answered<Answer<TopicCluster>>;

    /// Delete a topic cluster
    ///
    /// Requests that use it answer 404 from then on.
    #[delete("/api/properties/{id}/topic-clusters/{clusterId}")]
    #[idempotency(ignored)]
    #[role(Editor)]
    #[if_match]
    #[scope(RecordsWrite)]
    async fn delete_property_topic_cluster(&self, caller: Caller, cluster_id: Path<Uuid>) -> Answered<NoContent>;
}

/// A term that makes a query branded.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase")]
pub struct BrandedKeyword {
    /// The term.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub keyword: String,
    /// Time when it was added.
    pub created_at: Timestamp,
}

/// Terms to add.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields)]
pub struct BrandedKeywordsInput {
    /// Each 1 to 100 characters, with at least one letter or digit, without control characters and marks of direction.
    #[oai(validator(
        min_items = 1,
        max_items = 200,
        min_length = 1,
        max_length = 100,
        pattern = r"^[^\x00-\x1F\x7F]*[0-9A-Za-z\u00AA-\U0010FFFF][^\x00-\x1F\x7F]*$"
    ))]
    pub keywords: Vec<String>,
}

/// Parameters of the removal.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct BrandedKeywordParams {
    /// The keyword to remove, ignoring case.
    #[param(example = "acme")]
    pub keyword: Text<100>,
}

/// A condition on the page's URL (in a segment) or on the query (in a topic cluster).
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize, Deserialize)]
#[oai(deny_unknown_fields, skip_serializing_if_is_none)]
#[serde(deny_unknown_fields)]
pub struct ClassificationCondition {
    /// Comparison operator.
    pub operator: FilterOperator,
    /// Value to compare with.
    #[oai(validator(min_length = 1, max_length = 4096, pattern = r"^[^\x00]+$"))]
    pub value: String,
    /// Operator that joins it to the condition before it; absent means `and`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logic: Option<FilterLogic>,
}

/// A saved classification of pages; `segment:<id>` selects it.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct Segment {
    /// The segment's id.
    pub id: Uuid,
    /// Name.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub name: String,
    /// Colour in charts, `#rrggbb`.
    #[oai(validator(max_length = 7, pattern = "^#[0-9A-Fa-f]{6}$"))]
    pub color: Option<String>,
    /// Conditions on a page's URL.
    #[oai(validator(min_items = 1, max_items = 50))]
    pub conditions: Vec<ClassificationCondition>,
    /// Name of the user who made it, or else that user's verified e-mail address; absent if the user is unknown or has left.
    #[oai(validator(max_length = 320))]
    pub created_by: Option<String>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Content of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields, skip_serializing_if_is_none)]
pub struct SegmentInput {
    /// Name.
    #[oai(validator(max_length = 100))]
    pub name: Name,
    /// Colour in charts, `#rrggbb`.
    #[oai(validator(max_length = 7, pattern = "^#[0-9A-Fa-f]{6}$"))]
    pub color: Option<String>,
    /// Conditions on a page's URL; `and` binds tighter than `or`.
    #[oai(validator(min_items = 1, max_items = 50))]
    pub conditions: Vec<ClassificationCondition>,
}

/// A saved classification of queries; `topicCluster:<id>` selects it.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct TopicCluster {
    /// The cluster's id.
    pub id: Uuid,
    /// Name.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub name: String,
    /// Colour in charts, `#rrggbb`.
    #[oai(validator(max_length = 7, pattern = "^#[0-9A-Fa-f]{6}$"))]
    pub color: Option<String>,
    /// Conditions on a query.
    #[oai(validator(min_items = 1, max_items = 50))]
    pub conditions: Vec<ClassificationCondition>,
    /// Name of the user who made it, or else that user's verified e-mail address; absent if the user is unknown or has left.
    #[oai(validator(max_length = 320))]
    pub created_by: Option<String>,
    /// Version of the record; send it in `If-Match`.
    #[oai(validator(max_length = 128))]
    pub etag: String,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Content of a topic cluster.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields, skip_serializing_if_is_none)]
pub struct TopicClusterInput {
    /// Name.
    #[oai(validator(max_length = 100))]
    pub name: Name,
    /// Colour in charts, `#rrggbb`.
    #[oai(validator(max_length = 7, pattern = "^#[0-9A-Fa-f]{6}$"))]
    pub color: Option<String>,
    /// Conditions on a query; `and` binds tighter than `or`. Anonymised queries satisfy none.
    #[oai(validator(min_items = 1, max_items = 50))]
    pub conditions: Vec<ClassificationCondition>,
}
