//! Tests of visibility, position distribution and movers.

use std::{cell::Cell, cmp::Reverse, collections::BTreeMap};

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::{
    branded::check_split,
    cases::{BEFORE, DAY, DAY_BEFORE, MONTH, MONTH_BEFORE, TAIL, UNBORN, WEEK, slices, windows},
    checks::{change, close, metrics, query_coverage, ratio},
    curve::{buckets, visibility},
    each,
};
use crate::{
    analytics::case::{Case, Rows, SHOP, SMALL, SOFTWARE, YOUNG},
    support::oracle::{Sum, tally},
};

const OPERATION: &str = "query-insights";

fn check_distribution(found: &Value, rows: &Rows) {
    let found = found.as_array().unwrap();
    let all = rows.values().fold(Sum::default(), |sum, row| sum.plus(*row));
    assert_eq!(found.len(), 4);
    for (row, (bucket, queries, sum)) in found.iter().zip(buckets(rows)) {
        let counts = (&row["bucket"], &row["queries"], &row["clicks"], &row["impressions"]);
        assert_eq!(counts, (&json!(bucket), &json!(queries), &json!(sum.clicks), &json!(sum.impressions)));
        close(&row["queriesShare"], ratio(queries, rows.len() as u64));
        close(&row["clicksShare"], ratio(sum.clicks, all.clicks));
        close(&row["impressionsShare"], ratio(sum.impressions, all.impressions));
    }
}

fn check_visibility_series(found: &Value, days: &BTreeMap<NaiveDate, Rows>) {
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), days.len());
    for (point, (date, rows)) in found.iter().zip(days) {
        assert_eq!((&point["date"], &point["capped"]), (&json!(date.to_string()), &json!(false)));
        close(&point["index"], visibility(rows));
        let tally = |(bucket, queries, sum): (&str, u64, Sum)| json!({ "bucket": bucket, "queries": queries, "clicks": sum.clicks, "impressions": sum.impressions });
        assert_eq!(point["buckets"], Value::from(buckets(rows).into_iter().map(tally).collect::<Vec<_>>()));
    }
}

fn check_visibility(case: &Case, found: &Value, now: &Rows, before: Option<&Rows>) {
    let previous = before.and_then(visibility);
    close(&found["index"], visibility(now));
    close(&found["previous"], previous);
    close(&found["change"], visibility(now).zip(previous).map(|(now, before)| now - before));
    assert!(previous.is_some() || found.get("previous").is_none(), "absent, not null: {found}");
    check_visibility_series(&found["series"], &case.daily_rows("queries", case.window));
    let compared = case.compared();
    assert_eq!(found.get("previousSeries").is_some(), compared.is_some());
    if let Some([_, window]) = compared {
        check_visibility_series(&found["previousSeries"], &case.daily_rows("queries", window));
    }
}

/// A query with its sum in each window.
type Pair<'r> = (&'r String, Option<Sum>, Option<Sum>);

/// All new, lost and moved queries, each list in its order.
fn movers<'r>(case: &Case, now: &'r Rows, before: &'r Rows) -> [(&'static str, Vec<Pair<'r>>); 3] {
    let mut keys: Vec<&String> = now.keys().chain(before.keys()).collect();
    keys.sort();
    keys.dedup();
    let pairs = keys.into_iter().map(|key| (key, now.get(key).copied(), before.get(key).copied()));
    let most = |sum: Option<Sum>| sum.map_or(0, |sum| sum.impressions);
    let enough = |(_, now, before): &Pair<'r>| most(*now).max(most(*before)) >= case.integer("minImpressions", "10");
    let pairs: Vec<Pair<'r>> = pairs.filter(enough).collect();
    let size = |sum: Option<Sum>| (Reverse(most(sum)), Reverse(sum.unwrap().clicks));
    let of = |wanted: &dyn Fn(&Pair<'r>) -> bool| pairs.iter().filter(|pair| wanted(pair)).copied().collect::<Vec<_>>();
    let mut new = of(&|(_, now, before)| now.is_some() && before.is_none());
    new.sort_by_key(|(query, now, _)| (size(*now), *query));
    let mut lost = of(&|(_, now, before)| now.is_none() && before.is_some());
    lost.sort_by_key(|(query, _, before)| (size(*before), *query));
    let mut moving = of(&|(_, now, before)| {
        let same_position =
            |now: Sum, before: Sum| now.positions * before.impressions == before.positions * now.impressions;
        now.zip(*before).is_some_and(|(now, before)| {
            now.clicks != before.clicks || now.impressions != before.impressions || !same_position(now, before)
        })
    });
    moving.sort_by_key(|(query, now, before)| {
        let (now, before) = (now.unwrap(), before.unwrap());
        (Reverse(now.clicks.abs_diff(before.clicks)), Reverse(now.impressions.abs_diff(before.impressions)), *query)
    });
    [("new", new), ("lost", lost), ("moving", moving)]
}

