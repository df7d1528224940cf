//! What an analytics answer says about itself.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;

/// A window of days, both included, in the search engine's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct DateRange {
    /// First day.
    pub start_date: NaiveDate,
    /// Last day.
    pub end_date: NaiveDate,
}

/// How impressions and positions are counted. `byProperty` counts a results page once, `byPage` counts each URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub enum Aggregation {
    /// Once per property and results page.
    ByProperty,
    /// Once per URL.
    ByPage,
}

/// Whether there was anything to analyse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AnalysisStatus {
    /// The window holds search data.
    Analysed,
    /// The search engine has no data for this question.
    NoSearchData,
}

/// How recent the search data is.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Freshness {
    /// The last day whose numbers are final. Answers hold final data only.
    pub last_final_date: NaiveDate,
    /// The first day that the search engine is still counting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_incomplete_date: Option<NaiveDate>,
    /// The time zone of every date.
    #[oai(validator(max_length = 64))]
    pub time_zone: String,
}

/// How much of the truth a breakdown table shows. Query rows never sum to the total, because the search engine leaves
/// anonymised queries out.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct TableCoverage {
    /// Whether the search type has this table at all; if not, only `reason` says more.
    pub available: bool,
    /// Why the table is not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_length = 200))]
    pub reason: Option<String>,
    /// How this table counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,
    /// Rows of the window in this answer; rows that only the comparison window has are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_shown: Option<u64>,
    /// Rows the search engine returned, up to the fetch ceiling: 5,000 for query and page tables, 50,000 for analyses of queries,
    /// after branded ones are left out where the analysis does so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_known: Option<u64>,
    /// Whether `rowsKnown` stands at the fetch ceiling and means that many or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rows_capped: Option<bool>,
    /// Clicks of the rows shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clicks: Option<u64>,
    /// Clicks of the rows shown ÷ clicks of the same question without query conditions; absent where rows overlap, and
    /// without clicks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
}
