//! Countries: the breakdown, and daily trends of the largest.

use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, SeriesPoint, TableRow, Totals};
use crate::{
    models::{Question, TableCoverage},
    params::{QueryParams, Whole},
};

/// Parameters of the breakdown by country.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
pub struct CountriesParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The most countries to answer with; the default is more than there are.
    #[param(default = "500", example = "50")]
    pub limit: Whole<1, 500>,
}

/// Parameters of the daily trends.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
pub struct CountriesTimeseriesParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// How many countries get a series of their own: those with the most clicks. All others are added up in `other`.
    #[param(default = "5", example = "5")]
    pub top: Whole<1, 25>,
}

/// The breakdown by country.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CountriesAnswer {
    /// One row for each country (lower-case ISO 3166-1 alpha-3), ordered by clicks, then impressions, then country.
    #[oai(validator(max_items = 500))]
    pub data: Vec<TableRow>,
    /// What the answer says about itself.
    pub meta: CountriesMeta,
}

/// Daily trends of the largest countries.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CountriesTimeseriesAnswer {
    /// The trends.
    pub data: CountryTrends,
    /// What the answer says about itself.
    pub meta: CountriesMeta,
}

/// The trends. Countries partition the traffic, so with `other` they add up to the property.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct CountryTrends {
    /// The countries with the most clicks.
    #[oai(validator(max_items = 25))]
    pub countries: Vec<CountryTrend>,
    /// All other countries together; absent when there is none.
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
    /// The whole window.
    pub totals: Totals,
    /// Every day of the window up to the last final one; days without data are zeros.
    pub series: Vec<SeriesPoint>,
    /// The days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<SeriesPoint>>,
}

/// All countries without a series of their own.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct OtherTrend {
    /// The whole window.
    pub totals: Totals,
    /// Every day of the window up to the last final one; days without data are zeros.
    pub series: Vec<SeriesPoint>,
    /// The days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<SeriesPoint>>,
}

/// What the answer says about itself.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CountriesMeta {
    /// As on every analytics answer.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// How much of the truth the answer shows.
    pub coverage: CountriesCoverage,
}

/// How much of the truth the answer shows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CountriesCoverage {
    /// Of the countries named; `other` is not counted as shown.
    pub countries: TableCoverage,
}
