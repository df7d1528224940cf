//! Tests of queries within striking distance.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Value, json};

use super::{
    cases::{BEFORE, MONTH, MONTH_BEFORE, WEEK, slices, windows},
    checks::{change, close, ctr, metrics, near, position, query_coverage},
    curve::Curve,
    each,
};
use crate::{
    analytics::case::{Case, PAPER, People, Rows, SHOP, SMALL, SOFTWARE, YOUNG},
    support::{
        class::Class,
        oracle::{self, Sum},
    },
};

const OPERATION: &str = "growth-opportunities";

/// An expected opportunity.
#[derive(Debug)]
struct Opportunity {
    sum: Sum,
    expected_ctr: f64,
    gain: f64,
}

/// The opportunities that qualify, by query and kind.
fn opportunities(case: &Case, rows: &Rows, curve: &Curve) -> BTreeMap<(String, &'static str), Opportunity> {
    let band = case.number("minPosition", "4")..=case.number("maxPosition", "20");
    let target = case.number("targetPosition", "3");
    let asked = |kind: &str| ["", kind].contains(&case.text("kind", ""));
    let mut found = BTreeMap::new();
    for (query, sum) in rows {
        let (position, ctr) = (position(*sum).unwrap(), ctr(*sum).unwrap());
        if !band.contains(&position) || sum.impressions < case.integer("minImpressions", "100") {
            continue;
        }
        let opportunity = |expected_ctr: f64| {
            let gain = sum.impressions as f64 * (expected_ctr - ctr).max(0.0);
            Opportunity { sum: *sum, expected_ctr, gain }
        };
        if asked("rank") && position > target {
            found.insert((query.clone(), "rank"), opportunity(curve.at(target)));
        }
        if asked("snippet") && position <= 10.0 {
            found.insert((query.clone(), "snippet"), opportunity(curve.at(position)));
        }
    }
    found.retain(|_, opportunity| opportunity.gain > 0.0);
    found
}

/// The page with the most impressions.
fn largest(pages: &Rows) -> &str {
    let order = |(a, x): &(&String, &Sum), (b, y): &(&String, &Sum)| {
        (y.impressions, y.clicks).cmp(&(x.impressions, x.clicks)).then(a.cmp(b))
    };
    pages.iter().min_by(order).unwrap().0
}

/// Checks the movement since the comparison window, whose rows are `before`.
fn check_movement(found: &Value, query: &str, now: Sum, before: Option<&Rows>) {
    let Some(before) = before.map(|rows| rows.get(query)) else {
        return assert!(found.get("movement").is_none(), "{found}");
    };
    let movement = &found["movement"];
    change(&movement["change"], now, before.copied().unwrap_or_default());
    let Some(before) = before else {
        assert_eq!((&movement["presence"], movement.get("previous")), (&json!("new"), None), "{found}");
        return;
    };
    assert_eq!(movement["presence"], "both");
    metrics(&movement["previous"], *before);
}

fn check_curve(found: &Value, curve: &Curve) {
    assert_eq!(found["source"], curve.name());
    let points = found["points"].as_array().unwrap();
    assert_eq!(points.len(), 20);
    for ((rank, point), (ctr, own)) in (1u32..).zip(points).zip(&curve.points) {
        assert_eq!((&point["position"], &point["source"]), (&json!(rank), &json!(if *own { "own" } else { "static" })));
        close(&point["ctr"], *ctr);
    }
}

fn check_order(found: &[Value]) {
    let rank = |one: &Value| {
        let text = |name: &str| one[name].as_str().unwrap().to_owned();
        (one["potentialClicks"].as_f64().unwrap(), (text("query"), text("kind")))
    };
    for pair in found.windows(2) {
        let ((high, first), (low, second)) = (rank(&pair[0]), rank(&pair[1]));
        assert!(high > low || (near(high, low) && first < second), "{first:?} before {second:?}");
    }
}

/// The number of opportunities, and how many of them are new since the comparison window.
#[derive(Default, Clone, Copy)]
struct Seen {
    rank: usize,
    snippet: usize,
    new: usize,
    moved: usize,
    own_curve: usize,
}

fn check(case: &Case, json: &Value, seen: &Cell<Seen>) {
    let mut rows = case.table("queries", case.counted());
    rows.retain(|query, _| !case.leaves_brand_out() || !case.is_branded(query));
    let before = case.compared().map(|[_, window]| case.table("queries", window));
    let (curve, pages) = (Curve::of(case), case.page_rows(case.counted()));
    let mut left = opportunities(case, &rows, &curve);
    let matched = left.len();
    check_curve(&json["data"]["curve"], &curve);
    let found = json["data"]["opportunities"].as_array().unwrap();
    assert_eq!(found.len(), left.len().min(usize::try_from(case.integer("limit", "500")).unwrap()));
    check_order(found);
    let mut tally = seen.get();
    tally.own_curve += usize::from(curve.own);
    for one in found {
        let (query, rank) = (one["query"].as_str().unwrap(), one["kind"] == "rank");
        let expected = left.remove(&(query.to_owned(), if rank { "rank" } else { "snippet" })).unwrap();
        metrics(one, expected.sum);
        close(&one["expectedCtr"], expected.expected_ctr);
        close(&one["potentialClicks"], expected.gain);
        assert_eq!(one["page"], largest(&pages[query]), "{one}");
        check_movement(one, query, expected.sum, before.as_ref());
        tally.rank += usize::from(rank);
        tally.snippet += usize::from(!rank);
        tally.new += usize::from(one["movement"]["presence"] == "new");
        tally.moved += usize::from(one["movement"]["presence"] == "both");
    }
    seen.set(tally);
    if let Some(last) = found.last().map(|last| last["potentialClicks"].as_f64().unwrap()) {
        assert!(left.values().all(|cut| cut.gain <= last + 1e-9), "the best ones are listed");
    }
    let queries: BTreeSet<&str> = found.iter().map(|one| one["query"].as_str().unwrap()).collect();
    let (_, clicks) = oracle::tally(queries.iter().map(|query| rows[*query]));
    let listed = ((found.len(), clicks), Some(matched));
    query_coverage(case, &json["meta"]["coverage"]["queries"], Some(listed), rows.values());
    check_thresholds(case, &json["meta"]["thresholds"], &curve);
}

