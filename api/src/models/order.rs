//! The order and the page of lists.

use serde::Serialize;

use crate::params::{MetricFilters, QueryParams, Sort, Whole};

/// Rows to skip in a list.
pub type Offset = Whole<0, 100_000>;

/// The order of the rows of a list, and conditions on their metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq, QueryParams, Serialize)]
pub struct OrderParams {
    /// Sorts the rows of every list by `clicks`, `impressions`, `ctr` or `position`, or with a comparison by a change, such as
    /// `change.clicks` or `change.clicks.percent` (without an ending: absolute). A minus in front puts the largest first. Equal
    /// rows are ordered by key. Rows without the value come last: those of the window by key, then those that only the comparison
    /// window has, in the list's own order. Without it: the order that each list describes.
    #[param(example = "-impressions")]
    pub sort: Option<Sort>,
    /// Leaves out rows that do not satisfy all of these conditions, such as `impressions>=100,countries.clicks>0`, or with a comparison
    /// `change.clicks<0` and `presence=new` (`both`, `new`, `lost` or `unknown`). A condition names its table (`queries`, `pages`,
    /// `countries`, `devices`, `searchAppearances`); without a table it is one on `queries` and `pages`, or on the only list of rows by any
    /// dimensions, which has no name. Rows that only the comparison window has satisfy no condition on a metric of the window.
    /// Conditions apply to the rows that were read and never change totals; `coverage.rowsMatched` counts the rows that are left.
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
