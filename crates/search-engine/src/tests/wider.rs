//! Tests of readings that are taken from wider ones.

use api::models::{SearchType, Window};
use common::metrics::Metrics;
use proptest::prelude::*;

use super::*;
use crate::{
    reading::{Reading, Row},
    request::Request,
    wire::{Filter, FilterGroup, FilterOperator, QueryRequest},
};

fn request(dimensions: &[Dimension], days: (&str, &str), row_limit: usize) -> Request {
    let query = QueryRequest {
        start_date: date(days.0),
        end_date: date(days.1),
        dimensions: dimensions.to_vec(),
        search_type: SearchType::Web,
        dimension_filter_groups: Vec::new(),
        aggregation_type: None,
        row_limit,
        start_row: 0,
        data_state: DataState::Final,
    };
    let among = Some(Window { start_date: date("2026-09-29"), end_date: date("2026-10-02") });
    Request { account: account("grant"), site: site(), query, among }
}

/// A row with these keys, of whole measures.
fn row(keys: &[&str], clicks: u32, impressions: u32) -> Row {
    let metrics = Metrics::of_row(f64::from(clicks), f64::from(impressions), Some(3.0));
    Row { keys: keys.iter().map(|key| (*key).into()).collect(), metrics }
}

fn reading(rows: Vec<Row>) -> Reading {
    Reading { rows, ..Reading::empty(DateTime::UNIX_EPOCH) }
}

fn said(reading: &Reading) -> Vec<(String, f64, f64)> {
    let row = |row: &Row| (row.keys.join(" "), row.metrics.clicks, row.metrics.impressions);
    reading.rows.iter().map(row).collect()
}

const NOW: (&str, &str) = ("2026-10-01", "2026-10-02");

#[test]
fn rows_of_a_window_are_the_sum_of_their_days() {
    let countries = request(&[Dimension::Country], NOW, 25_000);
    let wide = countries.among_days().unwrap();
    assert_eq!(wide.query.dimensions, [Dimension::Date, Dimension::Country]);
    assert_eq!((wide.query.start_date, wide.query.end_date), (date("2026-09-29"), date("2026-10-02")));
    let days = reading(vec![
        row(&["2026-09-30", "usa"], 50, 500),
        row(&["2026-10-01", "deu"], 1, 40),
        row(&["2026-10-01", "usa"], 2, 10),
        row(&["2026-10-02", "deu"], 3, 30),
    ]);
    let own = countries.part_of(&wide.query, &days).unwrap();
    assert_eq!(said(&own), [("deu".to_owned(), 4.0, 70.0), ("usa".to_owned(), 2.0, 10.0)]);
    assert!(!own.capped);
    assert_eq!(countries.part_of(&wide.query, &Reading { capped: true, ..days.clone() }), None, "a row may be missing");
    let mut rounded = days;
    rounded.rows[1].metrics = Metrics::of_row(1.0, 3.0, Some(2.3));
    assert_eq!(countries.part_of(&wide.query, &rounded), None, "a position was rounded upstream");
}

#[test]
fn only_rows_that_add_up_by_day_are_read_for_both_windows() {
    for (dimensions, is_wide) in [
        (&[][..], true),
        (&[Dimension::Date], true),
        (&[Dimension::Device], true),
        (&[Dimension::Query], false),
        (&[Dimension::Page], false),
        (&[Dimension::SearchAppearance], false),
        (&[Dimension::Date, Dimension::Query], false),
    ] {
        assert_eq!(request(dimensions, NOW, 25_000).among_days().is_some(), is_wide, "{dimensions:?}");
    }
    let countries = request(&[Dimension::Country], NOW, 25_000);
    let fresh = QueryRequest { data_state: DataState::All, ..countries.query.clone() };
    assert!(Request { query: fresh, ..countries.clone() }.among_days().is_none(), "days change that are not final");
    let long = Window { start_date: date("2026-05-01"), end_date: date("2026-10-02") };
    assert!(Request { among: Some(long), ..countries.clone() }.among_days().is_none(), "too many rows for one page");
    let other = Window { start_date: date("2026-09-01"), end_date: date("2026-10-01") };
    assert!(Request { among: Some(other), ..countries.clone() }.among_days().is_none(), "a day is outside");
    assert!(Request { among: None, ..countries }.among_days().is_none());
}

