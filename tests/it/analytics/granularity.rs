//! Tests of series by week, month and hour: each period is the sum of its own cells, and together they are the window.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{Datelike as _, NaiveDate, TimeDelta};
use serde_json::{Value, json};
use simulator::SearchType;

use super::performance::{Asker, SMALL, site};
use crate::support::{
    app::shared,
    engine::engine,
    oracle::{Count, Counted, Sum, Truth, Window, all, by_query, day, final_days},
};

const LAST_FINAL: &str = "2026-11-18";
const YOUNG: &str = "https://tinyfern.test/";
const SOFTWARE: &str = "https://www.ledgerline.example/";
const SITES: [(&str, &str); 3] = [("stranger", SMALL), ("owner", YOUNG), ("owner", SOFTWARE)];

/// From the middle of a week and of a month to the middle of others, and of days that are not final.
const WINDOWS: [Window; 3] = [("2026-09-17", "2026-11-05"), ("2026-10-05", "2026-10-11"), ("2026-10-28", "2026-11-20")];
const BEFORE: Window = ("2026-08-12", "2026-09-09");

/// The first day on the calendar of the period that holds a day.
fn beginning(granularity: &str, date: NaiveDate) -> NaiveDate {
    match granularity {
        "week" => {
            (0..7).map(|days| date - TimeDelta::days(days)).find(|day| day.weekday().number_from_monday() == 1).unwrap()
        }
        "month" => date.with_day(1).unwrap(),
        _ => date,
    }
}

/// The final days of a window by period.
fn periods(granularity: &str, window: Window) -> Vec<Vec<NaiveDate>> {
    let mut periods = BTreeMap::<NaiveDate, Vec<NaiveDate>>::new();
    for date in final_days(window, LAST_FINAL) {
        periods.entry(beginning(granularity, date)).or_default().push(date);
    }
    periods.into_values().collect()
}

fn truth(url: &str, days: &[NaiveDate]) -> Truth {
    Truth::of(site(url), SearchType::Web, &days[0].to_string(), &days[days.len() - 1].to_string())
}

/// Returns whether a period has all its days on the calendar.
fn is_whole(granularity: &str, days: &[NaiveDate]) -> bool {
    let (first, next) = (days[0], days[days.len() - 1].succ_opt().unwrap());
    beginning(granularity, first) == first && beginning(granularity, next) == next
}

/// Checks the dates and marks of a series, and returns its points with the days of each.
fn checked<'s>(series: &'s Value, granularity: &str, window: Window) -> Vec<(&'s Value, Vec<NaiveDate>)> {
    let (points, periods) = (series.as_array().unwrap(), periods(granularity, window));
    assert_eq!(points.len(), periods.len(), "{granularity} {window:?}");
    for (point, days) in points.iter().zip(&periods) {
        let last = days[days.len() - 1].to_string();
        assert_eq!((&point["date"], &point["endDate"]), (&json!(days[0].to_string()), &json!(last)), "{point}");
        let cut = (!is_whole(granularity, days)).then_some(true);
        assert_eq!(point.get("cut").and_then(Value::as_bool), cut, "{point}");
        assert!(point.get("notFinal").is_none() && point.get("hour").is_none(), "{point}");
    }
    points.iter().zip(periods).collect()
}

impl Asker {
    async fn by(&self, what: &str, granularity: &str, (start, end): Window, more: &[(&str, &str)]) -> Value {
        let query = [&[("startDate", start), ("endDate", end), ("granularity", granularity)], more].concat();
        self.actor.ask(&format!("/api/properties/{}/{what}", self.property), &query).await.expect(200).json
    }
}

fn summed<'p>(points: impl IntoIterator<Item = &'p Value>) -> Sum {
    points.into_iter().map(Sum::said).fold(Sum::default(), Sum::plus)
}

#[tokio::test]
async fn weeks_and_months_are_the_sums_of_their_cells_and_make_the_window() {
    for (who, url) in SITES {
        let asker = Asker::of(shared(), who, url).await;
        for (window, granularity) in WINDOWS.into_iter().flat_map(|window| [(window, "week"), (window, "month")]) {
            let more = [("compareStart", BEFORE.0), ("compareEnd", BEFORE.1)];
            let json = asker.by("performance", granularity, window, &more).await;
            let data = &json["data"];
            for (point, days) in checked(&data["series"], granularity, window) {
                assert_eq!(Sum::said(point), truth(url, &days).total(Count::ByProperty, &all), "{point} of {url}");
            }
            let days = asker.by("performance", "day", window, &more).await;
            assert_eq!(summed(data["series"].as_array().unwrap()), summed(days["data"]["series"].as_array().unwrap()));
            assert_eq!(summed(data["series"].as_array().unwrap()), Sum::said(&data["totals"]), "{url}");
            assert_eq!(data["totals"], days["data"]["totals"]);
            let compared = &json["meta"]["days"]["compared"]["previous"];
            let before =
                [&compared["startDate"], &compared["endDate"]].map(|date| &*date.as_str().unwrap().to_owned().leak());
            for (point, days) in checked(&data["previousSeries"], granularity, (before[0], before[1])) {
                assert_eq!(Sum::said(point), truth(url, &days).total(Count::ByProperty, &all), "{point} of {url}");
            }
        }
    }
}

