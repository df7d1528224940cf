//! Schemas that the analyses' answers share.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;

use crate::models::{Aggregation, AnalysisStatus, DateRange, Freshness, SearchType, TableCoverage, Timestamp, Warning};

/// Metadata of every analytics answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct AnswerMeta {
    /// The window of the answer.
    pub window: DateRange,
    /// The comparison window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare_window: Option<DateRange>,
    /// Names of the records that the question refers to by id; absent without any, and on share links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Labels>,
    /// Adjusted dates: dates a day ahead of the search engine's today.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_items = 4))]
    pub adjusted: Option<Vec<Adjustment>>,
    /// Parameters of the request that had no effect: names of the conventions that mean nothing to this operation, and parameters that
    /// mean nothing beside the others, such as `queryLimit` where no table is shown. Absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_items = 30))]
    pub ignored: Option<Vec<String>>,
    /// Days that the numbers count, and days that are not final.
    pub days: AnswerDays,
    /// The kind of search.
    pub search_type: SearchType,
    /// Counting method of the answer; a table with another method names it in `coverage`.
    pub aggregation: Aggregation,
    /// Freshness of the data.
    pub freshness: Freshness,
    /// Time when the oldest part of this answer was read from the search engine.
    pub cached_at: Timestamp,
    /// Shows if there was data to analyse.
    pub status: AnalysisStatus,
    /// Facts about the windows that make the numbers misleading; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_items = 100))]
    pub warnings: Option<Vec<Warning>>,
}

/// A date that was adjusted.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
pub struct Adjustment {
    /// The parameter.
    #[oai(validator(max_length = 20))]
    pub parameter: String,
    /// The date that was sent.
    pub sent: NaiveDate,
    /// The date that it was taken as.
    pub taken: NaiveDate,
}

/// Names of the records that a question refers to by id.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct Labels {
    /// Name of the segment or topic cluster.
    #[oai(validator(max_length = 100))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<String>,
}

/// The days behind the numbers of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct AnswerDays {
    /// Days of the window.
    pub current: WindowDays,
    /// Days of the comparison window; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<WindowDays>,
    /// Days that totals and rows count, in both windows; absent without a comparison, and where one of the windows has no final
    /// day, so that nothing is counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<ComparedDays>,
}

/// The days of one window.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct WindowDays {
    /// Number of days that the window's metrics count: with a comparison the compared days, else final days, and with
    /// `dataState=all` the others, too.
    pub counted: u32,
    /// Days of the window that are not final yet.
    #[oai(validator(max_items = 31))]
    pub not_final: Vec<NaiveDate>,
}

/// The days that are compared. All of them are final. If a window has days that are not final, both windows are cut to as
/// many days from their start as both have final (warning `windows_shortened`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object, Serialize)]
pub struct ComparedDays {
    /// Days of the window.
    pub current: DateRange,
    /// Days of the comparison window, which `previous` counts.
    pub previous: DateRange,
    /// True if one of the windows has days that are left out.
    pub shortened: bool,
}

/// A period of a series.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Period {
    /// The day; of a week or a month the first day that counts.
    pub date: NaiveDate,
    /// The last day of a week or a month that counts; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<NaiveDate>,
    /// The beginning of an hour in the time zone of the data, such as `2026-11-19T03:00:00-08:00`; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_length = 25))]
    pub hour: Option<String>,
    /// True if the week or the month has days that do not count: it begins before the window, ends after it, or has days
    /// that are not final. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<bool>,
    /// True if the numbers still change: a day is not final. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_final: Option<bool>,
}

/// Coverage of an analysis of queries.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct QueryCoverage {
    /// Coverage of the query rows: the analysed ones, and the ones that the answer lists, if any.
    pub queries: TableCoverage,
}

/// A bucket of positions. Bounds apply to the raw impression-weighted average: (0,3], (3,10], (10,20] and above 20.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum, Serialize)]
pub enum PositionBucket {
    /// Up to 3.
    #[oai(rename = "1-3")]
    #[serde(rename = "1-3")]
    Top3,
    /// Above 3, up to 10.
    #[oai(rename = "4-10")]
    #[serde(rename = "4-10")]
    Top10,
    /// Above 10, up to 20.
    #[oai(rename = "11-20")]
    #[serde(rename = "11-20")]
    Top20,
    /// Above 20.
    #[oai(rename = "21+")]
    #[serde(rename = "21+")]
    Beyond,
}

impl PositionBucket {
    /// Every bucket, best first.
    pub const ALL: [Self; 4] = [Self::Top3, Self::Top10, Self::Top20, Self::Beyond];
}

/// Source of an expected CTR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum CurveSource {
    /// The property's own non-branded rows.
    Own,
    /// Published averages, because the property has too little data of its own.
    Static,
}

/// Expected CTR by position: linear between whole positions, 0 beyond 20.
///
/// The property's own curve is the CTR of its non-branded queries by rounded position, at positions with at least 100
/// impressions. It is used when at least five of the positions 1 to 10 qualify. Between two such positions it is
/// linear. Before the first and after the last one, published averages are used; `points` names the source of each
/// point.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CtrCurve {
    /// Source of the curve.
    pub source: CurveSource,
    /// Points of the curve, best position first.
    #[oai(validator(max_items = 20))]
    pub points: Vec<CurvePoint>,
}

/// A point of a CTR curve.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CurvePoint {
    /// A whole position.
    #[oai(validator(minimum(value = "1"), maximum(value = "20")))]
    pub position: u32,
    /// Expected CTR at this position, 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: f64,
    /// Source of this point.
    pub source: CurveSource,
}

/// The CTR of the queries at a position.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct PositionCtr {
    /// The whole position; halves round up to the larger one.
    #[oai(validator(minimum(value = "1"), maximum(value = "20")))]
    pub position: u32,
    /// Number of queries at this position.
    pub queries: u64,
    /// Clicks of these queries.
    pub clicks: u64,
    /// Impressions of these queries.
    pub impressions: u64,
    /// Clicks ÷ impressions; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: Option<f64>,
}

/// Clicks and impressions of traffic that has no CTR and no position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object, Serialize)]
pub struct Counts {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
}
