//! Visibility, position distribution, branded split and movers.

use chrono::NaiveDate;
use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, BrandedSplit, CurveSource, PositionBucket, QueryCoverage, TableRow};
use crate::{
    models::Question,
    params::{QueryParams, Whole},
};

/// Parameters of the query insights.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
pub struct QueryInsightsParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The fewest impressions, in either window, of a query that is listed as new, lost or moving.
    #[param(default = "10", example = "10")]
    pub min_impressions: Whole<1, 1_000_000>,
    /// The most rows of each list of queries.
    #[param(default = "50", example = "50")]
    pub limit: Whole<1, 500>,
}

/// What queries say.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct QueryInsightsAnswer {
    /// What was found.
    pub data: QueryInsights,
    /// What the answer says about itself.
    pub meta: QueryInsightsMeta,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct QueryInsights {
    /// Identified queries by position; always all four buckets, best first.
    #[oai(validator(min_items = 4, max_items = 4))]
    pub distribution: Vec<BucketRow>,
    /// The same of the comparison window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(min_items = 4, max_items = 4))]
    pub previous_distribution: Option<Vec<BucketRow>>,
    /// The visibility index.
    pub visibility: Visibility,
    /// The split by branded keywords; absent on a property without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branded_split: Option<BrandedSplit>,
    /// Queries that came, went and moved; absent without a comparison.
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
    /// Queries in it.
    pub queries: u64,
    /// Their clicks.
    pub clicks: u64,
    /// Their impressions.
    pub impressions: u64,
    /// Share of the identified queries; null without any.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub queries_share: Option<f64>,
    /// Share of the identified queries' clicks; null without any.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub clicks_share: Option<f64>,
    /// Share of the identified queries' impressions; null without any.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub impressions_share: Option<f64>,
}

/// `100 × Σ(impressions × C(position)) ÷ Σ(impressions × C(1))` over identified queries, C being the static CTR curve: 100 when
/// every query ranks first, 0 when none is in the first twenty. A heuristic: impressions depend on ranking themselves.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Visibility {
    /// The index; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub index: Option<f64>,
    /// The comparison window's index; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(minimum(value = "0"), maximum(value = "100")))]
    pub previous: Option<f64>,
    /// Current minus previous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// Every day of the window up to the last final one.
    pub series: Vec<VisibilityPoint>,
    /// The days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<VisibilityPoint>>,
}

/// One day, by that day's queries and positions.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct VisibilityPoint {
    /// The day.
    pub date: NaiveDate,
    /// The day's index; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "100")))]
    pub index: Option<f64>,
    /// The day's identified queries by position; always all four buckets, best first.
    #[oai(validator(min_items = 4, max_items = 4))]
    pub buckets: Vec<BucketTally>,
    /// Whether the day's rows stand at the search engine's cap, so that there may be more.
    pub capped: bool,
}

/// What a bucket of positions holds on a day.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
pub struct BucketTally {
    /// The bucket.
    pub bucket: PositionBucket,
    /// Queries in it.
    pub queries: u64,
    /// Their clicks.
    pub clicks: u64,
    /// Their impressions.
    pub impressions: u64,
}

/// Queries that came, went and moved. No query stands in two lists.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct QueryMovers {
    /// Only in the current window; most impressions first. Empty when the comparison window's list was cut at its cap.
    #[oai(validator(max_items = 500))]
    pub new: Vec<TableRow>,
    /// Only in the comparison window; most impressions there first. Empty when the current window's list was cut at its cap.
    #[oai(validator(max_items = 500))]
    pub lost: Vec<TableRow>,
    /// In one window's rows only, while the other window's list was cut, so that it may be there too; most impressions first.
    #[oai(validator(max_items = 500))]
    pub unknown: Vec<TableRow>,
    /// In both, with a change; largest change in clicks first, up or down, then in impressions.
    #[oai(validator(max_items = 500))]
    pub moving: Vec<TableRow>,
}

/// What the answer says about itself.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryInsightsMeta {
    /// As on every analytics answer.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// How much of the truth was analysed.
    pub coverage: QueryCoverage,
    /// The thresholds used.
    pub thresholds: QueryInsightsThresholds,
}

/// The thresholds used.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryInsightsThresholds {
    /// The fewest impressions of a query that is listed.
    pub min_impressions: u64,
    /// The curve of the visibility index.
    pub curve: CurveSource,
}
