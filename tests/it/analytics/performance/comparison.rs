//! Tests of comparisons of two windows.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Asker, truth};
use crate::support::oracle::{Count, Sum, all, by_date, by_query, said_by};

const NOW: (&str, &str) = ("2026-10-12", "2026-10-18");
const BEFORE: (&str, &str) = ("2026-10-09", "2026-10-11");

fn close(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// Compares `change` with the sums of the two windows.
fn check_change(change: &Value, now: Sum, before: Sum) {
    for (name, now, before) in
        [("clicks", now.clicks, before.clicks), ("impressions", now.impressions, before.impressions)]
    {
        assert_eq!(change[name]["absolute"], now.cast_signed() - before.cast_signed(), "{name}");
        match before {
            0 => assert!(change[name]["percent"].is_null()),
            _ => close(&change[name]["percent"], 100.0 * (now as f64 - before as f64) / before as f64),
        }
    }
    if now.impressions == 0 || before.impressions == 0 {
        assert!(change["ctr"]["absolute"].is_null() && change["position"]["absolute"].is_null(), "{change}");
        return;
    }
    let ctr = |sum: Sum| sum.clicks as f64 / sum.impressions as f64;
    let position = |sum: Sum| sum.positions as f64 / sum.impressions as f64;
    close(&change["ctr"]["absolute"], ctr(now) - ctr(before));
    close(&change["position"]["absolute"], position(now) - position(before));
}

async fn compared(asker: &Asker, more: &[(&str, &str)]) -> Value {
    let mut query = vec![("compareStart", BEFORE.0), ("compareEnd", BEFORE.1)];
    query.extend_from_slice(more);
    asker.window(NOW.0, NOW.1, &query).await
}

#[tokio::test]
async fn totals_carry_both_windows_and_the_change() {
    let json = compared(&Asker::small().await, &[("scope", "all")]).await;
    let (now, before) = (truth(NOW.0, NOW.1), truth(BEFORE.0, BEFORE.1));
    let (now_total, before_total) = (now.total(Count::ByProperty, &all), before.total(Count::ByProperty, &all));
    let totals = &json["data"]["totals"];
    assert_eq!((Sum::said(totals), Sum::said(&totals["previous"])), (now_total, before_total));
    check_change(&totals["change"], now_total, before_total);
    assert_eq!(said_by(&json["data"]["series"], "date"), now.by(Count::ByProperty, &all, &by_date));
    let previous = said_by(&json["data"]["previousSeries"], "date");
    assert_eq!(previous, before.by(Count::ByProperty, &all, &by_date), "its own dates, its own length");
    assert_eq!(json["meta"]["compareWindow"]["startDate"], BEFORE.0);
}

#[tokio::test]
async fn rows_are_in_both_windows_new_or_lost() {
    let json = compared(&Asker::small().await, &[("scope", "tables"), ("queryLimit", "5000")]).await;
    assert!(json["data"].get("previousSeries").is_none());
    let now = truth(NOW.0, NOW.1).by(Count::ByProperty, &all, &by_query);
    let before = truth(BEFORE.0, BEFORE.1).by(Count::ByProperty, &all, &by_query);
    let mut seen = BTreeMap::<&str, usize>::new();
    for row in json["data"]["tables"]["queries"].as_array().unwrap() {
        let (key, presence) = (row["key"].as_str().unwrap(), row["presence"].as_str().unwrap());
        *seen.entry(presence).or_default() += 1;
        match presence {
            "both" => {
                assert_eq!((Sum::said(row), Sum::said(&row["previous"])), (now[key], before[key]));
                check_change(&row["change"], now[key], before[key]);
            }
            "new" => {
                assert_eq!((Sum::said(row), before.get(key)), (now[key], None));
                assert!(row.get("previous").is_none(), "{row}");
                check_change(&row["change"], now[key], Sum::default());
            }
            "lost" => {
                assert_eq!((Sum::said(&row["previous"]), now.get(key)), (before[key], None));
                assert!(["clicks", "impressions", "ctr", "position"].iter().all(|name| row[name].is_null()), "{row}");
                check_change(&row["change"], Sum::default(), before[key]);
            }
            other => panic!("{other}"),
        }
    }
    let in_both = now.keys().filter(|key| before.contains_key(*key)).count();
    let expected = [("both", in_both), ("lost", before.len() - in_both), ("new", now.len() - in_both)];
    assert!(expected.iter().all(|(_, rows)| *rows > 3), "{expected:?}");
    assert_eq!(seen, BTreeMap::from(expected));
    let (coverage, rows) = (&json["meta"]["coverage"]["queries"], now.len() + before.len() - in_both);
    for name in ["rowsShown", "rowsMatched", "rowsKnown"] {
        assert_eq!(coverage[name], rows, "{name} of {coverage}");
    }
    assert_eq!(coverage["hasMore"], false);
}

#[tokio::test]
async fn a_limit_lists_as_many_rows_of_both_windows_as_it_says() {
    let small = Asker::small().await;
    let listed = async |order: &[(&str, &str)]| {
        let json = compared(&small, &[&[("scope", "tables")], order].concat()).await;
        let rows = json["data"]["tables"]["queries"].as_array().unwrap().clone();
        assert_eq!(json["meta"]["coverage"]["queries"]["rowsShown"], rows.len());
        (rows, json["meta"]["coverage"]["queries"]["hasMore"].as_bool().unwrap())
    };
    let (all, _) = listed(&[("queryLimit", "5000")]).await;
    let is_lost = |row: &Value| row["presence"] == "lost";
    let kept = all.iter().filter(|row| !is_lost(row)).count();
    assert!(kept > 4 && all.len() > kept + 4);
    assert!(all[..kept].iter().all(|row| !is_lost(row)) && all[kept..].iter().all(is_lost), "lost rows come last");
    assert!(all[kept..].is_sorted_by_key(|row| std::cmp::Reverse(row["previous"]["clicks"].as_u64())));
    let (limit, offset) = ("4".to_owned(), (kept - 2).to_string());
    let (first, more) = listed(&[("queryLimit", &limit)]).await;
    assert_eq!((&first[..], more), (&all[..4], true));
    let (middle, _) = listed(&[("queryLimit", &limit), ("queryOffset", &offset)]).await;
    assert_eq!(middle, all[kept - 2..kept + 2], "two of the window, then two lost ones");
    let (last, more) = listed(&[("queryLimit", "5000"), ("queryOffset", &offset)]).await;
    assert_eq!((&last[..], more), (&all[kept - 2..], false));
}

#[tokio::test]
async fn what_lost_most_is_one_list() {
    let order = [("scope", "tables"), ("sort", "change.clicks"), ("queryLimit", "5000")];
    let json = compared(&Asker::small().await, &order).await;
    let rows = json["data"]["tables"]["queries"].as_array().unwrap();
    let changes: Vec<i64> = rows.iter().map(|row| row["change"]["clicks"]["absolute"].as_i64().unwrap()).collect();
    assert!(changes.is_sorted() && changes[0] < 0 && *changes.last().unwrap() > 0, "{changes:?}");
    let change = |row: &Value| {
        let clicks = |side: &Value| side["clicks"].as_i64().unwrap_or_default();
        clicks(row) - clicks(&row["previous"])
    };
    assert_eq!(changes, rows.iter().map(change).collect::<Vec<_>>());
    let lost: Vec<usize> =
        (0..).zip(rows).filter(|(_, row)| row["presence"] == "lost").map(|(place, _)| place).collect();
    assert!(
        lost[0] < rows.len() / 2 && lost.windows(2).any(|pair| pair[1] > pair[0] + 1),
        "among the others: {lost:?}"
    );
}

#[tokio::test]
async fn a_row_beyond_a_cut_list_is_unknown() {
    let paper = Asker::paper().await;
    let query =
        [("scope", "tables"), ("queryLimit", "5000"), ("compareStart", "2026-10-21"), ("compareEnd", "2026-10-21")];
    let json = paper.window("2026-10-28", "2026-11-17", &query).await;
    assert_eq!(json["meta"]["coverage"]["queries"]["totalRowsCapped"], true);
    let presence = |row: &Value| row["presence"].as_str().unwrap().to_owned();
    let rows = json["data"]["tables"]["queries"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["presence"] == "new"), "the comparison window's list is whole");
    assert!(rows.iter().all(|row| !row["clicks"].is_null()), "rows of the comparison window only follow all others");
    let beyond = [&query[..], &[("queryOffset", "5000")]].concat();
    let json = paper.window("2026-10-28", "2026-11-17", &beyond).await;
    let only_before: Vec<String> = json["data"]["tables"]["queries"].as_array().unwrap().iter().map(presence).collect();
    assert!(!only_before.is_empty() && only_before.iter().all(|presence| presence == "unknown"));

    let query =
        [("scope", "tables"), ("queryLimit", "5000"), ("compareStart", "2026-10-28"), ("compareEnd", "2026-11-17")];
    let json = paper.window("2026-10-21", "2026-10-21", &query).await;
    let rows = json["data"]["tables"]["queries"].as_array().unwrap();
    let only_now = rows.iter().filter(|row| !row["clicks"].is_null() && row.get("previous").is_none());
    let only_now: Vec<String> = only_now.map(presence).collect();
    assert!(!only_now.is_empty() && only_now.iter().all(|presence| presence == "unknown"));
    assert!(rows.iter().any(|row| row["presence"] == "lost"), "the window's own list is whole");
}

