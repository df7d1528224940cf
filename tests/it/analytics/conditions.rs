//! Tests of conditions on rows: they leave the rows that satisfy them, and change no total.

use serde_json::Value;

use super::{
    order::{SITES, rows},
    performance::{Asker, SMALL},
};
use crate::support::{app::shared, oracle::Sum};

#[tokio::test]
async fn conditions_on_metrics_leave_out_rows_and_change_no_total() {
    for (who, site) in SITES {
        let asker = Asker::of(shared(), who, site).await;
        let scope = [("scope", "all"), ("queryLimit", "5000")];
        let whole = asker.lists("performance", &[&scope]).await;
        let tables = ["queries", "countries", "devices"];
        let conditions = tables.map(|table| format!("{table}.impressions>=5,{table}.position<=10,{table}.ctr<0.5"));
        let some = asker.lists("performance", &[&scope, &[("metricFilters", &conditions.join(","))]]).await;
        assert_eq!(
            (&some["data"]["totals"], &some["data"]["series"]),
            (&whole["data"]["totals"], &whole["data"]["series"])
        );
        for table in tables {
            let place = format!("/data/tables/{table}");
            let fits = |row: &&Value| {
                if row["clicks"].is_null() {
                    return false;
                }
                let sum = Sum::said(row);
                sum.impressions >= 5
                    && sum.position().is_some_and(|position| position <= 10.0)
                    && sum.ctr().unwrap() < 0.5
            };
            let expected: Vec<&Value> = rows(&whole, &place).into_iter().filter(fits).collect();
            assert_eq!(rows(&some, &place), expected, "{table} of {site}");
            let (coverage, before) = (&some["meta"]["coverage"][table], &whole["meta"]["coverage"][table]);
            assert_eq!(
                (&coverage["rowsMatched"], &coverage["rowsShown"]),
                (&expected.len().into(), &expected.len().into())
            );
            assert_eq!(coverage["rowsKnown"], before["rowsKnown"]);
            assert_eq!((&coverage["orderExact"], before.get("orderExact")), (&true.into(), None));
            assert!(some.pointer(&place).unwrap().as_array().unwrap().iter().all(|row| row["presence"] != "lost"));
        }
    }
}

/// A condition as it is asked for, and whether it holds for a row.
type Condition<'f> = (&'static str, &'f dyn Fn(&Value) -> bool);

#[tokio::test]
async fn conditions_on_changes_and_presence_leave_the_rows_that_say_so() {
    let mut left = 0;
    for (who, site) in SITES {
        let asker = Asker::of(shared(), who, site).await;
        let scope = [("scope", "tables"), ("queryLimit", "5000"), ("pageLimit", "5000")];
        let whole = asker.lists("performance", &[&scope]).await;
        let change = |row: &Value, metric: &str, measure: &str| row["change"][metric][measure].as_f64();
        let conditions: [Condition; 6] = [
            ("presence=new", &|row| row["presence"] == "new"),
            ("presence=lost", &|row| row["presence"] == "lost"),
            ("presence=both", &|row| row["presence"] == "both"),
            ("change.clicks<0", &|row| change(row, "clicks", "absolute").is_some_and(|clicks| clicks < 0.0)),
            ("change.impressions.percent>=-10,clicks>0", &|row| {
                change(row, "impressions", "percent").is_some_and(|percent| percent >= -10.0) && row["clicks"] != 0
            }),
            ("change.position>0.5", &|row| change(row, "position", "absolute").is_some_and(|position| position > 0.5)),
        ];
        for (condition, holds) in conditions {
            for table in ["queries", "pages", "countries"] {
                let named = condition.split(',').map(|one| format!("{table}.{one}")).collect::<Vec<_>>().join(",");
                let some = asker.lists("performance", &[&scope, &[("metricFilters", &named)]]).await;
                let place = format!("/data/tables/{table}");
                let expected: Vec<&Value> = rows(&whole, &place)
                    .into_iter()
                    .filter(|row| !row["clicks"].is_null() || !named.contains(','))
                    .filter(|row| holds(row))
                    .collect();
                assert_eq!(rows(&some, &place), expected, "{named} of {site}");
                assert_eq!(some["meta"]["coverage"][table]["rowsMatched"], expected.len());
                left += expected.len();
            }
        }
    }
    assert!(left > 100, "{left}");
}

#[tokio::test]
async fn a_condition_without_a_table_is_one_on_queries_and_pages_only() {
    let asker = Asker::of(shared(), "stranger", SMALL).await;
    let scope = [("scope", "tables"), ("queryLimit", "5000"), ("pageLimit", "5000")];
    let whole = asker.lists("performance", &[&scope]).await;
    let ask = async |filters: &str| asker.lists("performance", &[&scope, &[("metricFilters", filters)]]).await;
    for (filters, filtered) in [
        ("position<=10", &["queries", "pages"][..]),
        ("queries.position<=10", &["queries"]),
        ("countries.position<=10,devices.clicks>1000000", &["countries", "devices"]),
        ("searchAppearances.position<=2", &["searchAppearances"]),
    ] {
        let some = ask(filters).await;
        for table in ["queries", "pages", "countries", "devices", "searchAppearances"] {
            let place = format!("/data/tables/{table}");
            let (now, before) = (rows(&some, &place), rows(&whole, &place));
            assert_eq!(now.len() < before.len(), filtered.contains(&table), "{filters}: {table}");
            let exact = some["meta"]["coverage"][table].get("orderExact");
            assert_eq!(exact.is_some(), filtered.contains(&table), "{filters}: {table}");
        }
        assert_eq!(some["meta"]["question"]["metricFilters"], filters);
    }
}