#[tokio::test]
async fn series_of_rows_and_of_the_brand_are_the_sums_of_their_cells() {
    let window = WINDOWS[2];
    for (who, url) in SITES {
        let asker = Asker::of(shared(), who, url).await;
        for granularity in ["week", "month"] {
            let lines = asker.by("table-sparklines", granularity, window, &[("table", "devices")]).await;
            let trends = asker.by("countries-timeseries", granularity, window, &[("top", "3")]).await;
            let split = asker.by("branded-traffic", granularity, window, &[]).await;
            let series = |rows: &Value, key: &str| -> Vec<(String, Value)> {
                rows.as_array()
                    .unwrap()
                    .iter()
                    .map(|row| (row[key].as_str().unwrap().to_owned(), row["series"].clone()))
                    .collect()
            };
            for (device, series) in series(&lines["data"]["rows"], "key") {
                for (point, days) in checked(&series, granularity, window) {
                    let of_device = |counted: Counted<'_>| counted.cell.device == device;
                    assert_eq!(
                        Sum::said(point),
                        truth(url, &days).total(Count::ByProperty, &of_device),
                        "{device} {point}"
                    );
                }
            }
            for (country, series) in series(&trends["data"]["countries"], "country") {
                for (point, days) in checked(&series, granularity, window) {
                    let of_country = |counted: Counted<'_>| counted.cell.country == country;
                    assert_eq!(
                        Sum::said(point),
                        truth(url, &days).total(Count::ByProperty, &of_country),
                        "{country} {point}"
                    );
                }
            }
            for (point, days) in checked(&split["data"]["series"], granularity, window) {
                let known = Sum::said(&point["branded"]).plus(Sum::said(&point["nonBranded"]));
                assert_eq!(
                    known,
                    truth(url, &days).total(Count::ByProperty, &|counted| !counted.cell.anonymised),
                    "{point}"
                );
                let hidden = truth(url, &days).total(Count::ByProperty, &|counted| counted.cell.anonymised);
                assert_eq!(point["anonymised"], json!({ "clicks": hidden.clicks, "impressions": hidden.impressions }));
            }
        }
    }
}

/// The number of queries in each bucket, by the average position of all their impressions.
fn buckets(rows: &BTreeMap<String, Sum>) -> Vec<u64> {
    let mut buckets = vec![0; 4];
    for row in rows.values() {
        let within = |bound: u64| row.positions <= bound * row.impressions;
        buckets[[3, 10, 20].into_iter().take_while(|bound| !within(*bound)).count()] += 1;
    }
    buckets
}

#[tokio::test]
async fn queries_count_once_in_each_period() {
    let window = WINDOWS[2];
    for (who, url) in SITES {
        let asker = Asker::of(shared(), who, url).await;
        for granularity in ["week", "month"] {
            let counts = asker.by("query-count", granularity, window, &[]).await;
            let insights = asker.by("query-insights", granularity, window, &[]).await;
            let mut sum_of_periods = 0;
            for (point, days) in checked(&counts["data"]["series"], granularity, window) {
                let rows = truth(url, &days).by(Count::ByProperty, &all, &by_query);
                assert_eq!(point["queries"], rows.len(), "{point} of {url}");
                let said: Vec<u64> = point["buckets"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|bucket| bucket["queries"].as_u64().unwrap())
                    .collect();
                assert_eq!(said, buckets(&rows), "{point} of {url}");
                sum_of_periods += rows.len();
            }
            for (point, days) in checked(&insights["data"]["visibility"]["series"], granularity, window) {
                let rows = truth(url, &days).by(Count::ByProperty, &all, &by_query);
                let (clicks, said) =
                    (rows.values().map(|row| row.clicks).sum::<u64>(), point["buckets"].as_array().unwrap());
                assert_eq!(
                    said.iter().map(|bucket| bucket["clicks"].as_u64().unwrap()).sum::<u64>(),
                    clicks,
                    "{point}"
                );
            }
            let days = asker.by("query-count", "day", window, &[]).await;
            assert_eq!(counts["data"]["uniqueQueries"], days["data"]["uniqueQueries"]);
            assert!(
                counts["data"]["uniqueQueries"].as_u64().unwrap() < sum_of_periods as u64,
                "some return every week"
            );
            let (coverage, daily) = (&counts["meta"]["coverage"], &days["meta"]["coverage"]);
            assert_eq!((&coverage["days"], &coverage["rowsKnown"]), (&daily["days"], &daily["rowsKnown"]));
            assert!(coverage.get("rowsShown").is_none(), "it lists no rows: {coverage}");
        }
    }
}

