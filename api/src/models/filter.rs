//! Filter conditions, and the `filters` parameter.

use common::strict_json::parse;
use poem_openapi::{Enum, Object};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Dimension;
use crate::{params::ParamValue, shape};

/// Maximum number of conditions in a list.
pub const MAX_CONDITIONS: usize = 50;

/// Maximum size of a list of conditions as JSON, in bytes; for the parameter and for saved lists.
pub const MAX_CONDITIONS_BYTES: usize = 60_000;

/// Comparison of a condition, the same on every dimension. `or_list` takes values separated by commas, such as `usa,gbr`; `\,` is a
/// comma inside a value. On query and page, `equals` and `or_list` are exact, `contains` and `not_contains` ignore case, and
/// `matches_regex` is a case-sensitive, unanchored RE2 expression. On the other dimensions all ignore case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum FilterOperator {
    /// Contains the value, ignoring case.
    Contains,
    /// Does not contain the value, ignoring case.
    NotContains,
    /// Is the value.
    Equals,
    /// Matches the RE2 expression.
    MatchesRegex,
    /// Is one of the comma-separated values; `\,` is a comma inside a value.
    OrList,
}

/// Operator that joins a condition to the one before it. `and` binds tighter than `or`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum FilterLogic {
    /// Both hold.
    #[default]
    And,
    /// Either holds.
    Or,
}

/// One condition of a filter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Object, Serialize, Deserialize)]
#[oai(deny_unknown_fields, skip_serializing_if_is_none)]
#[serde(deny_unknown_fields)]
pub struct FilterCondition {
    /// Dimension that the condition tests.
    pub dimension: Dimension,
    /// Comparison operator.
    pub operator: FilterOperator,
    /// Value to compare with.
    #[oai(validator(min_length = 1, max_length = 4096, pattern = r"^[^\x00]+$"))]
    pub value: String,
    /// Operator that joins it to the condition before it; absent means `and`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logic: Option<FilterLogic>,
}

/// The `filters` parameter: a JSON-encoded array of at most 50 conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Filters(pub Vec<FilterCondition>);

impl ParamValue for Filters {
    fn schema() -> Value {
        json!({
            "type": "string", "format": "filters-json", "contentMediaType": "application/json", "maxLength": MAX_CONDITIONS_BYTES,
            "contentSchema": {
                "type": "array", "maxItems": MAX_CONDITIONS, "items": { "$ref": "#/components/schemas/FilterCondition" }
            },
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let array = "must be a JSON array of conditions {dimension, operator, value, logic?}";
        if text.len() > MAX_CONDITIONS_BYTES {
            return Err(format!("at most 60,000 bytes are allowed, {} were sent", text.len()));
        }
        let value = parse(text.as_bytes()).map_err(|(path, fault)| match &*path {
            "" => format!("{array}, and {fault}"),
            path => format!("{path} {fault}"),
        })?;
        let conditions = value.as_array().ok_or(array)?;
        if conditions.len() > MAX_CONDITIONS {
            return Err(format!("at most {MAX_CONDITIONS} conditions are allowed, {} were sent", conditions.len()));
        }
        let fault = shape::fault::<FilterCondition>;
        let wrong = conditions.iter().enumerate().find_map(|(index, condition)| Some((index + 1, fault(condition)?)));
        if let Some((number, (field, allowed))) = wrong {
            let field = if field.is_empty() { field } else { format!("{field}: ") };
            return Err(format!("condition {number}: {field}{allowed}"));
        }
        serde_json::from_value(value).map(Self).map_err(|error| format!("{array}: {error}"))
    }

    fn to_value(&self) -> Value {
        json!(self.0)
    }
}