/// The most rows of each list.
fn limit(case: &Case) -> usize {
    usize::try_from(case.integer("limit", "50")).unwrap()
}

fn check_mover(found: &Value, (_, now, before): Pair<'_>) {
    let presence = match (now, before) {
        (Some(now), Some(before)) => {
            metrics(&found["previous"], before);
            change(&found["change"], now, before);
            "both"
        }
        (Some(now), None) => {
            assert!(found.get("previous").is_none(), "{found}");
            change(&found["change"], now, Sum::default());
            "new"
        }
        (None, before) => {
            metrics(&found["previous"], before.unwrap());
            let own = ["clicks", "impressions", "ctr", "position"].map(|name| found.get(name));
            assert!(own.iter().all(|own| *own == Some(&Value::Null)), "unknown, not zero: {found}");
            change(&found["change"], Sum::default(), before.unwrap());
            "lost"
        }
    };
    if let Some(now) = now {
        metrics(found, now);
    }
    assert_eq!(found["presence"], presence);
}

/// The lengths of the lists of movers.
type Seen = Cell<[usize; 3]>;

fn check_movers(case: &Case, found: &Value, now: &Rows, before: &Rows, seen: &Seen) {
    let mut lengths = seen.get();
    for ((name, expected), length) in movers(case, now, before).into_iter().zip(&mut lengths) {
        let rows = found[name].as_array().unwrap();
        let expected: Vec<Pair<'_>> = expected.into_iter().take(limit(case)).collect();
        let keys: Vec<&str> = rows.iter().map(|row| row["key"].as_str().unwrap()).collect();
        assert_eq!(keys, expected.iter().map(|(key, _, _)| key.as_str()).collect::<Vec<_>>(), "{name}");
        rows.iter().zip(&expected).for_each(|(row, pair)| check_mover(row, *pair));
        *length += rows.len();
    }
    assert_eq!(found["unknown"], json!([]), "no list was cut");
    seen.set(lengths);
}

/// Positions are rounded to the nearest whole one, halves up.
fn check_ctr_by_position(case: &Case, found: &Value, rows: &Rows) {
    if !case.is_counted() {
        return assert!(found.is_null(), "{found}");
    }
    let mut expected = vec![(0_u64, Sum::default()); 20];
    let sampled = rows.iter().filter(|(query, _)| !case.leaves_brand_out() || !case.is_branded(query));
    for (_, sum) in sampled.filter(|(_, sum)| sum.impressions > 0) {
        let rounded = (2 * sum.positions + sum.impressions) / (2 * sum.impressions);
        let Some((queries, all)) = usize::try_from(rounded - 1).ok().and_then(|at| expected.get_mut(at)) else {
            continue;
        };
        *queries += 1;
        *all = all.plus(*sum);
    }
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 20);
    for ((row, position), (queries, sum)) in found.iter().zip(1..).zip(expected) {
        let counts = (&row["position"], &row["queries"], &row["clicks"], &row["impressions"]);
        assert_eq!(counts, (&json!(position), &json!(queries), &json!(sum.clicks), &json!(sum.impressions)));
        close(&row["ctr"], ratio(sum.clicks, sum.impressions));
    }
}

