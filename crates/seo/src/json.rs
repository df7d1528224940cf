//! Reads the providers' JSON. Any field may be null, absent or of another type; it counts as unknown then.

use api::models::parse_day;
use chrono::NaiveDate;
use serde_json::Value;

/// A text that is not empty, cut at `longest` characters.
pub fn text(value: &Value, longest: usize) -> Option<String> {
    let text = value.as_str().filter(|text| !text.is_empty())?;
    Some(text.chars().take(longest).collect())
}

/// A count. Providers also write whole numbers with a point, and counts as texts.
pub fn count(value: &Value) -> Option<u64> {
    let whole = |number: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        let count = number.round() as u64;
        (0.0..1e15).contains(&number).then_some(count)
    };
    match value {
        Value::Number(number) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// A number within `least` and `most`.
pub fn within(value: &Value, least: f64, most: f64) -> Option<f64> {
    value.as_f64().filter(|number| (least..=most).contains(number))
}

/// A flag. Providers write it as a boolean or as 0 and 1.
pub fn flag(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| value.as_u64().map(|number| number != 0))
}

/// The day of a time, `2026-10-14 08:11:02 +00:00` or `2026-10-14T08:11:02Z`.
pub fn day(value: &Value) -> Option<NaiveDate> {
    parse_day(value.as_str()?.get(..10)?).ok()
}

/// The items of a list within a row. Null counts as empty.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The rows of a list that `row` can read. `None` if it is no list, or none of its items is such a row: that is not an answer without rows.
pub fn rows<T>(list: &Value, row: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let items = list.as_array()?;
    let rows: Vec<T> = items.iter().filter_map(row).collect();
    (items.is_empty() || !rows.is_empty()).then_some(rows)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn any_value_is_read_or_unknown() {
        let counts = [
            (json!(1300), Some(1300)),
            (json!(1300.0), Some(1300)),
            (json!("7"), Some(7)),
            (json!(-1), None),
            (json!(1e300), None),
            (json!(null), None),
            (json!({}), None),
        ];
        for (value, read) in counts {
            assert_eq!(count(&value), read, "{value}");
        }
        assert_eq!((flag(&json!(true)), flag(&json!(0)), flag(&json!("yes"))), (Some(true), Some(false), None));
        assert_eq!(day(&json!("2026-10-14 08:11:02 +00:00")), day(&json!("2026-10-14T08:11:02Z")));
        assert!(day(&json!("2026-10-14")).is_some() && day(&json!("é026-10-14")).is_none() && day(&json!(3)).is_none());
        assert_eq!((within(&json!(31), 0.0, 100.0), within(&json!(101), 0.0, 100.0)), (Some(31.0), None));
        assert_eq!((text(&json!("abc"), 2).as_deref(), text(&json!(""), 2)), (Some("ab"), None));
        assert!(items(&json!(null)).is_empty() && items(&json!([1])).len() == 1);
    }

    #[test]
    fn rows_are_a_list_of_which_something_can_be_read() {
        let cases = [
            (json!([]), Some(vec![])),
            (json!([7, null, 8]), Some(vec![7, 8])),
            (json!([null]), None),
            (json!([{}]), None),
            (json!({}), None),
            (json!("7"), None),
            (json!(null), None),
        ];
        for (list, expected) in cases {
            assert_eq!(rows(&list, count), expected, "{list}");
        }
    }
}
