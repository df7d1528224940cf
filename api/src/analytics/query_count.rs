//! Daily unique queries.

use chrono::NaiveDate;
use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, PositionBucket};
use crate::{
    models::{Slice, WindowParams},
    params::{Echo, Ignored, QueryParams},
};

/// Parameters of the query count.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "QueryCountQuestion")]
pub struct QueryCountParams {
    /// The window.
    #[param(flatten)]
    pub window: WindowParams,
    /// The slice.
    #[param(flatten)]
    pub slice: Slice,
    /// The parameters that mean nothing to the operation.
    #[param(flatten)]
    pub ignored: Ignored,
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
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryCount {
    /// Distinct queries of the whole window; not the sum of its days.
    pub unique_queries: u64,
    /// Every day of the window up to the last final one.
    pub series: Vec<QueryCountPoint>,
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
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryCountCoverage {
    /// Days counted.
    pub days: u64,
    /// Days whose rows reached the search engine's cap.
    pub days_capped: u64,
}
