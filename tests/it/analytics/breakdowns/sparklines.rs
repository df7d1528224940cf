//! Tests of small daily series for table rows.

use serde_json::Value;
use simulator::SearchType;

use super::{Case, Class, PAPER, People, SMALL, SOFTWARE, Window, YOUNG, ordered};
use crate::support::oracle::{Sum, tally};

const WEEK: Window = ("2026-10-05", "2026-10-11");
const DAY: Window = ("2026-10-06", "2026-10-06");
const TABLES: [&str; 4] = ["queries", "pages", "countries", "devices"];

impl Case {
    /// Requests the sparklines of these keys and checks every number.
    pub async fn has_true_sparklines(&self, people: &People, table: &str, keys: &[String]) {
        let text = serde_json::to_string(keys).unwrap();
        let json = self.ask(people, "table-sparklines", &[("table", table), ("keys", &text)]).await.expect(200).json;
        self.holds_sparklines(&json, table, keys);
        let counted = self.table(table, self.counted());
        let known: Vec<Sum> = keys.iter().filter_map(|key| counted.get(key)).copied().collect();
        // A key of the comparison window only has a row, too.
        let rows = json["data"]["rows"].as_array().unwrap().iter().filter(|row| row["known"] == true);
        let sum = |row: &Value| counted.get(row["key"].as_str().unwrap()).copied().unwrap_or_default();
        let rows = tally(rows.map(sum));
        self.coverage_counted(&json["meta"]["coverage"]["rows"], self.count_of(table), (false, 50_000), (rows, rows));
        if !known.is_empty() {
            // The metadata names the aggregation of the rows, which for pages is always by page.
            self.meta(&json["meta"], self.count());
        }
    }

    /// Requests the sparklines of the first rows and checks every number.
    pub async fn has_true_first_sparklines(&self, people: &People, table: &str, limit: Option<usize>) {
        let text = limit.unwrap_or_default().to_string();
        let more = [("table", table), ("limit", text.as_str())];
        let more = if limit.is_some() { &more[..] } else { &more[..1] };
        let json = self.ask(people, "table-sparklines", more).await.expect(200).json;
        let rows = ordered(self.table(table, self.counted()));
        let first = &rows[..rows.len().min(limit.unwrap_or(25))];
        let keys: Vec<String> = first.iter().map(|(key, _)| key.clone()).collect();
        self.holds_sparklines(&json, table, &keys);
        let ceiling = if matches!(table, "queries" | "pages") { super::CEILING } else { usize::MAX };
        let known = tally(rows.iter().take(ceiling).map(|(_, sum)| *sum));
        let shown = tally(first.iter().map(|(_, sum)| *sum));
        self.coverage(&json["meta"]["coverage"]["rows"], table, shown, known);
        self.meta(&json["meta"], self.count());
    }

    fn holds_sparklines(&self, json: &Value, table: &str, keys: &[String]) {
        assert_eq!(json["data"]["table"], table);
        let rows = json["data"]["rows"].as_array().unwrap();
        let found: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
        assert_eq!(found, keys, "{table} of {self:?}");
        let now = (self.daily(table, self.window), Self::days(self.window));
        let before = self.compared().map(|[_, before]| (self.daily(table, before), Self::days(before)));
        for (row, key) in rows.iter().zip(keys) {
            let windows = [Some(&now), before.as_ref()];
            let known = windows.iter().flatten().any(|(daily, _)| daily.contains_key(key));
            assert_eq!(row["known"], known, "{row} in {self:?}");
            for (name, window) in ["series", "previousSeries"].into_iter().zip(windows) {
                match window {
                    None => assert!(row.get(name).is_none(), "{row}"),
                    Some(_) if !known => assert_eq!(row[name], serde_json::json!([]), "{row}"),
                    Some((daily, days)) => {
                        self.series(&row[name], days, &daily.get(key).cloned().unwrap_or_default());
                    }
                }
            }
        }
    }

    /// Every `step`th key of a table, from the last to the first.
    pub fn some_keys(&self, table: &str, step: usize) -> Vec<String> {
        let rows = ordered(self.table(table, self.window));
        rows.into_iter().rev().step_by(step).map(|(key, _)| key).take(50).collect()
    }
}

#[tokio::test]
async fn the_first_rows_of_a_table_have_their_days() {
    let people = People::new().await;
    let month = ("2026-10-01", "2026-10-28");
    let beyond = ("2026-11-16", "2026-11-21");
    for (site, window) in [(SMALL, WEEK), (SMALL, month), (SMALL, DAY), (YOUNG, beyond), (SOFTWARE, DAY), (PAPER, DAY)]
    {
        for table in TABLES {
            Case::of(site, window).has_true_first_sparklines(&people, table, None).await;
        }
    }
    for limit in [1, 50] {
        Case::of(SMALL, WEEK).has_true_first_sparklines(&people, "queries", Some(limit)).await;
        Case::of(SOFTWARE, DAY).has_true_first_sparklines(&people, "pages", Some(limit)).await;
    }
}

#[tokio::test]
async fn the_default_table_is_queries() {
    let (people, case) = (People::new().await, Case::of(SMALL, DAY));
    let said = case.ask(&people, "table-sparklines", &[]).await.expect(200).json;
    let named = case.ask(&people, "table-sparklines", &[("table", "queries"), ("limit", "25")]).await.expect(200).json;
    assert_eq!((&said["data"]["table"], &said["data"]), (&"queries".into(), &named["data"]));
}

