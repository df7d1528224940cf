//! Daily unique queries.

use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, Period, PositionBucket};
use crate::{
    models::{CountChange, CountSeriesParams, Question, Slice, WindowParams},
    params::{Echo, QueryParams},
};

/// Parameters of the query count.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "QueryCountQuestion")]
pub struct QueryCountParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The periods of the series.
    #[param(flatten)]
    pub series: CountSeriesParams,
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
    /// True begins the file with a byte order mark, which spreadsheets need to show letters beyond ASCII.
    #[param(default = "false", example = "true")]
    pub bom: bool,
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
    /// Distinct queries of the window, with a comparison of its compared days; not the sum of its days. Null where no day is
    /// counted: `meta.status` is `not_final_yet`.
    #[oai(nullable)]
    pub unique_queries: Option<u64>,
    /// Distinct queries of the comparison window's compared days; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<u64>,
    /// `uniqueQueries` minus `previous`; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<CountChange>,
    /// Every period of the days that count.
    pub series: Vec<QueryCountPoint>,
    /// The periods of the compared days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<QueryCountPoint>>,
}

/// One period of a series.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct QueryCountPoint {
    /// The period.
    #[oai(flatten)]
    #[serde(flatten)]
    pub period: Period,
    /// Distinct queries.
    pub queries: u64,
    /// Distinct queries by their position in the period; always all four buckets, best first.
    #[oai(validator(min_items = 4, max_items = 4))]
    pub buckets: Vec<BucketCount>,
    /// True if the rows of a day reached the search engine's cap. The count is then a lower bound.
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
    /// Rows by day and query that were counted.
    pub rows_known: u64,
    /// Days of the series.
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
