//! Tests of daily unique queries.

use std::cell::Cell;

use serde_json::{Value, json};

use super::{
    case::Case,
    curve::buckets,
    each,
    places::{slices, windows},
};

const OPERATION: &str = "query-count";

fn check(case: &Case, json: &Value, seen: &Cell<u64>) {
    let days = case.daily_rows(case.window);
    assert_eq!(json["data"]["uniqueQueries"], case.rows(case.window).len());
    let series = json["data"]["series"].as_array().unwrap();
    assert_eq!(series.len(), days.len());
    for (point, (date, rows)) in series.iter().zip(&days) {
        let by_bucket = buckets(rows).into_iter();
        let by_bucket: Vec<Value> =
            by_bucket.map(|(bucket, queries, _)| json!({ "bucket": bucket, "queries": queries })).collect();
        let expected =
            json!({ "date": date.to_string(), "queries": rows.len(), "buckets": by_bucket, "capped": false });
        assert_eq!(*point, expected);
        let sum: u64 = point["buckets"].as_array().unwrap().iter().map(|one| one["queries"].as_u64().unwrap()).sum();
        assert_eq!(point["queries"], sum, "every identified query stands in one bucket");
        seen.set(seen.get() + sum);
    }
    assert_eq!(json["meta"]["coverage"], json!({ "days": days.len(), "daysCapped": 0 }));
}

/// The cases without a comparison, which this operation does not support.
fn uncompared(cases: Vec<Case>) -> Vec<Case> {
    cases.into_iter().map(|case| Case { compare: None, ..case }).collect()
}

#[tokio::test]
async fn queries_are_counted_as_in_the_cells_in_every_window() {
    let seen = Cell::default();
    each(OPERATION, &uncompared(windows()), |case, json| check(case, json, &seen)).await;
    assert!(seen.get() > 1000, "{}", seen.get());
}

#[tokio::test]
async fn queries_are_counted_as_in_the_cells_in_every_slice() {
    let seen = Cell::default();
    each(OPERATION, &uncompared(slices()), |case, json| check(case, json, &seen)).await;
    assert!(seen.get() > 1000, "{}", seen.get());
}
