//! Compares responses with a naive sum over the public cells.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{PUBLISHER, SOFTWARE, WORLD, YOUNG, ask, body, date, filters, rows};
use crate::{Cell, PagePart, SearchType};

const DAYS: [&str; 2] = ["2026-11-08", "2026-11-09"];

type Rows = BTreeMap<Vec<String>, [u64; 3]>;

/// The rows of a response by key, with the position sum restored.
fn answered(answer: &Value) -> Rows {
    let row = |row: &Value| {
        let keys = row["keys"]
            .as_array()
            .map_or(Vec::new(), |keys| keys.iter().map(|key| key.as_str().unwrap().to_owned()).collect());
        let impressions = row["impressions"].as_u64().unwrap();
        let positions = (row["position"].as_f64().unwrap_or_default() * impressions as f64).round();
        (keys, [row["clicks"].as_u64().unwrap(), impressions, format!("{positions:.0}").parse().unwrap()])
    };
    rows(answer).iter().map(row).collect()
}

/// The expected rows. `by_page` counts page parts, otherwise cells.
fn expected(
    site: &str,
    search_type: SearchType,
    by_page: bool,
    keys: impl Fn(&str, &Cell, Option<&PagePart>) -> Option<Vec<String>>,
) -> Rows {
    let mut rows = Rows::new();
    let mut add = |keys: Option<Vec<String>>, [clicks, impressions, positions]: [u64; 3]| {
        if let Some(keys) = keys {
            let row = rows.entry(keys).or_default();
            *row = [row[0] + clicks, row[1] + impressions, row[2] + positions];
        }
    };
    for day in DAYS {
        for cell in WORLD.site(site).unwrap().cells(search_type, date(day)) {
            if by_page {
                for part in &cell.pages {
                    add(keys(day, &cell, Some(part)), [part.clicks, part.impressions, part.position_sum]);
                }
            } else {
                add(keys(day, &cell, None), [cell.clicks, cell.impressions, cell.position_sum]);
            }
        }
    }
    rows
}

fn check(site: &str, more: Value, expected: &Rows) -> Result<(), TestCaseError> {
    let answer = ask(site, &body(DAYS[0], DAYS[1], more));
    prop_assert_eq!(&answered(&answer), expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn by_property_with_conditions(
        site in prop_oneof![Just(SOFTWARE), Just(YOUNG)],
        (operator, negated) in prop_oneof![Just(("contains", false)), Just(("notContains", true))],
        word in prop_oneof![Just("in"), Just("Best"), Just("ledger")],
        device in prop_oneof![Just("desktop"), Just("MOBILE")],
    ) {
        let conditions = json!([
            { "dimension": "query", "operator": operator, "expression": word },
            { "dimension": "device", "expression": device },
            { "dimension": "country", "operator": "notEquals", "expression": "USA" },
        ]);
        let rows = expected(site, SearchType::Web, false, |day, cell, _| {
            let found = cell.query.to_lowercase().contains(&word.to_lowercase());
            let wanted = !cell.anonymised && found != negated && cell.country != "usa";
            let wanted = wanted && cell.device == device.to_uppercase();
            wanted.then(|| vec![cell.query.to_string(), day.to_owned()])
        });
        check(site, json!({ "dimensions": ["query", "date"], "dimensionFilterGroups": filters(&conditions) }), &rows)?;
    }

    #[test]
    fn by_page_with_conditions(
        site in prop_oneof![Just(SOFTWARE), Just(YOUNG)],
        section in prop_oneof![Just("/blog/"), Just("/docs/"), Just("/services/")],
        exact in any::<bool>(),
    ) {
        let operator = if exact { "includingRegex" } else { "contains" };
        let conditions = json!([{ "dimension": "page", "operator": operator, "expression": section }]);
        let wanted = |part: Option<&PagePart>| part.is_some_and(|part| part.url.contains(section));
        let by_country = expected(site, SearchType::Web, true, |_, cell, part| {
            wanted(part).then(|| vec![cell.country.to_owned(), part.unwrap().url.to_string()])
        });
        let filters = filters(&conditions);
        check(site, json!({ "dimensions": ["country", "page"], "dimensionFilterGroups": filters }), &by_country)?;
        let by_query = expected(site, SearchType::Web, true, |_, cell, part| {
            (wanted(part) && !cell.anonymised).then(|| vec![cell.query.to_string()])
        });
        check(site, json!({ "dimensions": ["query"], "dimensionFilterGroups": filters }), &by_query)?;
    }
}

#[test]
fn search_appearances_overlap() {
    let answer = ask(PUBLISHER, &body(DAYS[0], DAYS[1], json!({ "dimensions": ["searchAppearance"] })));
    let mut overlapping = Rows::new();
    for day in DAYS {
        for cell in WORLD.site(PUBLISHER).unwrap().cells(SearchType::Web, date(day)) {
            for part in &cell.pages {
                for appearance in &part.appearances {
                    let row = overlapping.entry(vec![(*appearance).to_owned()]).or_default();
                    *row = [row[0] + part.clicks, row[1] + part.impressions, row[2] + part.position_sum];
                }
            }
        }
    }
    assert!(overlapping.len() >= 3);
    assert_eq!(answered(&answer), overlapping);

    let condition = json!([{ "dimension": "searchAppearance", "expression": "VIDEO" }]);
    let only = ask(PUBLISHER, &body(DAYS[0], DAYS[1], json!({ "dimensionFilterGroups": filters(&condition) })));
    assert_eq!(answered(&only)[&Vec::new()], overlapping[&vec!["VIDEO".to_owned()]]);
}

#[test]
fn feeds_have_pages_but_neither_queries_nor_positions() {
    for (name, search_type) in [("discover", SearchType::Discover), ("googleNews", SearchType::GoogleNews)] {
        let answer = ask(PUBLISHER, &body(DAYS[0], DAYS[1], json!({ "type": name, "dimensions": ["page"] })));
        assert!(rows(&answer).len() > 20, "{name}");
        assert!(rows(&answer).iter().all(|row| row.get("position").is_none()), "{name}");
        assert_eq!(answer["responseAggregationType"], "byPage");
        let pages = expected(PUBLISHER, search_type, true, |_, _, part| part.map(|part| vec![part.url.to_string()]));
        let clicks = |rows: &Rows| rows.iter().map(|(key, row)| (key.clone(), row[0], row[1])).collect::<Vec<_>>();
        assert_eq!(clicks(&answered(&answer)), clicks(&pages), "{name}");
    }
}

#[test]
fn other_search_types_are_worlds_of_their_own() {
    let total = |name: &str| {
        ask(PUBLISHER, &body(DAYS[0], DAYS[1], json!({ "type": name })))["rows"][0]["impressions"].as_u64()
    };
    let types = ["web", "image", "video", "news", "discover", "googleNews"].map(total);
    assert!(types.iter().all(Option::is_some), "{types:?}");
    assert!(types[1..].iter().all(|impressions| impressions < &types[0]));
    let absent = ask(YOUNG, &body(DAYS[0], DAYS[1], json!({ "type": "discover", "dimensions": ["page"] })));
    assert!(absent.get("rows").is_none());
}
