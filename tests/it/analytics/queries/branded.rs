//! Tests of branded, non-branded and anonymised traffic.

use std::{cell::Cell, collections::BTreeMap};

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::{
    cases::{slices, windows},
    checks::{close, compared, metrics, ratio},
    each,
};
use crate::{
    analytics::case::{Case, Window},
    support::oracle::Sum,
};

const OPERATION: &str = "branded-traffic";

/// Traffic and its three parts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Split {
    total: Sum,
    pub branded: Sum,
    pub other: Sum,
}

impl Split {
    fn plus(self, more: Self) -> Self {
        Self {
            total: self.total.plus(more.total),
            branded: self.branded.plus(more.branded),
            other: self.other.plus(more.other),
        }
    }

    /// Clicks and impressions without a known query.
    fn anonymised(&self) -> (u64, u64) {
        let known = self.branded.plus(self.other);
        (self.total.clicks - known.clicks, self.total.impressions - known.impressions)
    }
}

/// The split of each day.
fn days(case: &Case, window: Window) -> BTreeMap<NaiveDate, Split> {
    let rows = case.daily_rows("queries", window);
    let split = |(date, total): (NaiveDate, Sum)| {
        let part = |wanted: bool| {
            let rows = rows[&date].iter().filter(|(query, _)| (case.keywords && case.is_branded(query)) == wanted);
            rows.fold(Sum::default(), |sum, (_, row)| sum.plus(*row))
        };
        (date, Split { total, branded: part(true), other: part(false) })
    };
    case.daily_totals(case.count(), window).into_iter().map(split).collect()
}

fn whole(days: &BTreeMap<NaiveDate, Split>) -> Split {
    days.values().fold(Split::default(), |sum, day| sum.plus(*day))
}

fn check_shares(found: &Value, (clicks, impressions): (u64, u64), total: Sum) {
    assert_eq!((&found["clicks"], &found["impressions"]), (&json!(clicks), &json!(impressions)));
    close(&found["clicksShare"], ratio(clicks, total.clicks));
    close(&found["impressionsShare"], ratio(impressions, total.impressions));
}

fn check_series(found: &Value, days: &BTreeMap<NaiveDate, Split>) {
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), days.len());
    for (point, (date, split)) in found.iter().zip(days) {
        assert_eq!(point["date"], date.to_string());
        metrics(&point["branded"], split.branded);
        metrics(&point["nonBranded"], split.other);
        let (clicks, impressions) = split.anonymised();
        assert_eq!(point["anonymised"], json!({ "clicks": clicks, "impressions": impressions }));
    }
}

/// Checks a split, in any part of a response.
pub fn check_split(case: &Case, found: &Value) -> Split {
    let now = whole(&days(case, case.counted()));
    let before_days = case.compared().map(|[_, before]| days(case, before));
    let before = before_days.as_ref().map(whole);
    if case.is_counted() {
        metrics(&found["total"], now.total);
        compared(&found["total"], now.total, before.map(|before| before.total));
        let parts = [
            ("branded", now.branded, before.map(|before| before.branded)),
            ("nonBranded", now.other, before.map(|before| before.other)),
        ];
        for (name, sum, before) in parts {
            metrics(&found[name], sum);
            check_shares(&found[name], (sum.clicks, sum.impressions), now.total);
            compared(&found[name], sum, before);
        }
        check_shares(&found["anonymised"], now.anonymised(), now.total);
        let previous = before.map(|before| before.anonymised());
        let previous = previous.map(|(clicks, impressions)| json!({ "clicks": clicks, "impressions": impressions }));
        assert_eq!(found["anonymised"].get("previous"), previous.as_ref());
    } else {
        let parts = ["total", "branded", "nonBranded", "anonymised"].map(|name| found.get(name));
        assert!(parts.iter().all(|part| *part == Some(&Value::Null)), "{found}");
    }
    check_series(&found["series"], &days(case, case.window));
    assert_eq!(found.get("previousSeries").is_some(), before_days.is_some());
    if let Some(before) = before_days {
        check_series(&found["previousSeries"], &before);
    }
    now
}

fn check(case: &Case, json: &Value, seen: &Cell<Split>) {
    let split = check_split(case, &json["data"]);
    let known = split.branded.plus(split.other);
    let identified = &json["meta"]["coverage"]["identified"];
    if case.is_counted() {
        check_shares(identified, (known.clicks, known.impressions), split.total);
    } else {
        assert!(identified.is_null(), "{identified}");
    }
    seen.set(seen.get().plus(split));
}

#[tokio::test]
async fn the_split_equals_the_cells_in_every_window() {
    let seen = Cell::default();
    each(OPERATION, &windows(), |case, json| check(case, json, &seen)).await;
    let split = seen.get();
    assert!(split.branded.clicks > 50 && split.other.clicks > 50 && split.anonymised().0 > 50, "{split:?}");
}

#[tokio::test]
async fn the_split_equals_the_cells_in_every_slice() {
    let seen = Cell::default();
    each(OPERATION, &slices(), |case, json| check(case, json, &seen)).await;
    let split = seen.get();
    assert!(split.branded.clicks > 20 && split.other.clicks > 20 && split.anonymised().0 > 20, "{split:?}");
}
