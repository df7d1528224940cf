//! Daily unique queries.

use chrono::NaiveDate;
use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, PositionBucket};
use crate::{
    models::{CountChange, Question, Slice, WindowParams},
    params::{Echo, QueryParams},
};

/// Parameters of the query count.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "QueryCountQuestion")]
pub struct QueryCountParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
}

/// Parameters of the rows behind the query count.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct QueryCountRowsParams {
    /// The window.
    #[param(flatten)]
    pub window: WindowParams,
    /// The slice.
    #[param(flatten)]
    pub slice: Slice,
}

/// Daily unique queries.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct QueryCountAnswer {
    /// The counts.
    pub data: QueryCount,
    /// Metadata of the answer.
    pub meta: QueryCountMeta,
}

/// Counts of identified queries with at least one impression on the day. Anonymised queries are never counted.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct QueryCount {
    /// Distinct queries of the whole window; not the sum of its days.
    pub unique_queries: u64,
    /// Distinct queries of the comparison window; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<u64>,
    /// Current minus previous; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<CountChange>,
    /// Every day of the window up to the last final one.
    pub series: Vec<QueryCountPoint>,
    /// The days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<QueryCountPoint>>,
}

/// One day.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct QueryCountPoint {
    /// The day.
    pub date: NaiveDate,
    /// Distinct queries.
    pub queries: u64,
    /// Distinct queries by that day's position; always all four buckets, best first.
    #[oai(validator(min_items = 4, max_items = 4))]
    pub buckets: Vec<BucketCount>,
    /// True if the day's rows reached the search engine's cap. The count is then a lower bound.
    pub capped: bool,
}

/// Distinct queries in a bucket of positions.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
pub struct BucketCount {
    /// The bucket.
    pub bucket: PositionBucket,
    /// Distinct queries.
    pub queries: u64,
}

/// Metadata of the answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryCountMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<QueryCountParams>,
    /// Days counted, and the capped ones among them.
    pub coverage: QueryCountCoverage,
}

/// Days counted, and the capped ones among them.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct QueryCountCoverage {
    /// Days counted.
    pub days: u64,
    /// Days whose rows reached the search engine's cap.
    pub days_capped: u64,
    /// Days of the comparison window that were counted; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_days: Option<u64>,
    /// Days of the comparison window whose rows reached the search engine's cap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_days_capped: Option<u64>,
}
