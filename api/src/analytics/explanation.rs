//! The explanation of a change in clicks.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;
use uuid::Uuid;

use super::{CurveSource, ExplainedHeadline, PerformanceParams};
use crate::{
    annotations::AnnotationSource,
    models::{Metrics, Presence, TableCoverage},
    params::{QueryParams, Whole},
};

/// Number of rows and events that an explanation lists.
pub type ExplainLimit = Whole<1, 100>;

/// Parameters of the performance of a property.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "PerformanceQuestion")]
pub struct PropertyPerformanceParams {
    /// The question, and the parts to return.
    #[param(flatten)]
    pub performance: PerformanceParams,
    /// Explains the change in clicks between the two windows. Requires `compare`, or `compareStart` and `compareEnd`.
    #[param(default = "false", example = "true")]
    pub explain: bool,
    /// Maximum number of rows with a gain, of rows with a loss, and of events that each list of the explanation holds.
    #[param(default = "10", example = "10")]
    pub explain_limit: ExplainLimit,
    /// Adds what is usual for each day to the series, and says if the last days of the window are not usual. Needs a series by `day`.
    #[param(default = "false", example = "true")]
    pub usual: bool,
    /// Includes the system annotations that overlap the windows, in `events`.
    #[param(default = "false", example = "true")]
    pub include_system: bool,
}

/// The parts of a change in clicks. Arithmetic, not causes. It counts the days of `meta.days.compared`; windows with
/// different numbers of days differ in demand for this reason alone.
///
/// Brand, queries, pages, countries and devices are alternative partitions. Each one adds up to `clicksChange` by itself:
/// `gains.clicksChange + losses.clicksChange + remainder.clicksChange`, for pages also `countingDifference`, for the brand
/// `branded + nonBranded + remainder`. A partition that the search type or the property lacks is absent; `coverage` names
/// the reason.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Clicks of the window's compared days minus clicks of the comparison window, as in `totals.change`.
    pub clicks_change: i64,
    /// The explanation in words.
    pub headline: ExplainedHeadline,
    /// Effects of demand, position and CTR. `position` is the sum over the queries that both windows have. `ctr` is the rest
    /// of the rate: snippets, the mix of queries, and queries whose position is not known.
    pub effects: Effects,
    /// Source of the CTR curve behind every `position`; absent where the search type has no queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<CurveSource>,
    /// Branded and non-branded queries; absent without branded keywords.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand: Option<ExplainedBrand>,
    /// By search query. The remainder is anonymised queries, queries beyond the cap, and queries with the presence `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<ExplainedTable>,
    /// By page URL, counted `byPage`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<ExplainedTable>,
    /// By country, lower-case ISO 3166-1 alpha-3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub countries: Option<ExplainedTable>,
    /// By device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<ExplainedTable>,
    /// Annotations that overlap one of the windows, newest first. They are events, not causes. Empty on share links that hide
    /// annotations.
    #[oai(validator(max_items = 100))]
    pub events: Vec<ExplainedEvent>,
    /// Annotations that overlap one of the windows and are not listed.
    pub events_left_out: u64,
    /// Coverage of each partition in the compared days of the window. The rows listed as gains and losses count as shown.
    pub coverage: ExplanationCoverage,
}

/// The split of a change in clicks. With I for impressions, c for CTR, and 0 for the comparison window: `demand = (I1 − I0) ×
/// (c0 + c1) ÷ 2`, `rate = (c1 − c0) × (I0 + I1) ÷ 2`. `demand + rate` is the change. Without impressions in one window, all
/// of it is demand.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Effects {
    /// Clicks because of more or fewer impressions.
    pub demand: f64,
    /// Clicks because of a higher or lower CTR: `position + ctr`, where these are known.
    pub rate: f64,
    /// Part of `rate` that the CTR curve C expects for the change of position: `(C(p1) − C(p0)) × (I0 + I1) ÷ 2`. Null
    /// except for queries and their sums, because an average position over many queries predicts no CTR.
    #[oai(nullable)]
    pub position: Option<f64>,
    /// The rest of `rate`; null where `position` is.
    #[oai(nullable)]
    pub ctr: Option<f64>,
}

