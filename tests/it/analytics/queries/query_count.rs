//! Tests of daily unique queries.

use std::cell::Cell;

use serde_json::{Value, json};

use super::{
    cases::{slices, windows},
    checks::close,
    curve::buckets,
    each,
};
use crate::analytics::case::{Case, Window};

const OPERATION: &str = "query-count";

fn check(case: &Case, json: &Value, seen: &Cell<u64>) {
    let data = &json["data"];
    let now = case.table("queries", case.counted()).len();
    let (days, rows) = check_series(case, &data["series"], case.window, seen);
    assert_eq!(data["uniqueQueries"], if case.is_counted() { json!(now) } else { Value::Null });
    let mut coverage = json!({ "rowsKnown": rows, "days": days, "daysCapped": 0 });
    if let Some([_, earlier]) = case.compared() {
        let before = case.table("queries", earlier).len();
        assert_eq!(data["previous"], before);
        assert_eq!(data["change"]["absolute"], now.cast_signed() - before.cast_signed());
        let change = now as f64 - before as f64;
        close(&data["change"]["percent"], (before > 0).then(|| 100.0 * change / before as f64));
        coverage["previousDays"] = json!(check_series(case, &data["previousSeries"], earlier, seen).0);
        coverage["previousDaysCapped"] = json!(0);
    } else {
        assert!(["previous", "change", "previousSeries"].iter().all(|name| data.get(*name).is_none()), "{data}");
    }
    assert_eq!(json["meta"]["coverage"], coverage);
}

/// Checks the days of a window, and returns their number and that of their rows.
fn check_series(case: &Case, series: &Value, window: Window, seen: &Cell<u64>) -> (usize, usize) {
    let (series, days) = (series.as_array().unwrap(), case.daily_rows("queries", window));
    assert_eq!(series.len(), days.len());
    for (point, (date, rows)) in series.iter().zip(&days) {
        let by_bucket = buckets(rows).into_iter();
        let by_bucket: Vec<Value> =
            by_bucket.map(|(bucket, queries, _)| json!({ "bucket": bucket, "queries": queries })).collect();
        let expected =
            json!({ "date": date.to_string(), "queries": rows.len(), "buckets": by_bucket, "capped": false });
        assert_eq!(*point, expected);
        let sum: u64 = point["buckets"].as_array().unwrap().iter().map(|one| one["queries"].as_u64().unwrap()).sum();
        assert_eq!(point["queries"], sum, "every identified query is in one bucket");
        seen.set(seen.get() + sum);
    }
    (days.len(), days.values().map(std::collections::BTreeMap::len).sum())
}

#[tokio::test]
async fn queries_are_counted_as_in_the_cells_in_every_window() {
    let seen = Cell::default();
    each(OPERATION, &windows(), |case, json| check(case, json, &seen)).await;
    assert!(seen.get() > 1000, "{}", seen.get());
}

#[tokio::test]
async fn queries_are_counted_as_in_the_cells_in_every_slice() {
    let seen = Cell::default();
    each(OPERATION, &slices(), |case, json| check(case, json, &seen)).await;
    assert!(seen.get() > 1000, "{}", seen.get());
}