#[tokio::test]
async fn keys_have_their_days_in_the_order_asked_for() {
    let people = People::new().await;
    for (site, window) in [(SMALL, WEEK), (YOUNG, ("2026-11-14", "2026-11-20")), (SOFTWARE, DAY), (PAPER, DAY)] {
        let case = Case::of(site, window);
        for table in TABLES {
            let keys = case.some_keys(table, 3);
            case.has_true_sparklines(&people, table, &keys).await;
        }
    }
}

#[tokio::test]
async fn keys_that_the_engine_does_not_name_are_unknown_and_not_counted() {
    let (people, case) = (People::new().await, Case::of(SMALL, WEEK));
    let mut queries = case.some_keys("queries", 9);
    let shouted = queries[0].to_uppercase();
    queries.splice(1..1, ["nobody asks this".to_owned(), shouted, format!(" {}", queries[1])]);
    case.has_true_sparklines(&people, "queries", &queries).await;
    let pages = ["https://quietmeadow.test/none".to_owned(), "no address".to_owned()];
    case.has_true_sparklines(&people, "pages", &pages).await;
    let countries = ["isl", "aus", "zzz", "atg"].map(str::to_owned);
    case.has_true_sparklines(&people, "countries", &countries).await;
    let unborn = Case::of(YOUNG, ("2025-10-01", "2025-10-03"));
    for (table, key) in [("queries", "tinyfern"), ("devices", "MOBILE"), ("countries", "usa")] {
        unborn.has_true_sparklines(&people, table, &[key.to_owned()]).await;
        unborn.has_true_first_sparklines(&people, table, None).await;
    }
    let unfinal = Case::of(SMALL, ("2026-11-19", "2026-11-21"));
    unfinal.has_true_sparklines(&people, "queries", &queries).await;
    unfinal.has_true_first_sparklines(&people, "pages", None).await;
}

#[tokio::test]
async fn days_of_another_window_stand_beside_them() {
    let people = People::new().await;
    let month = ("2026-10-01", "2026-10-28");
    for (site, window, before) in [
        (SMALL, WEEK, ("2026-09-28", "2026-10-04")),
        (SMALL, DAY, month),
        (SMALL, month, DAY),
        (SMALL, ("2026-11-16", "2026-11-21"), ("2026-11-10", "2026-11-15")),
        (YOUNG, WEEK, ("2025-10-01", "2025-10-07")),
        (YOUNG, ("2025-10-01", "2025-10-07"), WEEK),
        (SOFTWARE, DAY, ("2026-10-05", "2026-10-05")),
        (PAPER, DAY, ("2026-10-05", "2026-10-05")),
    ] {
        let case = Case::of(site, window).against(before);
        for table in TABLES {
            case.has_true_first_sparklines(&people, table, Some(10)).await;
            let keys = Case::of(site, before).some_keys(table, 5);
            if !keys.is_empty() {
                case.has_true_sparklines(&people, table, &keys).await;
            }
        }
    }
    let slice = Case::of(SMALL, WEEK).against(DAY).class(Class::Segment).and("query", "contains", "plant");
    slice.has_true_first_sparklines(&people, "queries", None).await;
}

#[tokio::test]
async fn days_of_a_slice_equal_its_cells() {
    let people = People::new().await;
    let whole = || Case::of(SMALL, WEEK);
    let mut cases: Vec<Case> =
        [Class::Branded, Class::NonBranded, Class::Segment, Class::Topic].map(|class| whole().class(class)).into();
    cases.extend([
        whole().and("country", "equals", "AUS").and("device", "equals", "mobile"),
        whole().and("query", "contains", "plant"),
        whole().and("query", "not_contains", "plant").and("page", "contains", "/blog/"),
        whole().and("searchAppearance", "equals", "PRODUCT_SNIPPETS"),
        whole().and("query", "contains", "plant").or("country", "equals", "aus"),
        whole().class(Class::Segment).and("query", "matches_regex", "^[a-m]"),
    ]);
    for case in &cases {
        for table in TABLES {
            case.has_true_first_sparklines(&people, table, Some(10)).await;
            // Keys of the whole table, some of which are not in the slice.
            let keys = whole().some_keys(table, 4);
            case.has_true_sparklines(&people, table, &keys).await;
        }
    }
}

#[tokio::test]
async fn days_of_other_search_types_equal_their_cells() {
    let people = People::new().await;
    let days = ("2026-10-20", "2026-10-21");
    let kinds: [(SearchType, &[&str]); 3] = [
        (SearchType::Image, &TABLES),
        (SearchType::Discover, &["pages", "countries"]),
        (SearchType::GoogleNews, &["pages", "countries", "devices"]),
    ];
    for (kind, tables) in kinds {
        let case = Case::of(PAPER, days).search_type(kind);
        for table in tables {
            case.has_true_first_sparklines(&people, table, Some(12)).await;
            let keys = case.some_keys(table, 2);
            case.has_true_sparklines(&people, table, &keys).await;
        }
    }
    Case::of(SMALL, WEEK).search_type(SearchType::Discover).has_true_first_sparklines(&people, "pages", None).await;
}
