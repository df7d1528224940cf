//! Tests that every breakdown of the world agrees with every other.

use chrono::Days;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{PUBLISHER, RETAIL, SOFTWARE, WORLD, YOUNG, ask, body, date, filters, rows, sums, today};
use crate::World;

fn site() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(SOFTWARE), Just(YOUNG), Just(PUBLISHER), Just(RETAIL)]
}

fn window() -> impl Strategy<Value = (String, String)> {
    (0u64..60, 0u64..4).prop_map(|(back, length)| {
        let end = date("2026-11-17") - Days::new(back);
        ((end - Days::new(length)).to_string(), end.to_string())
    })
}

fn word() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("ER"), Just("best"), Just("north"), Just("2026"), Just("zzz"), Just("e r")]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn groupings_add_up_to_the_total((start, end) in window(), site in site()) {
        let total = ask(site, &body(&start, &end, json!({})));
        prop_assert_eq!(rows(&total).len(), 1);
        prop_assert!(rows(&total)[0].get("keys").is_none());
        for dimensions in [json!(["date"]), json!(["device"]), json!(["country"]), json!(["country", "device", "date"])] {
            let split = ask(site, &body(&start, &end, json!({ "dimensions": dimensions })));
            prop_assert_eq!(sums(&split), sums(&total));
        }
    }

    #[test]
    fn hidden_queries_are_the_gap_between_query_rows_and_total((start, end) in window(), site in site(), word in word()) {
        let total = sums(&ask(site, &body(&start, &end, json!({}))));
        let queries = sums(&ask(site, &body(&start, &end, json!({ "dimensions": ["query"] }))));
        let with = |operator: &str| {
            let filters = filters(&json!([{ "dimension": "query", "operator": operator, "expression": word }]));
            sums(&ask(site, &body(&start, &end, json!({ "dimensionFilterGroups": filters }))))
        };
        let (with, without) = (with("contains"), with("notContains"));
        prop_assert!(queries[1] < total[1]);
        prop_assert_eq!([0, 1, 2].map(|i| with[i] + without[i]), queries);
    }

    #[test]
    fn pages_add_up_to_the_total_by_page((start, end) in window(), site in site(), word in word()) {
        let property = sums(&ask(site, &body(&start, &end, json!({}))));
        let by_page = sums(&ask(site, &body(&start, &end, json!({ "aggregationType": "byPage" }))));
        let pages = ask(site, &body(&start, &end, json!({ "dimensions": ["page"] })));
        prop_assert_eq!(sums(&pages), by_page);
        prop_assert_eq!(&pages["responseAggregationType"], "byPage");
        prop_assert!(by_page[0] >= property[0] && by_page[1] >= property[1]);

        let filters = filters(&json!([{ "dimension": "query", "operator": "contains", "expression": word }]));
        let wide = json!({ "dimensionFilterGroups": filters, "dimensions": ["query", "page"] });
        let narrow = json!({ "dimensionFilterGroups": filters, "aggregationType": "byPage" });
        prop_assert_eq!(sums(&ask(site, &body(&start, &end, wide))), sums(&ask(site, &body(&start, &end, narrow))));
    }

    #[test]
    fn rows_are_possible((start, end) in window(), site in site()) {
        for dimensions in [json!(["query"]), json!(["page"]), json!(["query", "page"]), json!(["device"])] {
            for row in rows(&ask(site, &body(&start, &end, json!({ "dimensions": dimensions })))) {
                prop_assert!(row["clicks"].as_u64() <= row["impressions"].as_u64());
                prop_assert!(row["impressions"].as_u64() > Some(0));
                prop_assert!(row["position"].as_f64().unwrap() >= 1.0);
            }
        }
    }

    #[test]
    fn a_part_of_a_range_is_a_slice_of_it(back in 0u64..60, site in site()) {
        let end = date("2026-11-17") - Days::new(back);
        let (start, middle) = ((end - Days::new(3)).to_string(), (end - Days::new(2)).to_string());
        let grouped = json!({ "dimensions": ["date", "query"] });
        let whole = ask(site, &body(&start, &end.to_string(), grouped.clone()));
        let part = ask(site, &body(&middle, &end.to_string(), grouped));
        let later: Vec<&Value> = rows(&whole).iter().filter(|row| row["keys"][0].as_str() >= Some(&middle)).collect();
        prop_assert_eq!(later, rows(&part).iter().collect::<Vec<_>>());
    }

    #[test]
    fn page_by_page_reads_like_one_page((start, end) in window(), size in 40usize..400) {
        let whole = ask(YOUNG, &body(&start, &end, json!({ "dimensions": ["query", "page"] })));
        let mut read = Vec::new();
        loop {
            let paged = json!({ "dimensions": ["query", "page"], "rowLimit": size, "startRow": read.len() });
            let answer = ask(YOUNG, &body(&start, &end, paged));
            read.extend(rows(&answer).to_vec());
            if rows(&answer).len() < size {
                break;
            }
        }
        prop_assert_eq!(&read, rows(&whole));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let body = body("2026-11-10", "2026-11-12", json!({ "dimensions": ["query", "country"] })).to_string();
    let answer = |seed| World::new(seed, today()).answer(SOFTWARE, &body, today()).unwrap();
    assert_eq!(answer(7), answer(7));
    assert_eq!(answer(7), WORLD.answer(SOFTWARE, &body, today()).unwrap());
    assert_ne!(answer(7), answer(8));
}

#[test]
fn the_shop_has_more_than_twelve_thousand_queries_in_28_days() {
    let answer = ask(RETAIL, &body("2026-10-21", "2026-11-17", json!({ "dimensions": ["query"] })));
    let queries: std::collections::HashSet<&str> =
        rows(&answer).iter().map(|row| row["keys"][0].as_str().unwrap()).collect();
    assert_eq!(queries.len(), rows(&answer).len());
    assert!(queries.len() >= 12_000, "{} rows", queries.len());
    assert!(queries.contains("northmoor") && queries.iter().any(|query| query.starts_with('=')));
    assert!(queries.iter().any(|query| !query.is_ascii()) && queries.contains("tent (2.5m) [sale]"));
}

/// The largest response of the service has 5,000 queries and 5,000 pages, and a property must fill it.
#[test]
fn the_newspaper_fills_both_large_tables_in_28_days() {
    for dimension in ["query", "page"] {
        let answer = ask(PUBLISHER, &body("2026-10-21", "2026-11-17", json!({ "dimensions": [dimension] })));
        assert!(rows(&answer).len() > 5_500, "{} {dimension} rows", rows(&answer).len());
    }
}

#[test]
fn the_hidden_share_of_clicks_is_near_the_profiles() {
    for (site, hidden) in [(RETAIL, 0.30), (SOFTWARE, 0.50), (PUBLISHER, 0.46)] {
        let total = sums(&ask(site, &body("2026-11-01", "2026-11-17", json!({}))))[0] as f64;
        let any = filters(&json!([{ "dimension": "query", "operator": "includingRegex", "expression": "" }]));
        let shown =
            sums(&ask(site, &body("2026-11-01", "2026-11-17", json!({ "dimensionFilterGroups": any }))))[0] as f64;
        let share = 1.0 - shown / total;
        assert!((share - hidden).abs() < 0.08, "{site}: {share}");
    }
}

#[test]
fn memory_stays_bounded() {
    for site in [RETAIL, PUBLISHER] {
        ask(site, &body("2026-01-01", "2026-03-31", json!({ "dimensions": ["date"] })));
    }
    assert!(WORLD.memory() > 0 && WORLD.memory() <= 64 << 20);
}