/// A Sunday to Saturday of which four days are final, and the week before it.
const THIS_WEEK: (&str, &str) = ("2026-11-15", "2026-11-21");
const LAST_WEEK: (&str, &str) = ("2026-11-08", "2026-11-14");

#[tokio::test]
async fn a_week_of_four_final_days_is_compared_with_four_days_of_the_other() {
    let query = [("compareStart", LAST_WEEK.0), ("compareEnd", LAST_WEEK.1), ("scope", "all")];
    let json = Asker::small().await.window(THIS_WEEK.0, THIS_WEEK.1, &query).await;
    let total = |start: &str, end: &str| truth(start, end).total(Count::ByProperty, &all);
    let (now, before) = (total("2026-11-15", "2026-11-18"), total("2026-11-08", "2026-11-11"));
    let totals = &json["data"]["totals"];
    assert_eq!((Sum::said(totals), Sum::said(&totals["previous"])), (now, before));
    check_change(&totals["change"], now, before);
    assert_ne!(before, total(LAST_WEEK.0, LAST_WEEK.1), "seven days have more");
    let days = serde_json::json!({
        "current": { "counted": 4, "notFinal": ["2026-11-19", "2026-11-20", "2026-11-21"] },
        "previous": { "counted": 4, "notFinal": [] },
        "compared": {
            "current": { "startDate": "2026-11-15", "endDate": "2026-11-18" },
            "previous": { "startDate": "2026-11-08", "endDate": "2026-11-11" },
            "shortened": true,
        },
    });
    assert_eq!(json["meta"]["days"], days);
    assert_eq!(json["meta"]["compareWindow"]["endDate"], LAST_WEEK.1, "the window stays as it was asked for");
    assert_eq!(json["data"]["previousSeries"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_window_without_a_final_day_is_compared_with_nothing() {
    let asker = Asker::small().await;
    let open = ("2026-11-19", "2026-11-21");
    for (window, before) in [(open, LAST_WEEK), (LAST_WEEK, open)] {
        let query = [("compareStart", before.0), ("compareEnd", before.1), ("scope", "all")];
        let json = asker.window(window.0, window.1, &query).await;
        assert!(json["data"]["totals"].is_null(), "not counted is not zero: {json}");
        assert!(json["meta"]["days"].get("compared").is_none() && json["data"].get("previousSeries").is_none());
        assert_eq!(json["data"]["tables"]["countries"], serde_json::json!([]));
        assert_eq!(json["meta"]["status"], "not_final_yet");
    }
}