#[tokio::test]
async fn hours_equal_the_engines() {
    let window = ("2026-11-16", "2026-11-21");
    for (who, url) in SITES {
        let asker = Asker::of(shared(), who, url).await;
        let hours = engine(shared(), url, who, window, &["hour"]).await;
        // The clock stands at four in the morning of the last day. Hours that have not begun are not zero.
        for (state, listed) in [("final", 3 * 24), ("all", 5 * 24 + 5)] {
            let json = asker.by("performance", "hour", window, &[("dataState", state)]).await;
            let points = json["data"]["series"].as_array().unwrap();
            assert_eq!(points.len(), listed);
            let mut seen = BTreeSet::new();
            for point in points {
                let hour = point["hour"].as_str().unwrap();
                assert_eq!(Some(point["date"].as_str().unwrap()), hour.get(..10));
                assert_eq!(Sum::said(point), hours.get(&vec![hour.to_owned()]).copied().unwrap_or_default(), "{url}");
                assert_eq!(point.get("notFinal").is_some(), day(&hour[..10]) > day(LAST_FINAL), "{point}");
                assert!(seen.insert(hour), "{hour} is there twice");
            }
            assert_eq!(summed(points), Sum::said(&json["data"]["totals"]), "{state} hours of {url}");
        }
        let lines = asker.by("table-sparklines", "hour", window, &[("table", "devices")]).await;
        let by_device = engine(shared(), url, who, window, &["hour", "device"]).await;
        for line in lines["data"]["rows"].as_array().unwrap() {
            for point in line["series"].as_array().unwrap() {
                let key = [&point["hour"], &line["key"]].map(|part| part.as_str().unwrap().to_owned());
                assert_eq!(Sum::said(point), by_device.get(key.as_slice()).copied().unwrap_or_default(), "{point}");
            }
        }
        let split = asker.by("branded-traffic", "hour", window, &[]).await;
        assert_eq!(split["data"]["series"].as_array().unwrap().len(), 72);
        assert_eq!(split["data"]["total"], asker.by("branded-traffic", "day", window, &[]).await["data"]["total"]);
    }
}

#[tokio::test]
async fn hours_without_dates_cover_the_last_two_days() {
    let asker = Asker::small().await;
    let of = |what: &str| format!("/api/properties/{}/{what}", asker.property);
    let answers = [
        ("performance", "series"),
        ("branded-traffic", "series"),
        ("table-sparklines", ""),
        ("countries-timeseries", ""),
    ];
    for (state, window, listed) in
        [("final", ("2026-11-17", "2026-11-18"), 48), ("all", ("2026-11-20", "2026-11-21"), 24 + 5)]
    {
        for (what, series) in answers {
            let query = [("granularity", "hour"), ("dataState", state)];
            let json = asker.actor.ask(&of(what), &query).await.expect(200).json;
            assert_eq!(json["meta"]["window"], json!({ "startDate": window.0, "endDate": window.1 }), "{what} {state}");
            if !series.is_empty() {
                assert_eq!(json["data"][series].as_array().unwrap().len(), listed, "{what} {state}");
            }
            let dated = asker.by(what, "hour", window, &[("dataState", state)]).await;
            assert_eq!(
                (&json["data"], &json["meta"]["question"]),
                (&dated["data"], &dated["meta"]["question"]),
                "{what}"
            );
            let question = json["meta"]["question"].as_object().unwrap();
            let again: Vec<(&str, String)> = question
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
                .collect();
            let again: Vec<(&str, &str)> = again.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(asker.actor.ask(&of(what), &again).await.expect(200).json["data"], json["data"], "{what}");
        }
    }
    let compared = [("granularity", "hour"), ("compare", "previous_period")];
    let json = asker.actor.ask(&of("performance"), &compared).await.expect(200).json;
    assert_eq!(json["meta"]["compareWindow"], json!({ "startDate": "2026-11-15", "endDate": "2026-11-16" }));
    assert_eq!(json["data"]["previousSeries"].as_array().unwrap().len(), 48);
}

#[tokio::test]
async fn hours_that_the_engine_does_not_have_are_refused_with_the_reason() {
    let asker = Asker::small().await;
    let refused = async |what: &str, more: &[(&str, &str)]| {
        let query = [&[("granularity", "hour")], more].concat();
        let answer = asker.actor.ask(&format!("/api/properties/{}/{what}", asker.property), &query).await.expect(400);
        assert_eq!(answer.code(), "invalid_request");
        assert!(answer.hint().starts_with("granularity: "), "{}", answer.hint());
        answer.hint().to_owned()
    };
    let early = [("startDate", "2026-11-11"), ("endDate", "2026-11-18")];
    assert!(refused("performance", &early).await.contains("startDate must not be before 2026-11-12"));
    let recent = [("startDate", "2026-11-12"), ("endDate", "2026-11-18")];
    let before = [&recent[..], &[("compare", "previous_period")]].concat();
    assert!(refused("performance", &before).await.contains("compareStart"));
    for what in ["query-count", "query-insights"] {
        assert_eq!(refused(what, &recent).await, "granularity: must be one of day, week, month");
    }
    let path = format!("/api/properties/{}/performance", asker.property);
    asker.actor.ask(&path, &[&[("granularity", "hour")], &recent[..]].concat()).await.expect(200);
    let answer = asker.actor.ask(&path, &[("granularity", "quarter")]).await.expect(400);
    assert!(answer.hint().starts_with("granularity: must be one of day, week, month, hour"), "{}", answer.hint());
}
