//! Schemas of the performance answer.

use poem_openapi::{Enum, Object};
use serde::Serialize;

use super::{AnswerMeta, ExplainedEvent, Explanation, Period, PropertyPerformanceParams, Unusual, Usual};
use crate::{
    models::{
        Change, Dimension, Metrics, Offset, OrderParams, Presence, Question, RowLimit, SeriesParams, TableCoverage,
    },
    params::{Echo, QueryParams},
};

/// Parts of the performance answer to return besides the totals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Nothing besides the totals.
    Totals,
    /// The series.
    Series,
    /// The breakdown tables.
    Tables,
    /// Everything.
    All,
}

crate::enum_param!(Scope);

impl Scope {
    /// Returns whether the daily series is wanted.
    #[must_use]
    pub fn has_series(self) -> bool {
        matches!(self, Self::Series | Self::All)
    }

    /// Returns whether the breakdown tables are wanted.
    #[must_use]
    pub fn has_tables(self) -> bool {
        matches!(self, Self::Tables | Self::All)
    }
}

/// Parameters of a performance question.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
pub struct PerformanceParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The periods of the series.
    #[param(flatten)]
    pub series: SeriesParams,
    /// Parts to return besides the totals: `series` for the series, `tables` for the breakdown tables, `all` for both,
    /// `totals` for none.
    #[param(default = "series", example = "all")]
    pub scope: Scope,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// Maximum number of rows in the query table.
    #[param(default = "500", example = "500")]
    pub query_limit: RowLimit,
    /// Maximum number of rows in the page table.
    #[param(default = "500", example = "500")]
    pub page_limit: RowLimit,
    /// Number of rows of the query table to skip.
    #[param(default = "0", example = "500")]
    pub query_offset: Offset,
    /// Number of rows of the page table to skip.
    #[param(default = "0", example = "500")]
    pub page_offset: Offset,
}

/// The performance of a property.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct PerformanceAnswer {
    /// Totals, series and tables.
    pub data: Performance,
    /// Metadata of the answer.
    pub meta: PerformanceMeta,
}

/// Totals, and the parts that `scope` selects.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Performance {
    /// From an ungrouped upstream request, so they include anonymised queries (unless a query condition excludes them). Null where
    /// no day is counted: `meta.status` is `not_final_yet`.
    #[oai(nullable)]
    pub totals: Option<Totals>,
    /// Every period of the days that count; periods without data are zeros.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Vec<SeriesPoint>>,
    /// The periods of the compared days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<SeriesPoint>>,
    /// The last days of the window, if they are not usual; absent unless `usual` is true, and where they are usual.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unusual: Option<Unusual>,
    /// The breakdown tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables: Option<Tables>,
    /// System annotations that overlap one of the windows, newest first: events, not causes. Absent unless `includeSystem` is true,
    /// and on share links that hide annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_items = 1000))]
    pub events: Option<Vec<ExplainedEvent>>,
    /// The parts of the change in clicks; absent unless `explain` is true, and where one of the windows has no final day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// Metrics over the window and slice; with a comparison over the compared days of the window (`meta.days.compared`).
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct Totals {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Clicks ÷ impressions; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: Option<f64>,
    /// Impression-weighted average position; null without impressions and where the search type has none.
    #[oai(nullable, validator(minimum(value = "1")))]
    pub position: Option<f64>,
    /// Metrics of the comparison window's compared days (`meta.days.compared`); absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Metrics>,
    /// These metrics minus `previous`; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// One period of a series.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct SeriesPoint {
    /// The period.
    #[oai(flatten)]
    #[serde(flatten)]
    pub period: Period,
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Clicks ÷ impressions; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: Option<f64>,
    /// Impression-weighted average position; null without impressions and where the search type has none.
    #[oai(nullable, validator(minimum(value = "1")))]
    pub position: Option<f64>,
    /// The usual range of the day; absent unless `usual` is true, and where fewer than 4 of the 8 days are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual: Option<Usual>,
}

/// The breakdown tables, each ordered by clicks, then impressions, then key. With a comparison, rows that only the comparison window
/// has come last, ordered by their clicks there. A table that the search type lacks, or a share link hides, is absent.
#[derive(Debug, Clone, Default, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Tables {
    /// By search query.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_items = 5000))]
    pub queries: Option<Vec<TableRow>>,
    /// By page URL, counted `byPage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_items = 5000))]
    pub pages: Option<Vec<TableRow>>,
    /// By country, lower-case ISO 3166-1 alpha-3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub countries: Option<Vec<TableRow>>,
    /// By device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<Vec<TableRow>>,
    /// By search appearance; rows overlap and do not add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search_appearances: Option<Vec<TableRow>>,
}

impl Tables {
    /// The rows by a dimension. `None` without its table.
    #[must_use]
    pub fn by(&self, dimension: Dimension) -> Option<&[TableRow]> {
        let rows = match dimension {
            Dimension::Query => &self.queries,
            Dimension::Page => &self.pages,
            Dimension::Country => &self.countries,
            Dimension::Device => &self.devices,
            Dimension::SearchAppearance => &self.search_appearances,
        };
        rows.as_deref()
    }
}

/// One row of a breakdown table.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct TableRow {
    /// The query, URL, country, device or search appearance.
    pub key: String,
    /// Name of the country, device or search appearance for people, such as `Germany`; the key where it has none. Absent on rows of
    /// queries and pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Clicks; null on a row that only the comparison window has.
    #[oai(nullable)]
    pub clicks: Option<u64>,
    /// Impressions; null on a row that only the comparison window has.
    #[oai(nullable)]
    pub impressions: Option<u64>,
    /// Clicks ÷ impressions; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: Option<f64>,
    /// Impression-weighted average position; null without impressions and where the search type has none.
    #[oai(nullable, validator(minimum(value = "1")))]
    pub position: Option<f64>,
    /// Metrics of the comparison window's compared days (`meta.days.compared`); absent without a comparison and on rows that these
    /// days lack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Metrics>,
    /// The row's metrics minus `previous`. A window that lacks the key counts as no clicks and no impressions. Absent without a
    /// comparison and where `presence` is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Windows whose rows contain the key; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
}

/// Metadata of a performance answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct PerformanceMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<PropertyPerformanceParams>,
    /// Coverage of each table; absent without tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<PerformanceCoverage>,
}

/// Coverage of each breakdown table.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct PerformanceCoverage {
    /// Coverage of the query table.
    pub queries: TableCoverage,
    /// Coverage of the page table.
    pub pages: TableCoverage,
    /// Coverage of the country table.
    pub countries: TableCoverage,
    /// Coverage of the device table.
    pub devices: TableCoverage,
    /// Coverage of the search-appearance table, whose rows overlap.
    pub search_appearances: TableCoverage,
}

impl PerformanceCoverage {
    /// The coverage of the table of rows by a dimension.
    #[must_use]
    pub fn by(&self, dimension: Dimension) -> &TableCoverage {
        match dimension {
            Dimension::Query => &self.queries,
            Dimension::Page => &self.pages,
            Dimension::Country => &self.countries,
            Dimension::Device => &self.devices,
            Dimension::SearchAppearance => &self.search_appearances,
        }
    }
}
