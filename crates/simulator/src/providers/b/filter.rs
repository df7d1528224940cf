//! Filters of provider B: JSON in the parameter `where`.

use regex::Regex;
use serde_json::Value;

use crate::providers::values::{comparable, order, same};

/// A filter.
#[derive(Debug)]
pub(super) enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    /// A condition on a column.
    Is(String, Test),
    /// A condition on any item of a list, or on all.
    ListIs(String, bool, Test),
}

/// A condition on one value.
#[derive(Debug)]
pub(super) enum Test {
    Empty,
    Null,
    Compares { operator: String, value: Value, pattern: Option<Regex> },
}

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// The text is not a filter.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Self::read(&value)
    }

    fn read(value: &Value) -> Result<Self, String> {
        let shape = || "expected an object with and, or, not, or field with is or list_is".to_owned();
        let object = value.as_object().ok_or_else(shape)?;
        let all =
            |parts: &Value| parts.as_array().ok_or_else(shape)?.iter().map(Self::read).collect::<Result<Vec<_>, _>>();
        if let Some(parts) = object.get("and") {
            return all(parts).map(Self::And);
        }
        if let Some(parts) = object.get("or") {
            return all(parts).map(Self::Or);
        }
        if let Some(part) = object.get("not") {
            return Self::read(part).map(|part| Self::Not(Box::new(part)));
        }
        let field = object.get("field").and_then(Value::as_str).ok_or_else(shape)?.to_owned();
        if let Some(test) = object.get("is") {
            return Ok(Self::Is(field, Test::read(test)?));
        }
        let list = object.get("list_is").and_then(Value::as_object).ok_or_else(shape)?;
        match (list.get("any"), list.get("all")) {
            (Some(test), None) => Ok(Self::ListIs(field, true, Test::read(test)?)),
            (None, Some(test)) => Ok(Self::ListIs(field, false, Test::read(test)?)),
            _ => Err(shape()),
        }
    }

    /// All columns that it names.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().flat_map(Self::columns).collect(),
            Self::Not(part) => part.columns(),
            Self::Is(field, _) | Self::ListIs(field, ..) => vec![field],
        }
    }

    /// Returns whether `row` passes.
    pub fn admits(&self, row: &Value) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.admits(row)),
            Self::Or(parts) => parts.iter().any(|part| part.admits(row)),
            Self::Not(part) => !part.admits(row),
            Self::Is(field, test) => test.admits(&row[field]),
            Self::ListIs(field, any, test) => {
                let items = row[field].as_array().map_or(&[][..], Vec::as_slice);
                if *any {
                    items.iter().any(|item| test.admits(item))
                } else {
                    items.iter().all(|item| test.admits(item))
                }
            }
        }
    }
}

const OPERATORS: [&str; 13] = [
    "eq",
    "neq",
    "gt",
    "gte",
    "lt",
    "lte",
    "substring",
    "isubstring",
    "phrase_match",
    "iphrase_match",
    "prefix",
    "suffix",
    "regex",
];

impl Test {
    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(word) if word == "empty" => return Ok(Self::Empty),
            Value::String(word) if word == "is_null" => return Ok(Self::Null),
            _ => {}
        }
        let Some([Value::String(operator), value]) = value.as_array().map(Vec::as_slice) else {
            return Err("expected [operator, value], \"empty\" or \"is_null\"".to_owned());
        };
        if !OPERATORS.contains(&operator.as_str()) {
            return Err(format!("unknown operator '{operator}'"));
        }
        let pattern = pattern(operator, value)?;
        Ok(Self::Compares { operator: operator.clone(), value: value.clone(), pattern })
    }

    fn admits(&self, found: &Value) -> bool {
        let (operator, value, pattern) = match self {
            Self::Null => return found.is_null(),
            Self::Empty => return found.is_null() || found == "" || found.as_array().is_some_and(Vec::is_empty),
            Self::Compares { operator, value, pattern } => (operator.as_str(), value, pattern),
        };
        let ordered = comparable(found, value).then(|| order(found, value));
        match operator {
            "eq" => same(found, value),
            "neq" => !same(found, value),
            "gt" => ordered.is_some_and(std::cmp::Ordering::is_gt),
            "gte" => ordered.is_some_and(std::cmp::Ordering::is_ge),
            "lt" => ordered.is_some_and(std::cmp::Ordering::is_lt),
            "lte" => ordered.is_some_and(std::cmp::Ordering::is_le),
            _ => found.as_str().is_some_and(|text| pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))),
        }
    }
}

/// The pattern of an operator that compares texts.
fn pattern(operator: &str, value: &Value) -> Result<Option<Regex>, String> {
    let texts = ["substring", "isubstring", "phrase_match", "iphrase_match", "prefix", "suffix", "regex"];
    if !texts.contains(&operator) {
        return Ok(None);
    }
    let text = value.as_str().ok_or_else(|| format!("'{operator}' takes a text"))?;
    let literal = regex::escape(text);
    let source = match operator {
        "substring" => literal,
        "isubstring" => format!("(?i){literal}"),
        "phrase_match" => format!(r"(?:^|\W){literal}(?:\W|$)"),
        "iphrase_match" => format!(r"(?i)(?:^|\W){literal}(?:\W|$)"),
        "prefix" => format!("^{literal}"),
        "suffix" => format!("{literal}$"),
        _ => text.to_owned(),
    };
    Regex::new(&source).map(Some).map_err(|error| error.to_string())
}
