//! Metadata of analytics answers.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;

/// A window of days, both ends inclusive, in the search engine's time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct DateRange {
    /// First day.
    pub start_date: NaiveDate,
    /// Last day.
    pub end_date: NaiveDate,
}

impl DateRange {
    /// Its days, in order.
    pub fn days(self) -> impl Iterator<Item = NaiveDate> {
        self.start_date.iter_days().take_while(move |day| *day <= self.end_date)
    }

    /// The number of its days.
    #[must_use]
    pub fn length(self) -> u32 {
        u32::try_from((self.end_date - self.start_date).num_days() + 1).unwrap_or_default()
    }
}

/// Counting method of impressions and positions. `byProperty` counts a results page once, `byPage` counts each URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub enum Aggregation {
    /// Once per property and results page.
    ByProperty,
    /// Once per URL.
    ByPage,
}

impl Aggregation {
    /// Its name in answers, and at the search engine.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ByProperty => "byProperty",
            Self::ByPage => "byPage",
        }
    }
}

/// Shows if there was data to analyse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum AnalysisStatus {
    /// The window holds search data.
    Analysed,
    /// The search engine has no data for this question.
    NoSearchData,
    /// No day of the window is final yet: the search engine is still counting.
    NotFinalYet,
}

/// Freshness of the search data.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Freshness {
    /// The last day with final numbers.
    pub last_final_date: NaiveDate,
    /// The first day that the search engine is still counting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_incomplete_date: Option<NaiveDate>,
    /// The time zone of every date.
    #[oai(validator(max_length = 64))]
    pub time_zone: String,
}

/// Coverage of a list of rows: the part of the data that it shows. Query rows never sum to the total, because the
/// search engine leaves anonymised queries out. An answer made of rows that it does not list has `rowsKnown` and `knownShare`
/// alone.
#[derive(Debug, Clone, Default, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct TableCoverage {
    /// True if the search type has this table and, on a share link, the link shows it. If false, only `reason` is present, too.
    pub available: bool,
    /// Reason why the table is not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_length = 200))]
    pub reason: Option<String>,
    /// Counting method of this table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation: Option<Aggregation>,
    /// Rows printed in this answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_shown: Option<u64>,
    /// Rows that the conditions leave, on all pages: `metricFilters`, and the thresholds of an analysis. Growth counts
    /// opportunities, of which a query may have two. Absent where the rows shown belong to rows of another list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_matched: Option<u64>,
    /// Rows that were read for the list, up to `rowsCeiling` in each window. A list with rows of both windows counts each key once. Branded queries do not count where the
    /// analysis leaves them out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_known: Option<u64>,
    /// Rows up to which the list is read, in each window: 5,000 for query and page tables, 25,000 for other tables, and 50,000 for analyses
    /// of queries and rows by any dimensions. By day, it is the number of rows of one day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_ceiling: Option<u64>,
    /// True if reading reached `rowsCeiling` in a window whose rows the list has, so there may be more rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_rows_capped: Option<bool>,
    /// True if more rows match than are shown: a larger offset or limit shows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
    /// False if rows that could not be read might be before or among the rows shown: the list was cut, which the search engine
    /// does by clicks, and `sort` or `metricFilters` ask for another order. Absent without these two, except where rows by date
    /// were cut: it is false then in any order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_exact: Option<bool>,
    /// Clicks of the rows shown in the window. Absent where rows overlap, as search appearances do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clicks: Option<u64>,
    /// Clicks of the rows shown ÷ clicks of the property in the window and search type, counted as this table, 0 to 1;
    /// absent where rows overlap, and without clicks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
    /// Clicks of the rows shown ÷ clicks of the slice: the same question without its conditions on queries. Absent where
    /// rows overlap, and without clicks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(minimum(value = "0")))]
    pub slice_share: Option<f64>,
    /// Clicks of all rows known ÷ clicks of the property, as in `clicksShare`. Absent where rows overlap, and without clicks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(minimum(value = "0")))]
    pub known_share: Option<f64>,
}
