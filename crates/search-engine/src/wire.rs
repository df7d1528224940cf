//! The search engine's wire format: names of sites, and requests of `searchAnalytics.query` of the webmasters v3 surface.

use std::fmt;

use api::{
    analytics::RowDimension,
    models::{self, Aggregation, SearchType, parse_day},
};
use chrono::NaiveDate;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

/// The maximum length of an expression, in characters.
pub const MAX_EXPRESSION: usize = 4_096;

/// The number of months for which the search engine keeps data.
pub const HISTORY_MONTHS: u32 = 16;

/// The length of a date at the beginning of a key.
pub const DATE: usize = "2026-11-19".len();

/// Reads the day of an hour that is written as the search engine writes it: a full hour of its time zone, in winter or in summer. So no hour
/// has two names.
#[must_use]
pub fn day_of_hour(key: &str) -> Option<NaiveDate> {
    let (day, time) = key.split_once('T')?;
    let hour = [":00:00-08:00", ":00:00-07:00"].into_iter().find_map(|end| time.strip_suffix(end))?;
    let is_hour = hour.len() == 2 && hour.bytes().all(|byte| byte.is_ascii_digit()) && hour < "24";
    parse_day(day).ok().filter(|_| is_hour)
}

/// Characters that need no escaping in a path segment. `:` and `/` in a site's name are escaped.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The search engine's name of a site, byte for byte (`sc-domain:example.com` or `https://www.example.com/`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteUrl(pub String);

impl SiteUrl {
    /// The name as one path segment.
    #[must_use]
    pub fn segment(&self) -> String {
        utf8_percent_encode(&self.0, SEGMENT).to_string()
    }
}

impl fmt::Display for SiteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A dimension to group rows by: one of the API, or the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Dimension {
    /// The day.
    Date,
    /// The hour, such as `2026-11-19T03:00:00-08:00`.
    Hour,
    /// The query.
    Query,
    /// The page's URL.
    Page,
    /// Lower-case ISO 3166-1 alpha-3.
    Country,
    /// `DESKTOP`, `MOBILE`, `TABLET`.
    Device,
    /// Upper-case names. Rows overlap.
    SearchAppearance,
}

impl From<models::Dimension> for Dimension {
    fn from(dimension: models::Dimension) -> Self {
        match dimension {
            models::Dimension::Query => Self::Query,
            models::Dimension::Page => Self::Page,
            models::Dimension::Country => Self::Country,
            models::Dimension::Device => Self::Device,
            models::Dimension::SearchAppearance => Self::SearchAppearance,
        }
    }
}

impl From<RowDimension> for Dimension {
    fn from(row: RowDimension) -> Self {
        row.dimension().map_or(Self::Date, Self::from)
    }
}

impl Dimension {
    /// The dimension of the API, unless it is one of time.
    #[must_use]
    pub fn of_rows(self) -> Option<models::Dimension> {
        models::Dimension::ALL.into_iter().find(|dimension| Self::from(*dimension) == self)
    }

    /// The name on the wire, here and upstream.
    #[must_use]
    pub fn name(self) -> &'static str {
        let of_time = if self == Self::Hour { "hour" } else { "date" };
        self.of_rows().map_or(of_time, models::Dimension::name)
    }

    /// Returns whether rows of `search_type` can be grouped and filtered by it.
    #[must_use]
    pub fn is_in(self, search_type: SearchType) -> bool {
        self.of_rows().is_none_or(|dimension| search_type.has(dimension))
    }
}

/// Includes or excludes days with incomplete data. The parameter of the API has no value for hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum DataState {
    /// Final days only.
    Final,
    /// All days.
    All,
    /// All hours. Only for rows by hour.
    #[serde(rename = "hourly_all")]
    HourlyAll,
}

/// The comparison of an upstream filter. `Equals` and `NotEquals` are exact on query and page. `Contains` and `NotContains`
/// ignore case. The regular expressions are RE2, unanchored and case-sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FilterOperator {
    /// `equals`.
    Equals,
    /// `notEquals`.
    NotEquals,
    /// `contains`.
    Contains,
    /// `notContains`.
    NotContains,
    /// `includingRegex`.
    IncludingRegex,
    /// `excludingRegex`.
    ExcludingRegex,
}

/// One upstream filter. All filters of a request must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Filter {
    /// The compared dimension.
    pub dimension: Dimension,
    /// The comparison.
    pub operator: FilterOperator,
    /// The value or pattern to compare with.
    pub expression: String,
}

/// Body of `searchAnalytics.query`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryRequest {
    /// First day.
    pub start_date: NaiveDate,
    /// Last day, included.
    pub end_date: NaiveDate,
    /// Dimensions to group by. Empty for one row of totals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<Dimension>,
    /// The search type.
    #[serde(rename = "type")]
    pub search_type: SearchType,
    /// Filters, all of which hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dimension_filter_groups: Vec<FilterGroup>,
    /// Absent: the search engine chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregation_type: Option<Aggregation>,
    /// 1 to 25,000.
    pub row_limit: usize,
    /// Rows to skip.
    pub start_row: usize,
    /// Final days only, or all days.
    pub data_state: DataState,
}

/// Filters joined by AND, the only join that the search engine offers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilterGroup {
    /// Always `and`.
    pub group_type: &'static str,
    /// The filters.
    pub filters: Vec<Filter>,
}

impl FilterGroup {
    /// The group that joins `filters` by AND. Empty if there are no filters.
    #[must_use]
    pub fn all_of(filters: &[Filter]) -> Vec<Self> {
        if filters.is_empty() { Vec::new() } else { vec![Self { group_type: "and", filters: filters.to_vec() }] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_has_one_name() {
        for (key, is_hour) in [
            ("2026-11-19T03:00:00-08:00", true),
            ("2026-07-19T23:00:00-07:00", true),
            ("2026-11-19T24:00:00-08:00", false),
            ("2026-11-19T3:00:00-08:00", false),
            ("2026-11-19T+3:00:00-08:00", false),
            ("2026-11-19T03:30:00-08:00", false),
            ("2026-11-19T03:00:00.0-08:00", false),
            ("2026-11-19T03:00:00Z", false),
            ("2026-11-19T03:00:00-06:00", false),
            ("2026-11-19t03:00:00-08:00", false),
            ("2026-11-19 03:00:00-08:00", false),
            ("2026-11-31T03:00:00-08:00", false),
            ("2026-11-19", false),
        ] {
            assert_eq!(day_of_hour(key).is_some(), is_hour, "{key}");
        }
    }

    #[test]
    fn a_site_is_one_escaped_segment() {
        let cases = [
            ("sc-domain:example.com", "sc-domain%3Aexample.com"),
            ("https://www.example.com/", "https%3A%2F%2Fwww.example.com%2F"),
            ("https://example.com/a%20b/", "https%3A%2F%2Fexample.com%2Fa%2520b%2F"),
        ];
        for (site, segment) in cases {
            assert_eq!(SiteUrl(site.to_owned()).segment(), segment);
        }
    }
}