fn check(case: &Case, json: &Value, seen: &Seen) {
    let rows = |window| case.table("queries", window);
    let (now, before) = (rows(case.counted()), case.compared().map(|[_, before]| rows(before)));
    let data = &json["data"];
    if case.is_counted() {
        check_distribution(&data["distribution"], &now);
    } else {
        assert!(data["distribution"].is_null(), "{data}");
    }
    check_visibility(case, &data["visibility"], &now, before.as_ref());
    check_ctr_by_position(case, &data["ctrByPosition"], &now);
    match &before {
        None => assert!(data.get("previousDistribution").is_none() && data.get("movers").is_none()),
        Some(before) => {
            check_distribution(&data["previousDistribution"], before);
            check_movers(case, &data["movers"], &now, before, seen);
        }
    }
    if case.keywords {
        check_split(case, &data["brandedSplit"]);
    } else {
        assert!(data.get("brandedSplit").is_none(), "nothing is branded or not");
    }
    let listed = before.as_ref().map(|before| {
        let lists = movers(case, &now, before).map(|(_, list)| list);
        let shown = lists.iter().flat_map(|list| list.iter().take(limit(case)));
        (tally(shown.map(|(_, now, _)| now.unwrap_or_default())), Some(lists.iter().map(Vec::len).sum()))
    });
    let only_before = before.iter().flat_map(|before| before.keys().filter(|query| !now.contains_key(*query)));
    let nothing = vec![Sum::default(); only_before.count()];
    query_coverage(case, &json["meta"]["coverage"]["queries"], listed, now.values().chain(&nothing));
    let thresholds = json!({
        "minImpressions": case.integer("minImpressions", "10"), "curve": "static", "brandedExcluded": case.leaves_brand_out(),
    });
    assert_eq!(json["meta"]["thresholds"], thresholds);
}

pub fn check_case(case: &Case, json: &Value) {
    check(case, json, &Cell::default());
}

#[tokio::test]
async fn insights_equal_the_cells_in_every_window() {
    let seen = Seen::default();
    each(OPERATION, &windows(), |case, json| check(case, json, &seen)).await;
    assert!(seen.get().iter().all(|rows| *rows > 10), "{:?}", seen.get());
}

#[tokio::test]
async fn insights_equal_the_cells_in_every_slice() {
    let seen = Seen::default();
    let cases: Vec<Case> = slices().into_iter().map(|case| case.with("minImpressions", "2")).collect();
    each(OPERATION, &cases, |case, json| check(case, json, &seen)).await;
    assert!(seen.get().iter().all(|rows| *rows > 50), "{:?}", seen.get());
}

#[tokio::test]
async fn thresholds_decide_which_queries_are_movers() {
    let cases = [
        Case::of(SMALL, WEEK).against(BEFORE).with("minImpressions", "1").with("limit", "500"),
        Case::of(SMALL, WEEK).against(BEFORE).with("minImpressions", "1").with("limit", "4"),
        Case::of(SMALL, MONTH).against(MONTH_BEFORE).with("minImpressions", "40").with("limit", "1"),
        Case::of(SMALL, WEEK).against(WEEK).with("minImpressions", "1"),
        Case::of(SMALL, TAIL).against(DAY).with("minImpressions", "1").with("limit", "500"),
        Case::of(YOUNG, UNBORN).against(WEEK).with("minImpressions", "1").with("limit", "500"),
        Case::of(SOFTWARE, DAY).against(DAY_BEFORE).with("minImpressions", "1").with("limit", "500"),
        Case::of(SHOP, DAY).against(DAY_BEFORE).with("minImpressions", "3").with("limit", "200"),
        Case::of(SHOP, DAY).against(DAY_BEFORE).with("minImpressions", "1000000"),
    ];
    let seen = Seen::default();
    each(OPERATION, &cases, |case, json| check(case, json, &seen)).await;
    assert!(seen.get().iter().all(|rows| *rows > 50), "{:?}", seen.get());
}
