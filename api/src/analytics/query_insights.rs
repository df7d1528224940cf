//! Visibility, position distribution, branded split and movers.

use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, BrandedSplit, CurveSource, Period, PositionBucket, PositionCtr, QueryCoverage, TableRow};
use crate::{
    models::{CountSeriesParams, OffsetParams, OrderParams, Question},
    params::{Echo, QueryParams, Whole},
};

/// Parameters of the query insights.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "QueryInsightsQuestion")]
pub struct QueryInsightsParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The periods of the series.
    #[param(flatten)]
    pub series: CountSeriesParams,
    /// Minimum impressions, in either window, of a query listed as new, lost or moving.
    #[param(default = "10", example = "10")]
    pub min_impressions: Whole<1, 1_000_000>,
    /// Includes branded queries in `ctrByPosition`. By default they are left out where the property has branded keywords, because a
    /// brand is clicked far more at every position. `classification=branded` includes them, too.
    #[param(default = "false", example = "false")]
    pub include_branded: bool,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// The first row.
    #[param(flatten)]
    pub offset: OffsetParams,
    /// Maximum number of rows in each list of queries.
    #[param(default = "50", example = "50")]
    pub limit: Whole<1, 500>,
}

/// Insights from a property's queries.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct QueryInsightsAnswer {
    /// The results.
    pub data: QueryInsights,
    /// Metadata of the answer.
    pub meta: QueryInsightsMeta,
}

/// The results.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct QueryInsights {
    /// Identified queries by position; all four buckets, best first. Null where no day is counted: `meta.status` is `not_final_yet`.
    #[oai(nullable, validator(min_items = 4, max_items = 4))]
    pub distribution: Option<Vec<BucketRow>>,
    /// Distribution in the comparison window; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(min_items = 4, max_items = 4))]
    pub previous_distribution: Option<Vec<BucketRow>>,
    /// The visibility index.
    pub visibility: Visibility,
    /// The property's own CTR by rounded average position of its identified queries, from 1 to 20. Null where no day is counted.
    #[oai(nullable, validator(min_items = 20, max_items = 20))]
    pub ctr_by_position: Option<Vec<PositionCtr>>,
    /// The split by branded keywords; absent for a property without branded keywords.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branded_split: Option<BrandedSplit>,
    /// New, lost and moving queries; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub movers: Option<QueryMovers>,
}

/// The identified queries in a bucket of positions.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct BucketRow {
    /// The bucket.
    pub bucket: PositionBucket,
    /// Number of queries.
    pub queries: u64,
    /// Clicks of these queries.
    pub clicks: u64,
    /// Impressions of these queries.
    pub impressions: u64,
    /// Share of the identified queries, 0 to 1; null without queries.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub queries_share: Option<f64>,
    /// Share of the identified queries' clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub clicks_share: Option<f64>,
    /// Share of the identified queries' impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub impressions_share: Option<f64>,
}

/// `100 × Σ(impressions × C(position)) ÷ Σ(impressions × C(1))` over identified queries, where C is the static CTR
/// curve. It is 100 when every query ranks first, 0 when none ranks in the first twenty. A heuristic: impressions
/// themselves depend on ranking.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Visibility {
    /// The index; null without impressions, and where no day is counted.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub index: Option<f64>,
    /// Index of the comparison window; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub previous: Option<f64>,
    /// `index` minus `previous`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// Every period of the days that count.
    pub series: Vec<VisibilityPoint>,
    /// The periods of the compared days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<VisibilityPoint>>,
}

/// Visibility in one period, from its queries and positions.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct VisibilityPoint {
    /// The period.
    #[oai(flatten)]
    #[serde(flatten)]
    pub period: Period,
    /// The period's index; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub index: Option<f64>,
    /// The period's identified queries by position; always all four buckets, best first.
    #[oai(validator(min_items = 4, max_items = 4))]
    pub buckets: Vec<BucketTally>,
    /// True if the rows of a day reached the search engine's cap, so there may be more queries.
    pub capped: bool,
}

/// One bucket of positions on one day.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
pub struct BucketTally {
    /// The bucket.
    pub bucket: PositionBucket,
    /// Number of queries.
    pub queries: u64,
    /// Clicks of these queries.
    pub clicks: u64,
    /// Impressions of these queries.
    pub impressions: u64,
}

/// New, lost and moving queries, over the compared days of both windows. No query is in two lists.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct QueryMovers {
    /// Queries only in the current window; most impressions first. Empty when the comparison window's list was cut at its cap.
    #[oai(validator(max_items = 500))]
    pub new: Vec<TableRow>,
    /// Queries only in the comparison window; most impressions there first. Empty when the current window's list was
    /// cut at its cap.
    #[oai(validator(max_items = 500))]
    pub lost: Vec<TableRow>,
    /// Queries in one window's rows only, while the other window's list was cut and may contain them; most impressions first.
    #[oai(validator(max_items = 500))]
    pub unknown: Vec<TableRow>,
    /// Queries in both windows with a change; largest change in clicks first, up or down, then in impressions.
    #[oai(validator(max_items = 500))]
    pub moving: Vec<TableRow>,
}

/// Metadata of the answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryInsightsMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<QueryInsightsParams>,
    /// Coverage: the part of the data that was analysed.
    pub coverage: QueryCoverage,
    /// The thresholds used.
    pub thresholds: QueryInsightsThresholds,
}

/// The thresholds used.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryInsightsThresholds {
    /// Minimum impressions of a listed query.
    pub min_impressions: u64,
    /// Curve of the visibility index.
    pub curve: CurveSource,
    /// True if branded queries were left out of `ctrByPosition`.
    pub branded_excluded: bool,
}
