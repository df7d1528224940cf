//! Daily unique queries.

use chrono::NaiveDate;
use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, PositionBucket};
use crate::{
    models::{Slice, WindowParams},
    params::QueryParams,
};

/// Parameters of the query count and of the rows behind it.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
pub struct QueryCountParams {
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
    /// What was counted.
    pub data: QueryCount,
    /// What the answer says about itself.
    pub meta: QueryCountMeta,
}

/// What was counted: identified queries with at least one impression on the day. Anonymised queries never count.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryCount {
    /// Distinct queries of the whole window; less than the sum of its days.
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
    /// The same by that day's position; always all four buckets, best first.
    #[oai(validator(min_items = 4, max_items = 4))]
    pub buckets: Vec<BucketCount>,
    /// Whether the day's rows stand at the search engine's cap, so that its count is a lower bound.
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

/// What the answer says about itself.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryCountMeta {
    /// As on every analytics answer.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// How many days are complete.
    pub coverage: QueryCountCoverage,
}

/// How many days are complete.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct QueryCountCoverage {
    /// Days counted.
    pub days: u64,
    /// Days whose rows stand at the search engine's cap.
    pub days_capped: u64,
}
