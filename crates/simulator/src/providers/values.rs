//! Values of answers: how the vendors write them, and how their filters compare them.

use std::cmp::Ordering;

use chrono::NaiveDate;
use serde_json::{Map, Number, Value};

/// A number that its vendor computes with fractions. Whole numbers are written without a point, as PHP writes them.
pub(super) fn php(number: f64) -> Value {
    let whole = number.abs() < 1e15 && number.fract() == 0.0;
    let integer = || format!("{number:.0}").parse::<i64>().ok().map(Number::from);
    let number = if whole { integer() } else { Number::from_f64(number) };
    number.map_or(Value::Null, Value::Number)
}

/// `number` with `digits` digits after the point.
pub(super) fn rounded(number: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    (number * scale).round() / scale
}

/// Millionths of a US dollar as dollars. The nearest number to the exact amount, so it is written exactly.
pub(super) fn dollars(micros: u64) -> Value {
    php(micros as f64 / 1e6)
}

/// The time of day that belongs to a random key: hours, minutes, seconds.
fn clock(key: u64) -> (u64, u64, u64) {
    (key % 24, key / 24 % 60, key / 1440 % 60)
}

/// A time as provider A writes it.
pub(super) fn time_a(day: NaiveDate, key: u64) -> String {
    let (hour, minute, second) = clock(key);
    format!("{day} {hour:02}:{minute:02}:{second:02} +00:00")
}

/// A time as provider B writes it.
pub(super) fn time_b(day: NaiveDate, key: u64) -> String {
    let (hour, minute, second) = clock(key);
    format!("{day}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The order of two values of one column: null, then false, true, numbers, texts.
pub(super) fn order(a: &Value, b: &Value) -> Ordering {
    let rank = |value: &Value| match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) | Value::Object(_) => 4,
    };
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().unwrap_or_default().total_cmp(&b.as_f64().unwrap_or_default())
        }
        (Value::String(a), Value::String(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Returns whether two values are equal. Booleans equal 0 and 1.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    let number = |value: &Value| match value {
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::Number(number) => number.as_f64(),
        _ => None,
    };
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b) == Ordering::Equal,
        _ => a == b,
    }
}

/// Returns whether two values can be put in an order: two numbers, or two texts.
pub(super) fn comparable(a: &Value, b: &Value) -> bool {
    a.is_number() && b.is_number() || a.is_string() && b.is_string()
}

/// One object with the fields of all `parts`.
pub(super) fn joined<const N: usize>(parts: [Value; N]) -> Value {
    let mut all = Map::new();
    for part in parts {
        if let Value::Object(fields) = part {
            all.extend(fields);
        }
    }
    Value::Object(all)
}
