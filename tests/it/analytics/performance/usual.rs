//! Tests of the range that is usual for a day, recomputed from the generator's own cells.

use std::collections::BTreeMap;

use chrono::{Datelike as _, Days, NaiveDate};
use serde_json::{Value, json};
use simulator::{Endpoint, SearchType};

use super::{Asker, PAPER, SMALL, site};
use crate::support::{
    app::{TestApp, shared},
    oracle::{Count, Counted, Sum, Truth, all, by_date, day},
};

const LAST_FINAL: &str = "2026-11-18";
/// The last day of the long incident of the shipped list.
const INCIDENT_UNTIL: &str = "2026-04-27";

/// The days of a site by date. Days without a row are zeros.
fn days_of(
    url: &str,
    start: NaiveDate,
    end: NaiveDate,
    wanted: &dyn Fn(Counted<'_>) -> bool,
) -> BTreeMap<NaiveDate, Sum> {
    let truth = Truth::of(site(url), SearchType::Web, &start.to_string(), &end.to_string());
    let by_day = truth.by(Count::ByProperty, wanted, &by_date);
    let dates = start.iter_days().take_while(|date| *date <= end);
    dates.map(|date| (date, by_day.get(&date.to_string()).copied().unwrap_or_default())).collect()
}

/// Mean ± 2 sample standard deviations of the same weekday in the 8 weeks before `start`.
fn range(days: &BTreeMap<NaiveDate, Sum>, start: &str, of: NaiveDate, count: fn(&Sum) -> u64) -> Option<[f64; 2]> {
    let first = day(start) - Days::new(56);
    let counted = days.range(first..day(start)).filter(|(date, _)| {
        date.weekday() == of.weekday() && **date <= day(LAST_FINAL) && **date > day(INCIDENT_UNTIL)
    });
    let values: Vec<f64> = counted.map(|(_, sum)| count(sum) as f64).collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    (values.len() >= 4).then(|| [(mean - 2.0 * deviation).max(0.0), mean + 2.0 * deviation])
}

fn said(range: &Value) -> [f64; 2] {
    [&range["low"], &range["high"]].map(|bound| bound.as_f64().unwrap())
}

/// Compares the range of each day of a series. Returns the number of days that have one.
fn check(series: &Value, days: &BTreeMap<NaiveDate, Sum>, start: &str) -> usize {
    let mut ranges = 0;
    for point in series.as_array().unwrap() {
        let date = day(point["date"].as_str().unwrap());
        let expected = range(days, start, date, |sum| sum.clicks).zip(range(days, start, date, |sum| sum.impressions));
        let found = point.get("usual").map(|usual| (said(&usual["clicks"]), said(&usual["impressions"])));
        let Some((clicks, impressions)) = expected else {
            assert_eq!(found, None, "{date}");
            continue;
        };
        let (said_clicks, said_impressions) = found.unwrap_or_else(|| panic!("{date} has no range"));
        let pairs = [(said_clicks, clicks), (said_impressions, impressions)];
        for (found, expected) in pairs.into_iter().flat_map(|(found, expected)| found.into_iter().zip(expected)) {
            assert!((found - expected).abs() <= 1e-9 * expected.max(1.0), "{date}: {found} for {expected}");
        }
        ranges += 1;
    }
    ranges
}

#[tokio::test]
async fn the_usual_range_is_of_the_same_weekday_in_the_eight_weeks_before() {
    let (small, paper) = ((Asker::small().await, SMALL), (Asker::paper().await, PAPER));
    for ((asker, url), start, end, more, ranges) in [
        (&small, "2026-10-22", "2026-11-18", &[][..], 28),
        (&paper, "2026-10-22", "2026-11-18", &[("compare", "previous_period"), ("scope", "all")], 28),
        (&small, "2026-10-22", "2026-11-18", &[("compare", "previous_year"), ("explain", "true")], 28),
        (&small, "2026-11-16", "2026-11-21", &[], 3),
        (&small, "2026-11-16", "2026-11-21", &[("dataState", "all")], 6),
        // The history begins within an incident: three Mondays are left.
        (&small, "2026-05-25", "2026-05-31", &[], 6),
        (&small, "2026-05-19", "2026-05-25", &[], 0),
        (&small, "2026-03-01", "2026-03-07", &[], 0),
        // The search engine keeps no day before.
        (&small, "2025-07-21", "2025-07-27", &[], 0),
    ] {
        let query = [&[("usual", "true")], more].concat();
        let json = asker.window(start, end, &query).await;
        let days = days_of(url, (day(start) - Days::new(56)).max(day("2025-07-21")), day(end), &all);
        assert_eq!(check(&json["data"]["series"], &days, start), ranges, "{url} {start} {more:?}");
    }
}

#[tokio::test]
async fn the_usual_range_is_of_the_traffic_that_is_asked_about() {
    let asker = Asker::small().await;
    let filters = json!([{ "dimension": "device", "operator": "equals", "value": "MOBILE" }]).to_string();
    let json = asker.window("2026-10-22", "2026-11-18", &[("usual", "true"), ("filters", &filters)]).await;
    let mobile = |counted: Counted<'_>| counted.cell.device == "MOBILE";
    let days = days_of(SMALL, day("2026-08-27"), day("2026-11-18"), &mobile);
    assert_eq!(check(&json["data"]["series"], &days, "2026-10-22"), 28);
}

/// The last days of a window as an independent reader of the answer would judge them.
fn unusual(series: &Value, metric: &str) -> Option<Value> {
    let side = |point: &Value| {
        let [low, high] = said(&point["usual"][metric]);
        let value = point[metric].as_f64().unwrap();
        if value < low {
            "down"
        } else if value > high {
            "up"
        } else {
            ""
        }
    };
    let days: Vec<(&str, &str)> =
        series.as_array().unwrap().iter().map(|point| (point["date"].as_str().unwrap(), side(point))).collect();
    ["up", "down"].into_iter().find_map(|direction| {
        let outside = |last: usize| days.iter().rev().take(last).filter(|(_, side)| *side == direction).count();
        if days.len() < 3 || outside(3) < 3 && (days.len() < 7 || outside(7) < 5) {
            return None;
        }
        let first_of_run =
            (0..days.len()).find(|first| days[*first..].iter().filter(|(_, side)| *side != direction).count() <= 1)?;
        let run: Vec<&str> =
            days[first_of_run..].iter().filter(|(_, side)| *side == direction).map(|(date, _)| *date).collect();
        Some(json!({ "metric": metric, "direction": direction, "since": *run.first()?, "days": run.len() }))
    })
}

#[tokio::test]
async fn last_days_outside_the_range_are_unusual_on_lists_and_in_the_answer() {
    let app = TestApp::start(|config| config.simulator.sites = 40).await;
    let network = app.actor("network").await;
    let mut list = Value::Null;
    while list["meta"]["progress"]["stillReading"] != 0 {
        list = network.ask("/api/properties", &[("usual", "true"), ("series", "true")]).await.expect(200).json;
    }
    let (mut found, mut none) = (0, 0);
    for entry in list["data"].as_array().unwrap().iter().filter(|entry| entry["access"] == "ok") {
        let path = format!("/api/properties/{}/performance", entry["id"].as_str().unwrap());
        let data = network.ask(&path, &[("usual", "true")]).await.expect(200).json["data"].clone();
        let expected = ["clicks", "impressions"].into_iter().find_map(|metric| unusual(&data["series"], metric));
        assert_eq!(data.get("unusual"), expected.as_ref(), "{}", entry["name"]);
        assert_eq!(entry["headline"].get("unusual"), expected.as_ref(), "{}", entry["name"]);
        let ranges =
            |series: &Value| series.as_array().unwrap().iter().map(|day| day["usual"].clone()).collect::<Vec<_>>();
        assert_eq!(ranges(&entry["headline"]["series"]), ranges(&data["series"]), "{}", entry["name"]);
        if expected.is_some() { found += 1 } else { none += 1 }
    }
    assert!(found > 0 && none > 0, "{found} unusual, {none} usual");
}

#[tokio::test]
async fn the_sum_of_properties_has_a_usual_range_of_its_own() {
    let app = shared();
    let stranger = app.actor("stranger").await;
    let read = async |path: &str, query: &[(&str, &str)]| stranger.ask(path, query).await.expect(200).json;
    while read("/api/properties", &[]).await["meta"]["progress"]["stillReading"] != 0 {}
    let portfolio = read("/api/portfolio", &[("usual", "true")]).await;
    assert_eq!(portfolio["meta"]["coverage"]["inSum"], 1, "the person has one site");
    let days = days_of(SMALL, day("2026-08-27"), day("2026-11-18"), &all);
    assert_eq!(check(&portfolio["data"]["series"], &days, "2026-10-22"), 28);
    let expected =
        ["clicks", "impressions"].into_iter().find_map(|metric| unusual(&portfolio["data"]["series"], metric));
    assert_eq!(portfolio["data"].get("unusual"), expected.as_ref());
    assert!(portfolio["data"]["previousSeries"][0].get("usual").is_none());
    let plain = read("/api/portfolio", &[]).await;
    assert!(plain["data"]["series"][0].get("usual").is_none());
}

#[tokio::test]
async fn the_usual_range_is_read_with_the_window() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "owner", PAPER).await;
    let made = || app.simulator().controls().requests(Endpoint::Query);
    let cost = async |query: &[(&str, &str)]| {
        let before = made();
        asker.window("2026-06-01", "2026-06-28", query).await;
        made() - before
    };
    let filters = |value: &str| json!([{ "dimension": "device", "operator": "equals", "value": value }]).to_string();
    let [desktop, mobile] = [filters("DESKTOP"), filters("MOBILE")];
    let plain = cost(&[("filters", &desktop), ("compare", "previous_period")]).await;
    let usual = cost(&[("filters", &mobile), ("compare", "previous_period"), ("usual", "true")]).await;
    assert_eq!(usual, plain, "one reading by day has both windows and the days before");
}

#[tokio::test]
async fn what_is_usual_has_no_effect_without_a_series_by_day() {
    let asker = Asker::small().await;
    for more in [[("granularity", "week")], [("scope", "totals")], [("scope", "tables")]] {
        let json = asker.ask(&[&[("usual", "true")], &more[..]].concat()).await.expect(200).json;
        assert_eq!(json["meta"]["ignored"], json!(["usual"]), "{more:?}");
        assert!(json["data"].get("unusual").is_none());
    }
    let json = asker.ask(&[]).await.expect(200).json;
    assert!(json["data"]["series"][0].get("usual").is_none());
}
