//! Bodies that are answers, and bodies that are not.

use api::models::{Aggregation, SearchType};

use super::*;
use crate::wire::DataState;

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// A request for two rows of October.
fn asked(dimensions: &[Dimension]) -> QueryRequest {
    QueryRequest {
        start_date: date("2026-10-01"),
        end_date: date("2026-10-31"),
        dimensions: dimensions.to_vec(),
        search_type: SearchType::Web,
        dimension_filter_groups: Vec::new(),
        aggregation_type: None,
        row_limit: 2,
        start_row: 0,
        data_state: DataState::All,
    }
}

/// An answer with these rows and nothing that is missing.
fn of(rows: &str) -> String {
    format!(r#"{{"rows":{rows},"responseAggregationType":"byProperty"}}"#)
}

/// An answer with one row of this key and counts.
fn row(key: &str, counts: &str) -> String {
    of(&format!(r#"[{{"keys":["{key}"],{counts}}}]"#))
}

#[test]
fn answers_are_read_with_their_rows() {
    let cases: Vec<(&[Dimension], String, usize)> = vec![
        (&[], r#"{"responseAggregationType":"byProperty"}"#.to_owned(), 0),
        (&[], of("[]"), 0),
        (&[], of("null"), 0),
        (&[], of(r#"[{"clicks":1,"impressions":2,"ctr":0.5,"position":3.5}]"#), 1),
        (&[], of(r#"[{"keys":[],"clicks":1.0,"impressions":2.0,"new":{}}]"#), 1),
        (&[], r#"{"rows":[{"clicks":0,"impressions":2}]}"#.to_owned(), 1),
        (&[], r#"{"error":null,"new":[],"responseAggregationType":"AUTO"}"#.to_owned(), 0),
        (&[Dimension::Query], row("é", r#""clicks":0,"impressions":0,"position":0"#), 1),
        (&[Dimension::Query], row("", r#""clicks":0,"impressions":9007199254740992,"position":null"#), 1),
        (&[Dimension::Date], row("2026-10-01", r#""clicks":1,"impressions":2"#), 1),
        (&[Dimension::Query], row("more clicks", r#""clicks":7,"impressions":2,"ctr":3.5"#), 1),
        (&[Dimension::Country], row("zzz", r#""clicks":1,"impressions":2"#), 1),
        (&[Dimension::Device], row("MOBILE", r#""clicks":1,"impressions":2"#), 1),
        (&[Dimension::Hour], row("2026-10-31T23:00:00-07:00", r#""clicks":1,"impressions":2"#), 1),
        (
            &[Dimension::Date, Dimension::Page],
            of(
                r#"[{"keys":["2026-10-02","a"],"clicks":1,"impressions":2},{"keys":["2026-10-02","b"],"clicks":1,"impressions":2}]"#,
            ),
            2,
        ),
    ];
    for (dimensions, body, expected) in cases {
        let answer = rows(body.as_bytes(), &asked(dimensions));
        assert_eq!(answer.as_ref().map(|answer| answer.rows.len()).ok(), Some(expected), "{body}: {answer:?}");
    }
}

#[test]
fn what_the_search_engine_never_sends_is_not_an_answer() {
    let of_a_query = [
        "",
        " ",
        "null",
        "true",
        "7",
        "\"rows\"",
        "[]",
        "[[],null,{}]",
        r#"[[],"byProperty"]"#,
        "{",
        "{}",
        "<html><body>Sign in to the network</body></html>",
        r#"{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}"#,
        r#"{"error":"no upstream"}"#,
        r#"{"message":"no upstream"}"#,
        r#"{"rows":[]}"#,
        r#"{"metadata":{}}"#,
        r#"{"error":{"code":500},"responseAggregationType":"byProperty"}"#,
        r#"{"responseAggregationType":null}"#,
        r#"{"responseAggregationType":7}"#,
        r#"{"responseAggregationType":"byProperty","metadata":[]}"#,
        r#"{"responseAggregationType":"byProperty","metadata":null}"#,
        r#"{"responseAggregationType":"byProperty","metadata":{"firstIncompleteDate":"soon"}}"#,
        r#"{"responseAggregationType":"byProperty"}{}"#,
        r#"{"rows":[{"keys":["a"],"clicks":1,"impressions":2}],"error":{"code":500}}"#,
    ];
    for body in of_a_query {
        assert!(rows(body.as_bytes(), &asked(&[Dimension::Query])).is_err(), "{body}");
    }
    let whole = row("a", r#""clicks":1,"impressions":2"#);
    for length in 0..whole.len() {
        assert!(rows(&whole.as_bytes()[..length], &asked(&[Dimension::Query])).is_err(), "{length}");
    }
}

#[test]
fn rows_without_the_keys_and_counts_that_were_asked_for_are_not_an_answer() {
    let of_rows = [
        "{}",
        "\"\"",
        "7",
        "[null]",
        "[7]",
        "[[]]",
        r#"[["a"],1,2]"#,
        r#"[[["a"],1,2,3]]"#,
        "[{}]",
        r#"[{"clicks":1,"impressions":2}]"#,
        r#"[{"keys":null,"clicks":1,"impressions":2}]"#,
        r#"[{"keys":[],"clicks":1,"impressions":2}]"#,
        r#"[{"keys":"a","clicks":1,"impressions":2}]"#,
        r#"[{"keys":[null],"clicks":1,"impressions":2}]"#,
        r#"[{"keys":[7],"clicks":1,"impressions":2}]"#,
        r#"[{"keys":["a","b"],"clicks":1,"impressions":2}]"#,
        r#"[{"keys":["a"],"clicks":1,"impressions":2},{"keys":["a"],"clicks":1,"impressions":2}]"#,
        r#"[{"keys":["a"],"clicks":1,"impressions":2},{"keys":["b"],"clicks":1,"impressions":2},{"keys":["c"],"clicks":1,"impressions":2}]"#,
    ];
    let of_counts = [
        r#""impressions":2"#,
        r#""clicks":1"#,
        r#""clicks":null,"impressions":2"#,
        r#""clicks":"1","impressions":2"#,
        r#""clicks":1,"impressions":"2""#,
        r#""clicks":-1,"impressions":2"#,
        r#""clicks":1,"impressions":-0.5"#,
        r#""clicks":-0.0,"impressions":2"#,
        r#""clicks":0.5,"impressions":2"#,
        r#""clicks":1,"impressions":2.5"#,
        r#""clicks":NaN,"impressions":2"#,
        r#""clicks":Infinity,"impressions":2"#,
        r#""clicks":1e999,"impressions":2"#,
        r#""clicks":1,"impressions":1e16"#,
        r#""clicks":true,"impressions":2"#,
        r#""clicks":[1],"impressions":2"#,
        r#""clicks":1,"impressions":2,"position":-3"#,
        r#""clicks":1,"impressions":2,"position":"3""#,
    ];
    for body in of_rows.map(of).into_iter().chain(of_counts.map(|counts| row("a", counts))) {
        assert!(rows(body.as_bytes(), &asked(&[Dimension::Query])).is_err(), "{body}");
    }
}

#[test]
fn rows_with_keys_that_no_dimension_asked_for_has_are_not_an_answer() {
    for key in ["2026-09-30", "2026-11-01", "20261001", "", "(not set)", "2026-10-é"] {
        for dimension in [Dimension::Date, Dimension::Hour] {
            let body = row(key, r#""clicks":1,"impressions":2"#);
            assert!(rows(body.as_bytes(), &asked(&[dimension])).is_err(), "{body}");
        }
    }
    for (dimension, key) in [
        (Dimension::Date, "2026-10-1"),
        (Dimension::Date, "2026-10- 1"),
        (Dimension::Date, "+2026-10-01"),
        (Dimension::Date, "01/10/2026"),
        (Dimension::Hour, "2026-10-31T23:00:00Z"),
        (Dimension::Hour, "2026-10-31T23:00:00+01:00"),
        (Dimension::Hour, "2026-10-31T23:00:00-07:30"),
        (Dimension::Hour, "2026-10-31T23:30:00-07:00"),
        (Dimension::Hour, "2026-10-31 23:00:00-07:00"),
        (Dimension::Hour, "2026-10-31T23:00:00.0-07:00"),
        (Dimension::Country, "MOBILE"),
        (Dimension::Country, "United States"),
        (Dimension::Device, "usa"),
        (Dimension::Device, ""),
    ] {
        let body = row(key, r#""clicks":1,"impressions":2"#);
        assert!(rows(body.as_bytes(), &asked(&[dimension])).is_err(), "{dimension:?} {body}");
    }
    let swapped = of(r#"[{"keys":["https://a.test/","a"],"clicks":1,"impressions":2}]"#);
    assert!(rows(swapped.as_bytes(), &asked(&[Dimension::Query, Dimension::Page])).is_err());
    assert!(rows(swapped.as_bytes(), &asked(&[Dimension::Page, Dimension::Query])).is_ok());
    let body = row("2026-10-01T00:00:00", r#""clicks":1,"impressions":2"#);
    assert!(rows(body.as_bytes(), &asked(&[Dimension::Date])).is_err(), "one day has one key");
}

#[test]
fn rows_of_another_aggregation_are_not_those_asked_for() {
    for (wanted, used, is_read) in [
        (None, "byProperty", true),
        (None, "byNewsShowcasePanel", true),
        (Some(Aggregation::ByPage), "byPage", true),
        (Some(Aggregation::ByPage), "BY_PAGE", true),
        (Some(Aggregation::ByPage), "byProperty", false),
        (Some(Aggregation::ByProperty), "BY_PROPERTY", true),
        (Some(Aggregation::ByProperty), "byPage", false),
        (Some(Aggregation::ByProperty), "", false),
    ] {
        let body = format!(r#"{{"responseAggregationType":"{used}"}}"#);
        let asked = QueryRequest { aggregation_type: wanted, ..asked(&[]) };
        assert_eq!(rows(body.as_bytes(), &asked).is_ok(), is_read, "{wanted:?} {used}");
    }
}

#[test]
fn the_first_incomplete_day_is_read_in_both_spellings_and_is_near_the_days_asked_for() {
    let cases = [
        ("2026-10-30", true),
        ("2026-09-01", true),
        ("2025-06-01", true),
        ("2025-05-31", false),
        ("2026-11-01", true),
        ("2026-11-02", false),
        ("-262143-01-01", false),
        ("+262142-12-31", false),
    ];
    for name in ["firstIncompleteDate", "first_incomplete_date"] {
        for (day, is_read) in cases {
            let body = format!(r#"{{"responseAggregationType":"byProperty","metadata":{{"{name}":"{day}"}}}}"#);
            let found = rows(body.as_bytes(), &asked(&[Dimension::Date]));
            let found = found.ok().map(|answer| answer.metadata.first_incomplete_date.unwrap());
            assert_eq!(found, is_read.then(|| date(day)), "{name} {day}");
        }
    }
}

#[test]
fn a_list_of_sites_is_empty_only_if_the_search_engine_says_so() {
    let one = r#"{"siteUrl":"sc-domain:a.test","permissionLevel":"siteOwner"}"#;
    let list = |entries: &str| format!(r#"{{"siteEntry":[{entries}]}}"#);
    let cases = [
        ("{}".to_owned(), Some(0)),
        (list(""), Some(0)),
        (list(one), Some(1)),
        (list(&format!("{one},{one}")), Some(2)),
        (format!(r#"{{"new":1,"siteEntry":[{one}]}}"#), Some(1)),
        (format!(r#"{{"error":{{"code":500}},"siteEntry":[{one}]}}"#), None),
        (r#"{"error":{"code":500,"message":"Internal error encountered."}}"#.to_owned(), None),
        (r#"{"error":"x"}"#.to_owned(), None),
        (r#"{"message":"no upstream"}"#.to_owned(), None),
        (r#"{"rows":[]}"#.to_owned(), None),
        (format!(r#"{{"siteEntry":[{one}],"siteEntry":[]}}"#), None),
        (r#"{"siteEntry":null}"#.to_owned(), None),
        (r#"{"siteEntry":{}}"#.to_owned(), None),
        (r#"{"siteEntry":"a"}"#.to_owned(), None),
        (list("null"), None),
        (list(r#"["sc-domain:a.test","siteOwner"]"#), None),
        (list(r#"{"siteUrl":"sc-domain:a.test"}"#), None),
        (list(r#"{"siteUrl":"","permissionLevel":"siteOwner"}"#), None),
        (list(r#"{"siteUrl":7,"permissionLevel":"siteOwner"}"#), None),
        (String::new(), None),
        ("null".to_owned(), None),
        ("[]".to_owned(), None),
        (format!("[[{one}]]"), None),
        ("\"\"".to_owned(), None),
        ("<html>".to_owned(), None),
        (r#"{"siteEntry":["#.to_owned(), None),
    ];
    for (body, expected) in cases {
        let found = sites(body.as_bytes());
        assert_eq!(found.as_ref().ok().map(Vec::len), expected, "{body}: {found:?}");
    }
}
