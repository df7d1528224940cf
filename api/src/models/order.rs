//! The order and the page of lists.

use serde::Serialize;

use crate::params::{MetricFilters, QueryParams, Sort, Whole};

/// Rows to skip in a list.
pub type Offset = Whole<0, 100_000>;

/// The order of the rows of a list, and conditions on their metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq, QueryParams, Serialize)]
pub struct OrderParams {
    /// Sorts the rows of every list by `clicks`, `impressions`, `ctr` or `position`, or with a comparison by a change, such as
    /// `change.clicks` or `change.clicks.percent` (without an ending: absolute). A minus in front puts the largest first. Rows
    /// without the value come last, and equal ones are ordered by key. Without it: the order that each list describes.
    #[param(example = "-impressions")]
    pub sort: Option<Sort>,
    /// Leaves out rows whose metrics do not satisfy all of these conditions, such as `impressions>=100,position<=10`. They
    /// apply to the rows that were read and never change totals; `coverage.rowsMatched` counts the rows that are left.
    /// Without it: all rows.
    #[param(example = "impressions>=100,position<=10")]
    pub metric_filters: Option<MetricFilters>,
}

/// The first row of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, QueryParams, Serialize)]
pub struct OffsetParams {
    /// Number of rows to skip, in each list.
    #[param(default = "0", example = "100")]
    pub offset: Offset,
}
