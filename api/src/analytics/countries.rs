//! Countries: the breakdown, and daily trends of the largest.

use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, SeriesPoint, TableRow, Totals};
use crate::{
    models::{OffsetParams, OrderParams, Question, SeriesParams, TableCoverage},
    params::{Echo, QueryParams, Whole},
};

/// Parameters of the breakdown by country.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "CountriesQuestion")]
pub struct CountriesParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// The first row.
    #[param(flatten)]
    pub offset: OffsetParams,
    /// Maximum number of countries in the answer; the default exceeds the number of countries.
    #[param(default = "500", example = "50")]
    pub limit: Whole<1, 500>,
}

/// Parameters of the daily trends.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "CountriesTimeseriesQuestion")]
pub struct CountriesTimeseriesParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The periods of the series.
    #[param(flatten)]
    pub series: SeriesParams,
    /// Number of countries with a series of their own: the largest by clicks. All others are summed in `other`.
    #[param(default = "5", example = "5")]
    pub top: Whole<1, 25>,
}

/// The breakdown by country.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CountriesAnswer {
    /// One row for each country (lower-case ISO 3166-1 alpha-3), ordered by clicks, then impressions, then country. With a comparison,
    /// countries that only the comparison window has come last.
    #[oai(validator(max_items = 500))]
    pub data: Vec<TableRow>,
    /// Metadata of the answer.
    pub meta: CountriesMeta,
}

/// Daily trends of the largest countries.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CountriesTimeseriesAnswer {
    /// The trends.
    pub data: CountryTrends,
    /// Metadata of the answer.
    pub meta: CountriesTimeseriesMeta,
}

/// The trends. Countries partition the traffic: together with `other`, they sum to the property's totals.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct CountryTrends {
    /// The countries with the most clicks.
    #[oai(validator(max_items = 25))]
    pub countries: Vec<CountryTrend>,
    /// All other countries combined; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherTrend>,
}

/// A country.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct CountryTrend {
    /// Lower-case ISO 3166-1 alpha-3; `zzz` is unknown.
    #[oai(validator(max_length = 3))]
    pub country: String,
    /// Name of the country for people, such as `Germany`; the code where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Totals over the window, with a comparison over its compared days.
    pub totals: Totals,
    /// Every period of the days that count; periods without data are zeros.
    pub series: Vec<SeriesPoint>,
    /// The periods of the compared days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<SeriesPoint>>,
}

/// All countries without a series of their own.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct OtherTrend {
    /// Totals over the window, with a comparison over its compared days; null where no day is counted.
    #[oai(nullable)]
    pub totals: Option<Totals>,
    /// Every period of the days that count; periods without data are zeros.
    pub series: Vec<SeriesPoint>,
    /// The periods of the compared days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<SeriesPoint>>,
}

/// Metadata of the trends.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CountriesTimeseriesMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<CountriesTimeseriesParams>,
    /// Coverage: the part of the data that the answer shows.
    pub coverage: CountriesCoverage,
}

/// Metadata of the breakdown.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CountriesMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<CountriesParams>,
    /// Coverage: the part of the data that the answer shows.
    pub coverage: CountriesCoverage,
}

/// Coverage: the part of the data that the answer shows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CountriesCoverage {
    /// Coverage of the named countries; `other` does not count as shown.
    pub countries: TableCoverage,
}