/// The change by branded keywords.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct ExplainedBrand {
    /// Queries that contain a branded keyword.
    pub branded: BrandChange,
    /// Identified queries that contain none.
    pub non_branded: BrandChange,
    /// Queries that the search engine does not name.
    pub remainder: Remainder,
}

/// The change of the branded or of the non-branded queries.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct BrandChange {
    /// Clicks, current minus previous.
    pub clicks_change: i64,
    /// The split of the change.
    pub effects: Effects,
    /// Metrics of the window.
    pub current: Metrics,
    /// Metrics of the comparison window.
    pub previous: Metrics,
}

/// The change by the rows of one table.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedTable {
    /// Sum of the effects of all rows whose change is known. Its demand differs from the whole's where the mix of rows
    /// has changed.
    pub effects: Effects,
    /// Rows with more clicks than before.
    pub gains: Contributors,
    /// Rows with fewer clicks than before.
    pub losses: Contributors,
    /// Number of rows with as many clicks as before.
    pub unchanged: u64,
    /// Rows that both windows have.
    pub both: RowTally,
    /// Rows that only the window has.
    pub new: RowTally,
    /// Rows that only the comparison window has.
    pub lost: RowTally,
    /// Number of rows in one window while the other window's list was cut and may contain them. Their change is not known, so
    /// their clicks are part of the remainder.
    pub unknown: u64,
    /// Totals of both windows minus the rows whose change is known.
    pub remainder: Remainder,
    /// Change counted `byProperty` minus change counted `byPage`; only for pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counting_difference: Option<i64>,
}

/// Rows that moved clicks in one direction.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Contributors {
    /// Sum of the changes of all these rows, including unlisted ones.
    pub clicks_change: i64,
    /// The largest changes first, then by key.
    #[oai(validator(max_items = 100))]
    pub rows: Vec<Contributor>,
    /// Number of rows that are not listed.
    pub left_out: u64,
}

/// A row that moved clicks.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Contributor {
    /// The query, URL, country or device.
    pub key: String,
    /// Windows whose rows contain the key.
    pub presence: Presence,
    /// Clicks, current minus previous.
    pub clicks_change: i64,
    /// The split of the change.
    pub effects: Effects,
    /// Metrics of the window; absent on a row that only the comparison window has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<Metrics>,
    /// Metrics of the comparison window; absent on a row that it lacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Metrics>,
}

/// Number of rows, and the sum of their changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct RowTally {
    /// Number of rows.
    pub rows: u64,
    /// Clicks, current minus previous.
    pub clicks_change: i64,
}

/// The part of the totals that no row accounts for. Negative counts mean that parts were read at different times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Remainder {
    /// Clicks, current minus previous.
    pub clicks_change: i64,
    /// Clicks of the window.
    pub clicks: i64,
    /// Impressions of the window.
    pub impressions: i64,
    /// Clicks of the comparison window.
    pub previous_clicks: i64,
    /// Impressions of the comparison window.
    pub previous_impressions: i64,
}

/// An annotation that overlaps a window.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedEvent {
    /// The annotation's id.
    pub id: Uuid,
    /// The day, or the first day of a range.
    pub date: NaiveDate,
    /// The last day of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<NaiveDate>,
    /// The note.
    #[oai(validator(min_length = 1, max_length = 2000))]
    pub text: String,
    /// Category, chosen by the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(min_length = 1, max_length = 50))]
    pub category: Option<String>,
    /// Author of the note.
    pub source: AnnotationSource,
    /// The page that tells of a system annotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_length = 2048))]
    pub source_url: Option<String>,
    /// Windows that the annotation overlaps.
    pub overlaps: OverlappedWindow,
}

/// Windows that an annotation overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum OverlappedWindow {
    /// Only the current window.
    Current,
    /// Only the comparison window.
    Previous,
    /// Both windows.
    Both,
}

/// Coverage of each partition.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct ExplanationCoverage {
    /// Coverage of the query rows.
    pub queries: TableCoverage,
    /// Coverage of the page rows.
    pub pages: TableCoverage,
    /// Coverage of the country rows.
    pub countries: TableCoverage,
    /// Coverage of the device rows.
    pub devices: TableCoverage,
}
