//! Sums over several properties.

use chrono::NaiveDate;
use poem_openapi::Object;
use uuid::Uuid;

use super::{DailyMetrics, PropertyFilterParams};
use crate::{
    analytics::Unusual,
    models::{Change, Compare, DateRange, Freshness, Metrics, Timestamp, Warning},
    params::{QueryParams, Whole},
};

/// Parameters of the portfolio.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct PortfolioParams {
    /// Number of final days to add up. The search engine keeps 16 months, which both windows must fit.
    #[param(default = "28", example = "28")]
    pub days: Whole<1, 240>,
    /// The window to compare with. `previous_calendar_period` fits only if the days are whole months.
    #[param(default = "previous_period", example = "previous_period")]
    pub compare: Compare,
    /// The properties to add up.
    #[param(flatten)]
    pub filter: PropertyFilterParams,
    /// Maximum number of movers on each side.
    #[param(default = "10", example = "10")]
    pub movers: Whole<1, 100>,
    /// False leaves both series out.
    #[param(default = "true", example = "false")]
    pub series: bool,
    /// True adds what is usual to each day of the window, and says if its last days are not usual.
    #[param(default = "false", example = "true")]
    pub usual: bool,
}

/// Sums over several properties.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct PortfolioAnswer {
    /// The sums.
    pub data: Portfolio,
    /// Metadata of the answer.
    pub meta: PortfolioMeta,
}

/// Sums over several properties.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct Portfolio {
    /// Metrics of the window; null without a property in the sums.
    #[oai(nullable)]
    pub totals: Option<Metrics>,
    /// Metrics of the comparison window; null without a property in the sums.
    #[oai(nullable)]
    pub previous: Option<Metrics>,
    /// Totals minus previous; null without a property in the sums.
    #[oai(nullable)]
    pub change: Option<Change>,
    /// The window day by day, oldest first; absent with `series=false`, empty without a property in the sums.
    #[oai(skip_serializing_if_is_none, validator(max_items = 240))]
    pub series: Option<Vec<DailyMetrics>>,
    /// The comparison window day by day, oldest first; absent with `series=false`, empty without a property in the sums.
    #[oai(skip_serializing_if_is_none, validator(max_items = 240))]
    pub previous_series: Option<Vec<DailyMetrics>>,
    /// The last days of the window, if they are not usual; absent without `usual=true`, and where they are usual.
    #[oai(skip_serializing_if_is_none)]
    pub unusual: Option<Unusual>,
    /// The properties whose clicks changed most.
    pub movers: Movers,
    /// Sums by tag of the caller, in the order of the tags. A property with several tags counts for each of them, so sums of tags do
    /// not add up to the totals. Tags without a property in the filter are left out.
    pub tags: Vec<TagSum>,
}

/// The properties whose clicks changed most. Covered properties are left out.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct Movers {
    /// Properties with more clicks than before, largest gain first.
    #[oai(validator(max_items = 100))]
    pub up: Vec<PortfolioProperty>,
    /// Properties with fewer clicks than before, largest loss first.
    #[oai(validator(max_items = 100))]
    pub down: Vec<PortfolioProperty>,
}

/// A property of the portfolio.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PortfolioProperty {
    /// The property's id.
    pub id: Uuid,
    /// Short name of the site, for display, with `(http)`, `(https)` or `(whole domain)` if others have that name.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// Metrics of the window.
    pub current: Metrics,
    /// Metrics of the comparison window.
    pub previous: Metrics,
    /// Current minus previous.
    pub change: Change,
}

/// The sum of the properties with a tag, each day of each site counted once among them.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct TagSum {
    /// The tag's id.
    pub tag_id: Uuid,
    /// The tag's name.
    #[oai(validator(max_length = 200))]
    pub name: String,
    /// Properties in the sum.
    pub properties: u64,
    /// Metrics of the window.
    pub current: Metrics,
    /// Metrics of the comparison window.
    pub previous: Metrics,
    /// Current minus previous.
    pub change: Change,
}

/// Metadata of a portfolio.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct PortfolioMeta {
    /// The days of the sums; absent without a property in them.
    pub window: Option<DateRange>,
    /// The days that they are compared with; absent without a property in the sums.
    pub compare_window: Option<DateRange>,
    /// The properties in the sums, and those that are not.
    pub coverage: PortfolioCoverage,
    /// Visible properties that are left out, because a wider one counts the same pages.
    pub overlaps: Vec<CoveredProperty>,
    /// Properties that are left out, because their data ends more than seven days before the newest.
    pub late: Vec<LateProperty>,
    /// Freshness of the property in the sums whose data ends first; absent without any.
    pub freshness: Option<Freshness>,
    /// Time at which the oldest part was read from the search engine, at most six hours ago; absent without any.
    pub cached_at: Option<Timestamp>,
    /// Facts about the windows that the numbers do not show; absent without any.
    #[oai(validator(max_items = 100))]
    pub warnings: Option<Vec<Warning>>,
}

/// The properties in the sums, and those that are not. The counts add up to the properties that the filter leaves.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct PortfolioCoverage {
    /// Properties in the sums.
    pub in_sum: u64,
    /// Properties that a wider one in the sums covers.
    pub covered: u64,
    /// Properties whose data ends more than seven days before the newest.
    pub late: u64,
    /// Properties that are still being read. Ask again.
    pub still_reading: u64,
    /// Properties that the search engine refuses, or for which it is away; as in `meta.progress` of `listProperties`.
    pub refused: u64,
    /// Properties that the caller has hidden.
    pub hidden: u64,
    /// Properties that the owner's plan does not cover.
    pub locked: u64,
    /// Properties whose search account is disconnected.
    pub disconnected: u64,
    /// Share of the known clicks of the window that the sums hold, 0..1. Clicks of late properties are known, those of unread and refused
    /// ones are not. Null while properties are still being read, and if no clicks are known.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub clicks_share: Option<f64>,
}

/// A property that a wider one covers.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct CoveredProperty {
    /// The property's id.
    pub id: Uuid,
    /// Short name of the site, for display, with `(http)`, `(https)` or `(whole domain)` if others have that name.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// Id of the property in the sums that covers it.
    pub covered_by: Uuid,
}

/// A property whose data ends too early.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct LateProperty {
    /// The property's id.
    pub id: Uuid,
    /// Short name of the site, for display, with `(http)`, `(https)` or `(whole domain)` if others have that name.
    #[oai(validator(max_length = 2048))]
    pub name: String,
    /// Its last final day.
    pub last_final_date: NaiveDate,
}
