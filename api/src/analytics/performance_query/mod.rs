//! Rows of performance by any dimensions.

mod body;
mod keys;

use poem_openapi::{Enum, Object};
use serde::Serialize;
use serde_json::{Value, json};

pub use self::{body::PerformanceQueryInput, keys::RowKeys};
use super::AnswerMeta;
use crate::{
    models::{Change, Dimension, Metrics, OffsetParams, OrderParams, Presence, Question, TableCoverage},
    params::{Echo, ParamValue, QueryParams, Whole},
};

/// The most dimensions of a row.
pub const MAX_DIMENSIONS: usize = 3;

/// The most rows of an answer.
pub const MAX_ROWS: u32 = 25_000;

/// A dimension that rows are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub enum RowDimension {
    /// The day, in the search engine's time zone.
    Date,
    /// The search query. Rows leave anonymised queries out.
    Query,
    /// The page's URL. Rows count `byPage`.
    Page,
    /// Lower-case ISO 3166-1 alpha-3; `zzz` is unknown.
    Country,
    /// `DESKTOP`, `MOBILE` or `TABLET`.
    Device,
    /// The search appearance, alone. Rows count `byPage`, overlap and do not add up.
    SearchAppearance,
}

/// The dimensions of a question, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dimensions(pub Vec<RowDimension>);

impl ParamValue for Dimensions {
    fn schema() -> Value {
        json!({
            "type": "array", "maxItems": MAX_DIMENSIONS, "uniqueItems": true, "items": { "$ref": "#/components/schemas/RowDimension" },
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let known = RowDimension::ALL.map(|dimension| (dimension.name(), dimension));
        let named = |name: &str| known.iter().find(|(known, _)| *known == name).map(|(_, dimension)| *dimension);
        let found: Option<Vec<RowDimension>> = text.split(',').map(named).collect();
        found.map(Self).ok_or_else(|| format!("must be names of {}", known.map(|(name, _)| name).join(", ")))
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }
}

impl RowDimension {
    /// Every dimension.
    pub const ALL: [Self; 6] =
        [Self::Date, Self::Query, Self::Page, Self::Country, Self::Device, Self::SearchAppearance];

    /// The dimension, unless it is the day.
    #[must_use]
    pub fn dimension(self) -> Option<Dimension> {
        match self {
            Self::Date => None,
            Self::Query => Some(Dimension::Query),
            Self::Page => Some(Dimension::Page),
            Self::Country => Some(Dimension::Country),
            Self::Device => Some(Dimension::Device),
            Self::SearchAppearance => Some(Dimension::SearchAppearance),
        }
    }

    /// Its name in questions and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.dimension().map_or("date", Dimension::name)
    }
}

/// A question for rows by any dimensions.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "PerformanceQueryQuestion")]
pub struct PerformanceQuery {
    /// Dimensions of the rows, in the order of their keys.
    #[param(example = "query,page")]
    pub dimensions: Dimensions,
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// The first row.
    #[param(flatten)]
    pub offset: OffsetParams,
    /// Maximum number of rows in the answer.
    #[param(default = "500", example = "500")]
    pub limit: Whole<1, MAX_ROWS>,
}

/// Rows by any dimensions.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct PerformanceQueryAnswer {
    /// The rows.
    pub data: PerformanceRows,
    /// Metadata of the answer.
    pub meta: PerformanceQueryMeta,
}

/// Rows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct PerformanceRows {
    /// One page of the list: by `sort`, or by clicks, impressions and keys, with the most clicks first. With `date` among the
    /// dimensions days come before clicks, the oldest first. Rows that only the comparison window has come last.
    #[oai(validator(max_items = 25000))]
    pub rows: Vec<PerformanceRow>,
}

/// One row by the dimensions of the question.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct PerformanceRow {
    /// The value of each dimension, in the order of the question. Without dimensions it has none, and the row is the total.
    pub keys: RowKeys,
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
    /// The row's metrics minus `previous`. A window that lacks the keys counts as no clicks and no impressions. Absent without a
    /// comparison and where `presence` is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// Windows whose rows contain the keys; absent without a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
}

/// Metadata of the answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct PerformanceQueryMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<PerformanceQuery>,
    /// Coverage: the part of the data that the answer shows.
    pub coverage: RowsCoverage,
}

/// Coverage: the part of the data that the answer shows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct RowsCoverage {
    /// Coverage of the rows.
    pub rows: TableCoverage,
}
