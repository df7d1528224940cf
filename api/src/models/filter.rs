//! Filter conditions: the shape, and reading the `filters` parameter.

use poem_openapi::{Enum, Object};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::params::ParamValue;

/// The most conditions a list may have.
pub const MAX_CONDITIONS: usize = 50;

/// What a condition looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub enum FilterDimension {
    /// The search query. Anonymised queries satisfy no query condition.
    Query,
    /// The page's URL.
    Page,
    /// ISO 3166-1 alpha-3 code, any case; `zzz` is unknown.
    Country,
    /// `DESKTOP`, `MOBILE` or `TABLET`, any case.
    Device,
    /// A search appearance such as `PRODUCT_SNIPPETS`, any case.
    SearchAppearance,
}

/// How a condition compares. `or_list` takes values separated by commas, such as `usa,gbr`; `\,` is a comma inside a value. On
/// query and page `equals` and `or_list` are exact, `contains` and `not_contains` ignore
/// case, `matches_regex` is a case-sensitive, unanchored RE2 expression.
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

/// How a condition joins the one before it. `and` binds tighter than `or`.
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
    /// What the condition looks at.
    pub dimension: FilterDimension,
    /// How it compares.
    pub operator: FilterOperator,
    /// What it compares with.
    #[oai(validator(min_length = 1, max_length = 4096, pattern = r"^[^\x00]+$"))]
    pub value: String,
    /// How it joins the condition before it; absent means `and`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logic: Option<FilterLogic>,
}

/// The `filters` parameter: a JSON-encoded array of at most 50 conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Filters(pub Vec<FilterCondition>);

impl ParamValue for Filters {
    fn schema() -> Value {
        json!({
            "type": "string", "format": "filters-json", "contentMediaType": "application/json", "maxLength": 60_000,
            "contentSchema": {
                "type": "array", "maxItems": MAX_CONDITIONS, "items": { "$ref": "#/components/schemas/FilterCondition" }
            },
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let allowed =
            |why: String| format!("must be a JSON array of conditions {{dimension, operator, value, logic?}}: {why}");
        let shapes: Vec<Value> = serde_json::from_str(text).map_err(|e| allowed(e.to_string()))?;
        if let Some(index) = shapes.iter().position(|shape| !shape.is_object()) {
            return Err(allowed(format!("condition {} is no object", index + 1)));
        }
        let conditions: Vec<FilterCondition> = serde_json::from_str(text).map_err(|e| allowed(e.to_string()))?;
        if conditions.len() > MAX_CONDITIONS {
            return Err(format!("at most {MAX_CONDITIONS} conditions are allowed, {} were sent", conditions.len()));
        }
        let allowed = |value: &str| (1..=4096).contains(&value.chars().count()) && !value.contains('\0');
        match conditions.iter().position(|c| !allowed(&c.value)) {
            Some(index) => {
                Err(format!("condition {}: value must be 1 to 4096 characters long, without NUL", index + 1))
            }
            None => Ok(Self(conditions)),
        }
    }
}