#[test]
fn a_list_is_taken_from_a_longer_one_or_from_a_shorter_one_that_is_whole() {
    let rows: Vec<Row> = (0..6_000).map(|index| row(&[&format!("q{index:04}")], 1, 9_000 - index)).collect();
    let (short, long) = (request(&[Dimension::Query], NOW, 5_000), request(&[Dimension::Query], NOW, 50_000));
    let all = reading(rows.clone());
    let first = short.part_of(&long.query, &all).unwrap();
    assert_eq!((first.rows.len(), first.capped), (5_000, true));
    assert_eq!(first.rows, rows[..5_000]);
    let few = reading(rows[..10].to_vec());
    assert_eq!(short.part_of(&long.query, &few), Some(few.clone()));
    assert_eq!(long.part_of(&short.query, &few), Some(few));
    assert_eq!(long.part_of(&short.query, &first), None, "there may be more");
    let wider: Vec<usize> = long.wider().map(|wider| wider.query.row_limit).collect();
    assert_eq!(wider, [5_000]);
}

#[test]
fn queries_that_match_no_expression_are_taken_from_all_queries() {
    let excluding = |expression: &str| {
        let filter = Filter {
            dimension: Dimension::Query,
            operator: FilterOperator::ExcludingRegex,
            expression: expression.to_owned(),
        };
        let all = request(&[Dimension::Query], NOW, 50_000);
        let query = QueryRequest { dimension_filter_groups: FilterGroup::all_of(&[filter]), ..all.query.clone() };
        (Request { query, ..all.clone() }, all)
    };
    let (own, all) = excluding(r"(?i:(?:^|[^\p{L}\p{N}])north moor)");
    assert!(own.wider().any(|wider| wider.query == all.query));
    let queries =
        reading(vec![row(&["north moor boots"], 9, 90), row(&["boots"], 3, 30), row(&["my North Moor"], 1, 10)]);
    assert_eq!(said(&own.part_of(&all.query, &queries).unwrap()), [("boots".to_owned(), 3.0, 30.0)]);
    assert_eq!(own.part_of(&all.query, &Reading { capped: true, ..queries }), None, "a query may be missing");
    // The search engine's classes are ASCII, and those of this program are not.
    for expression in [r"\bcaf\b", r"\w+ boots", r"\d{4}", r"[\s-]moor"] {
        let (own, all) = excluding(expression);
        assert!(own.wider().all(|wider| wider.query != all.query), "{expression}");
    }
}

proptest! {
    /// Both windows together have what their days have, in any order of devices.
    #[test]
    fn the_parts_of_both_windows_add_up_to_all_days(rows in prop::collection::vec((0_u32..4, 0_usize..3, 0_u32..50, 1_u32..900), 0..12)) {
        let names = ["DESKTOP", "MOBILE", "TABLET"];
        let mut by_key = std::collections::BTreeMap::new();
        for (day, device, clicks, more) in rows {
            let day = (date("2026-09-29") + chrono::TimeDelta::days(day.into())).to_string();
            by_key.insert((day, names[device]), (clicks, clicks + more));
        }
        let rows = by_key.iter().map(|((day, device), (clicks, impressions))| row(&[day, device], *clicks, *impressions));
        let days = reading(rows.collect());
        let [before, now] = [("2026-09-29", "2026-09-30"), NOW].map(|window| {
            let own = request(&[Dimension::Device], window, 25_000);
            let wide = own.among_days().unwrap();
            own.part_of(&wide.query, &days).unwrap()
        });
        let sum = |reading: &Reading| reading.rows.iter().map(|row| row.metrics).sum::<Metrics>();
        prop_assert_eq!(sum(&before) + sum(&now), sum(&days));
    }
}
