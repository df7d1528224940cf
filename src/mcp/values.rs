//! Reads the value of an argument.

use analytics::period::{NAMES, Period};
use api::{error::ApiError, models::Compare, params::ParamValue as _};
use common::strict_json;
use serde_json::Value;

use super::round::whole_number;

/// Returns `value` in the type of `schema`, where it can be read in it. Some models and clients write every value as text, and JSON Schema
/// holds `1.0` for an integer. One object, or one text where a list of texts is expected, is a list of one.
#[must_use]
pub fn typed(schema: &Value, value: Value) -> Value {
    match (schema["type"].as_str().unwrap_or_default(), value) {
        ("boolean", value @ (Value::String(_) | Value::Number(_))) => flag(&value).unwrap_or(value),
        ("integer" | "number", Value::Number(number)) => Value::Number(whole_number(number)),
        ("array", Value::Array(items)) => items.into_iter().map(|item| typed(&schema["items"], item)).collect(),
        ("object", Value::Object(fields)) => {
            let of = |name: &str| &schema["properties"][name];
            fields.into_iter().map(|(name, field)| (name.clone(), typed(of(&name), field))).collect()
        }
        ("integer" | "number" | "array" | "object", Value::String(text)) => match strict_json::parse(text.as_bytes()) {
            Ok(Value::Null) => Value::Null,
            Ok(read) if !read.is_string() => typed(schema, read),
            _ if schema["type"] == "array" && schema["items"]["type"] == "string" => Value::from(vec![text]),
            _ => Value::String(text),
        },
        ("array", value @ Value::Object(_)) => Value::from(vec![typed(&schema["items"], value)]),
        (_, value) => value,
    }
}

/// Reads a boolean as every language writes it.
fn flag(value: &Value) -> Option<Value> {
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if written == "null" { Some(Value::Null) } else { bool::parse(&written).ok().map(Value::Bool) }
}

/// Returns a text.
///
/// # Errors
/// `invalid_request` for a value of another type.
pub fn string(name: &str, value: Value) -> Result<String, ApiError> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(ApiError::invalid(name, "must be a string")),
    }
}

/// Returns one value as the operation takes it in a query.
///
/// # Errors
/// `invalid_request` for a list or an object.
pub fn text(name: &str, value: &Value) -> Result<String, ApiError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        _ => Err(ApiError::invalid(name, "must be one value, not a list or an object")),
    }
}

/// Returns a list as the operation takes it. Text that is no list is judged there.
#[must_use]
pub fn json_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a whole number from 1 to `most`.
///
/// # Errors
/// `invalid_request` for every other value.
pub fn whole(name: &str, value: &Value, most: u64) -> Result<u64, ApiError> {
    let number = value.as_u64().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| ApiError::invalid(name, &format!("must be a whole number from 1 to {most}")))
}

/// Returns a named period.
///
/// # Errors
/// `invalid_request` for every other value.
pub fn period(value: &Value) -> Result<Period, ApiError> {
    let period = value.as_str().and_then(Period::parse);
    period.ok_or_else(|| ApiError::invalid("period", &format!("must be {NAMES}")))
}

/// Returns the name of a comparison, which the operation knows.
///
/// # Errors
/// `invalid_request` for every other value.
pub fn compare(value: &Value) -> Result<String, ApiError> {
    let name = text("compareTo", value)?;
    Compare::parse(&name).map(|_| name).map_err(|allowed| ApiError::invalid("compareTo", &allowed))
}
