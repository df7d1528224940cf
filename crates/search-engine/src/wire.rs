//! The search engine's wire format: `sites.list` and `searchAnalytics.query` of the webmasters v3 surface.

use std::fmt;

use api::models::{self, parse_day};
use chrono::NaiveDate;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};

/// The maximum length of an expression, in characters.
pub const MAX_EXPRESSION: usize = 4_096;

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

/// The search type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SearchType {
    /// Web search.
    Web,
    /// Discover: no queries, no devices, no positions.
    Discover,
    /// Google News: no queries, no positions.
    GoogleNews,
    /// Image search.
    Image,
    /// Video search.
    Video,
}

impl SearchType {
    /// Returns whether rows can be grouped and filtered by `dimension`.
    #[must_use]
    pub fn has(self, dimension: Dimension) -> bool {
        match dimension {
            Dimension::Query => !matches!(self, Self::Discover | Self::GoogleNews),
            Dimension::Device => self != Self::Discover,
            _ => true,
        }
    }

    /// Returns whether results pages can be counted once per property.
    #[must_use]
    pub fn has_by_property(self) -> bool {
        !matches!(self, Self::Discover | Self::GoogleNews)
    }

    /// The name on the wire, here and upstream.
    #[must_use]
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Discover => "discover",
            Self::GoogleNews => "googleNews",
            Self::Image => "image",
            Self::Video => "video",
        }
    }
}

impl From<models::SearchType> for SearchType {
    fn from(wire: models::SearchType) -> Self {
        match wire {
            models::SearchType::Web => Self::Web,
            models::SearchType::Discover => Self::Discover,
            models::SearchType::GoogleNews => Self::GoogleNews,
            models::SearchType::Image => Self::Image,
            models::SearchType::Video => Self::Video,
        }
    }
}

impl From<SearchType> for models::SearchType {
    fn from(own: SearchType) -> Self {
        match own {
            SearchType::Web => Self::Web,
            SearchType::Discover => Self::Discover,
            SearchType::GoogleNews => Self::GoogleNews,
            SearchType::Image => Self::Image,
            SearchType::Video => Self::Video,
        }
    }
}

impl From<Aggregation> for models::Aggregation {
    fn from(own: Aggregation) -> Self {
        match own {
            Aggregation::ByProperty => Self::ByProperty,
            Aggregation::ByPage => Self::ByPage,
        }
    }
}

/// A dimension to group rows by.
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

impl Dimension {
    /// The name on the wire, here and upstream.
    #[must_use]
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Hour => "hour",
            Self::Query => "query",
            Self::Page => "page",
            Self::Country => "country",
            Self::Device => "device",
            Self::SearchAppearance => "searchAppearance",
        }
    }
}

/// The way impressions and positions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Aggregation {
    /// A results page counts once.
    ByProperty,
    /// Each URL counts.
    ByPage,
}

/// Includes or excludes days with incomplete data.
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

/// Response of `searchAnalytics.query`. `rows` is absent when empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryResponse {
    /// The rows, best first.
    #[serde(default)]
    pub rows: Vec<QueryRow>,
    /// The aggregation that was used.
    pub response_aggregation_type: Option<String>,
    /// The incomplete days.
    #[serde(default)]
    pub metadata: Metadata,
}

/// One row.
#[derive(Debug, Clone, Deserialize)]
pub struct QueryRow {
    /// The values of the dimensions, in the order of the request.
    #[serde(default)]
    pub keys: Vec<Box<str>>,
    /// A count, sent as a double.
    #[serde(default)]
    pub clicks: f64,
    /// A count, sent as a double.
    #[serde(default)]
    pub impressions: f64,
    /// Average position; absent in discover and googleNews.
    pub position: Option<f64>,
}

/// The incomplete part of the range. Sources disagree about the spelling, so both are accepted.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Metadata {
    /// The first day with incomplete data.
    #[serde(alias = "firstIncompleteDate", default, deserialize_with = "day")]
    pub first_incomplete_date: Option<NaiveDate>,
}

/// Reads a day, if there is one. One outside the centuries that the service counts in is no day.
fn day<'de, D: Deserializer<'de>>(given: D) -> Result<Option<NaiveDate>, D::Error> {
    let text = Option::<String>::deserialize(given)?;
    text.map(|text| parse_day(&text)).transpose().map_err(D::Error::custom)
}

/// Response of `sites.list`. `siteEntry` is absent when empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteList {
    /// The sites.
    #[serde(default)]
    pub site_entry: Vec<SiteEntry>,
}

/// One site of an account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteEntry {
    /// The site's name.
    pub site_url: String,
    /// `siteOwner`, `siteFullUser`, `siteRestrictedUser` or `siteUnverifiedUser`.
    pub permission_level: String,
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn both_spellings_of_the_metadata_are_read() {
        for name in ["firstIncompleteDate", "first_incomplete_date"] {
            let text = format!(r#"{{"metadata":{{"{name}":"2026-11-18"}}}}"#);
            let answer: QueryResponse = serde_json::from_str(&text).unwrap();
            assert_eq!(answer.metadata.first_incomplete_date, NaiveDate::from_ymd_opt(2026, 11, 18));
            assert!(answer.rows.is_empty());
        }
    }

    #[test]
    fn a_day_that_no_calendar_counts_from_is_refused() {
        for day in ["-262143-01-01", "+262142-12-31", "0000-01-01", "9999-12-31", "", "2026-11-18T00:00:00Z"] {
            let text = format!(r#"{{"metadata":{{"firstIncompleteDate":"{day}"}}}}"#);
            assert!(serde_json::from_str::<QueryResponse>(&text).is_err(), "{day}");
        }
        let none: QueryResponse = serde_json::from_str(r#"{"metadata":{"firstIncompleteDate":null}}"#).unwrap();
        assert_eq!(none.metadata.first_incomplete_date, None);
    }
}