fn check_thresholds(case: &Case, found: &Value, curve: &Curve) {
    close(&found["minPosition"], case.number("minPosition", "4"));
    close(&found["maxPosition"], case.number("maxPosition", "20"));
    assert_eq!(found["minImpressions"], case.integer("minImpressions", "100"));
    assert_eq!(found["targetPosition"], case.integer("targetPosition", "3"));
    assert_eq!(found["pageOnePosition"], 10);
    assert_eq!(found["curve"], curve.name());
    assert_eq!(found["brandedExcluded"], case.leaves_brand_out());
}

pub fn check_case(case: &Case, json: &Value) {
    check(case, json, &Cell::default());
}

#[tokio::test]
async fn opportunities_equal_the_cells_in_every_window() {
    let seen = Cell::new(Seen::default());
    let cases = windows();
    each(OPERATION, &cases, |case, json| check(case, json, &seen)).await;
    let seen = seen.get();
    assert!(seen.rank > 20 && seen.snippet > 5 && seen.moved > 20, "{} {} {}", seen.rank, seen.snippet, seen.moved);
    assert!(seen.own_curve > 0 && seen.own_curve < cases.len(), "both curves: {}", seen.own_curve);
}

#[tokio::test]
async fn opportunities_equal_the_cells_in_every_slice() {
    let seen = Cell::new(Seen::default());
    let cases: Vec<Case> = slices().into_iter().map(|case| case.with("minImpressions", "5")).collect();
    each(OPERATION, &cases, |case, json| check(case, json, &seen)).await;
    let seen = seen.get();
    assert!(seen.rank > 50 && seen.snippet > 20, "{} {}", seen.rank, seen.snippet);
    assert!(seen.new > 5 && seen.moved > 20, "{} new, {} moved", seen.new, seen.moved);
}

#[tokio::test]
async fn thresholds_decide_what_is_an_opportunity() {
    let low = |case: Case| case.with("minImpressions", "1");
    let wide = |case: Case| low(case).with("minPosition", "1").with("maxPosition", "100");
    let cases = [
        wide(Case::of(SMALL, WEEK)).against(BEFORE).with("targetPosition", "1"),
        wide(Case::of(SMALL, WEEK)).with("targetPosition", "10").with("limit", "2"),
        low(Case::of(SMALL, WEEK)).with("kind", "rank"),
        low(Case::of(SMALL, WEEK)).with("kind", "snippet").with("includeBranded", "true"),
        low(Case::of(SMALL, MONTH)).with("minPosition", "4.5").with("maxPosition", "9.25").against(MONTH_BEFORE),
        low(Case::of(SMALL, MONTH)).class(Class::Branded).with("minPosition", "1"),
        low(Case::of(SMALL, MONTH)).with("minPosition", "7").with("maxPosition", "7").with("targetPosition", "5"),
        wide(Case::of(YOUNG, WEEK)).with("targetPosition", "2").with("limit", "5000"),
        wide(Case::of(SOFTWARE, WEEK)).with("includeBranded", "true").with("limit", "5000"),
        low(Case::of(SOFTWARE, WEEK)).with("minPosition", "10").with("maxPosition", "20").with("limit", "9"),
        Case::of(SOFTWARE, WEEK).with("minImpressions", "1000000"),
        low(Case::of(PAPER, ("2026-11-02", "2026-11-03"))).with("targetPosition", "4").with("limit", "100"),
        Case::of(SHOP, ("2026-11-02", "2026-11-03")).with("minImpressions", "20").with("includeBranded", "true"),
    ];
    let seen = Cell::new(Seen::default());
    each(OPERATION, &cases, |case, json| check(case, json, &seen)).await;
    assert!(seen.get().own_curve > 0);
}

#[tokio::test]
async fn the_curve_ignores_conditions_on_queries() {
    let curves = std::cell::RefCell::new(Vec::new());
    let cases = [
        Case::of(SOFTWARE, WEEK),
        Case::of(SOFTWARE, WEEK).class(Class::Topic),
        Case::of(SOFTWARE, WEEK).class(Class::Branded),
        Case::of(SOFTWARE, WEEK).and("query", "contains", "invoice"),
        Case::of(SOFTWARE, WEEK).with("includeBranded", "true"),
        Case::of(SOFTWARE, WEEK).against(BEFORE),
    ];
    each(OPERATION, &cases, |_, json| curves.borrow_mut().push(json["data"]["curve"].clone())).await;
    let curves = curves.into_inner();
    assert_eq!(curves[0]["source"], "own");
    assert!(curves.iter().all(|curve| *curve == curves[0]), "{curves:#?}");
}

#[tokio::test]
async fn a_band_the_wrong_way_round_is_refused() {
    let people = People::new().await;
    let case = Case::of(SMALL, WEEK).with("minPosition", "9").with("maxPosition", "8.5");
    let answer = case.ask(&people, OPERATION, &[]).await.expect(400);
    assert!(answer.hint().contains("maxPosition"), "{}", answer.hint());
}
