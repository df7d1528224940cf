//! Small daily series for the rows of a table.

use poem_openapi::{Enum, Object};
use serde::Serialize;
use serde_json::{Value, json};

use super::{AnswerMeta, SeriesPoint};
use crate::{
    models::{Dimension, OffsetParams, OrderParams, Question, SeriesParams, TableCoverage},
    params::{Echo, ParamValue, QueryParams, Whole},
};

/// A table whose rows have daily series. Search appearances have none: the search engine does not report them by day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum SparklineTable {
    /// By search query.
    Queries,
    /// By page URL.
    Pages,
    /// By country.
    Countries,
    /// By device.
    Devices,
}

crate::enum_param!(SparklineTable);

impl SparklineTable {
    /// The dimension of its rows.
    #[must_use]
    pub fn dimension(self) -> Dimension {
        match self {
            Self::Queries => Dimension::Query,
            Self::Pages => Dimension::Page,
            Self::Countries => Dimension::Country,
            Self::Devices => Dimension::Device,
        }
    }
}

/// Maximum number of keys per request.
pub const MAX_KEYS: usize = 50;

/// The `keys` parameter: a JSON-encoded array of at most 50 row keys. JSON is needed because a key may contain any separator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Keys(pub Vec<String>);

impl ParamValue for Keys {
    fn schema() -> Value {
        json!({
            "type": "string", "format": "keys-json", "contentMediaType": "application/json", "maxLength": 60_000,
            "contentSchema": {
                "type": "array", "minItems": 1, "maxItems": MAX_KEYS, "uniqueItems": true,
                "items": { "type": "string", "minLength": 1, "maxLength": 2048, "pattern": "^[^\\x00]+$" },
            },
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let keys: Vec<String> =
            serde_json::from_str(text).map_err(|_| "must be a JSON array of strings, e.g. [\"shoes\"]".to_owned())?;
        if !(1..=MAX_KEYS).contains(&keys.len()) {
            return Err(format!("must hold 1 to {MAX_KEYS} keys, and holds {}", keys.len()));
        }
        if keys.iter().any(|key| !(1..=2048).contains(&key.chars().count()) || key.contains('\0')) {
            return Err("each key must be 1 to 2048 characters long, without NUL".to_owned());
        }
        let distinct: std::collections::BTreeSet<&String> = keys.iter().collect();
        if distinct.len() < keys.len() { Err("must not hold a key twice".to_owned()) } else { Ok(Self(keys)) }
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }
}

/// Parameters of the sparklines.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "SparklinesQuestion")]
pub struct SparklinesParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The periods of the series.
    #[param(flatten)]
    pub series: SeriesParams,
    /// The table that the rows belong to.
    #[param(default = "queries", example = "queries")]
    pub table: SparklineTable,
    /// A JSON-encoded array of 1 to 50 row keys, which name the rows and, without `sort`, their order. `metricFilters` and `offset` choose
    /// among them; `limit` then has no effect. Without it: the table's first rows. The case of countries and devices does not matter; they
    /// are returned as the table shows them.
    #[param(example = r#"["running shoes","trail shoes"]"#)]
    pub keys: Option<Keys>,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// The first row.
    #[param(flatten)]
    pub offset: OffsetParams,
    /// Number of rows from the top of the table, when `keys` is absent.
    #[param(default = "25", example = "25")]
    pub limit: Whole<1, 50>,
}

/// Small daily series.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct SparklinesAnswer {
    /// The series.
    pub data: Sparklines,
    /// Metadata of the answer.
    pub meta: SparklinesMeta,
}

/// The series.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct Sparklines {
    /// The table that the rows belong to.
    pub table: SparklineTable,
    /// Rows in the order of `keys`, or in the order of the table.
    #[oai(validator(max_items = 50))]
    pub rows: Vec<Sparkline>,
}

/// Daily series of one row.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Sparkline {
    /// The row's key.
    pub key: String,
    /// True if the search engine names the key in one of the windows. A key that it does not name may be one that it anonymises, so
    /// its traffic is unknown, not zero.
    pub known: bool,
    /// Every period of the days that count; periods without data are zeros. Empty if `known` is false.
    pub series: Vec<SeriesPoint>,
    /// The periods of the compared days of the comparison window, with their own dates. Empty if `known` is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<SeriesPoint>>,
}

/// Metadata of the answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct SparklinesMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<SparklinesParams>,
    /// Coverage: the part of the data that the answer shows.
    pub coverage: SparklinesCoverage,
}

/// Coverage: the part of the data that the answer shows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct SparklinesCoverage {
    /// Coverage of the rows. Keys that the search engine does not name are not rows: none of the numbers counts them.
    pub rows: TableCoverage,
}
