//! Reads the value of an argument.

use analytics::period::{NAMES, Period};
use api::{error::ApiError, models::Compare, params::ParamValue as _};
use serde_json::Value;

use super::round::whole_number;

/// Writes `1.0` as `1`. JSON Schema holds both for an integer, the operations only one.
#[must_use]
pub fn without_fraction(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole_number(number)),
        other => other,
    }
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

/// Returns the conditions as the operation takes them. A model may have encoded them already.
#[must_use]
pub fn json_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns a whole number from 1 to `most`. A model may have quoted it.
///
/// # Errors
/// `invalid_request` for every other value.
pub fn whole(name: &str, value: &Value, most: u64) -> Result<u64, ApiError> {
    let digits = |text: &&str| text.bytes().all(|letter| letter.is_ascii_digit());
    let number = value.as_u64().or_else(|| value.as_str().filter(digits)?.parse().ok());
    let number = number.filter(|number| (1..=most).contains(number));
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
