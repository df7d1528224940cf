//! Tests of days that are not final: counted and marked with `dataState=all`, never compared, and never old.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use serde_json::{Value, json};
use simulator::Endpoint;

use super::performance::{Asker, SMALL};
use crate::support::{
    app::{TestApp, shared},
    engine::engine,
    oracle::{Sum, said_by},
};

/// The last three days are not final. Today is one of them.
const WINDOW: (&str, &str) = ("2026-11-16", "2026-11-21");
const OPEN: [&str; 3] = ["2026-11-19", "2026-11-20", "2026-11-21"];
const BEFORE: (&str, &str) = ("2026-11-09", "2026-11-14");

const SITES: [(&str, &str); 3] =
    [("stranger", SMALL), ("owner", "https://tinyfern.test/"), ("owner", "https://www.ledgerline.example/")];

impl Asker {
    async fn fresh(&self, what: &str, more: &[(&str, &str)]) -> Value {
        let mut query = vec![("startDate", WINDOW.0), ("endDate", WINDOW.1), ("dataState", "all")];
        query.extend_from_slice(more);
        self.actor.ask(&format!("/api/properties/{}/{what}", self.property), &query).await.expect(200).json
    }
}

/// The engine's rows by one dimension.
async fn by(who: &str, site: &str, dimension: &str) -> BTreeMap<String, Sum> {
    let rows = engine(shared(), site, who, WINDOW, &[dimension]).await;
    rows.into_iter().map(|(mut keys, sum)| (keys.remove(0), sum)).collect()
}

fn check_marks(series: &Value) {
    let marked = series.as_array().unwrap().iter().filter(|point| point["notFinal"] == true);
    assert_eq!(marked.map(|point| point["date"].as_str().unwrap()).collect::<Vec<_>>(), OPEN);
    let unmarked = series.as_array().unwrap().iter().filter(|point| point.get("notFinal").is_none());
    assert_eq!(unmarked.count(), 3);
}

#[tokio::test]
async fn fresh_days_equal_the_engines_and_are_marked() {
    for (who, site) in SITES {
        let asker = Asker::of(shared(), who, site).await;
        let json = asker.fresh("performance", &[("scope", "all"), ("queryLimit", "5000"), ("pageLimit", "5000")]).await;
        let (data, days) = (&json["data"], by(who, site, "date").await);
        let total = days.values().fold(Sum::default(), |sum, day| sum.plus(*day));
        assert_eq!(Sum::said(&data["totals"]), total, "{site}");
        let mut series = said_by(&data["series"], "date");
        series.retain(|_, day| day.impressions > 0);
        assert_eq!(series, days, "{site}");
        assert!(OPEN.iter().all(|day| days.contains_key(*day)), "{days:?}");
        check_marks(&data["series"]);
        for (table, dimension) in
            [("queries", "query"), ("pages", "page"), ("countries", "country"), ("devices", "device")]
        {
            let mut rows = by(who, site, dimension).await;
            if matches!(table, "queries" | "pages") && rows.len() > 5_000 {
                let said = said_by(&data["tables"][table], "key");
                rows.retain(|key, _| said.contains_key(key));
            }
            assert_eq!(said_by(&data["tables"][table], "key"), rows, "{table} of {site}");
        }
        assert_eq!(json["meta"]["days"]["current"], json!({ "counted": 6, "notFinal": OPEN }));
        assert_eq!(json["meta"]["status"], "analysed");
    }
}

#[tokio::test]
async fn every_analysis_takes_fresh_days() {
    for (who, site) in SITES {
        let asker = Asker::of(shared(), who, site).await;
        let (days, countries) = (by(who, site, "date").await, by(who, site, "country").await);
        let total = days.values().fold(Sum::default(), |sum, day| sum.plus(*day));
        assert_eq!(said_by(&asker.fresh("countries", &[]).await["data"], "key"), countries, "{site}");

        let trends = asker.fresh("countries-timeseries", &[("top", "2")]).await;
        for trend in trends["data"]["countries"].as_array().unwrap() {
            assert_eq!(Sum::said(&trend["totals"]), countries[trend["country"].as_str().unwrap()], "{site}");
            check_marks(&trend["series"]);
        }
        let lines = asker.fresh("table-sparklines", &[("table", "devices")]).await;
        for line in lines["data"]["rows"].as_array().unwrap() {
            let line_total = said_by(&line["series"], "date").values().fold(Sum::default(), |sum, day| sum.plus(*day));
            assert_eq!(line_total, by(who, site, "device").await[line["key"].as_str().unwrap()], "{site}");
            check_marks(&line["series"]);
        }
        let split = asker.fresh("branded-traffic", &[]).await;
        assert_eq!(Sum::said(&split["data"]["total"]), total, "{site}");
        check_marks(&split["data"]["series"]);

        let rows = engine(shared(), site, who, WINDOW, &["date", "query"]).await;
        let queries = by(who, site, "query").await;
        let counts = asker.fresh("query-count", &[]).await;
        assert_eq!(counts["data"]["uniqueQueries"], queries.len(), "{site}");
        for point in counts["data"]["series"].as_array().unwrap() {
            let of_day = rows.keys().filter(|keys| keys[0] == point["date"].as_str().unwrap());
            assert_eq!(point["queries"], of_day.count(), "{site}");
        }
        check_marks(&counts["data"]["series"]);
        let insights = asker.fresh("query-insights", &[]).await;
        let spread = insights["data"]["distribution"].as_array().unwrap();
        assert_eq!(
            spread.iter().map(|row| row["queries"].as_u64().unwrap()).sum::<u64>(),
            queries.len() as u64,
            "{site}"
        );
        check_marks(&insights["data"]["visibility"]["series"]);

        let growth = asker.fresh("growth-opportunities", &[("minImpressions", "1")]).await;
        for one in growth["data"]["opportunities"].as_array().unwrap() {
            assert_eq!(Sum::said(one), queries[one["query"].as_str().unwrap()], "{site}");
        }
        let contests =
            asker.fresh("cannibalization", &[("minQueryImpressions", "1"), ("minPageImpressions", "1")]).await;
        for one in contests["data"]["queries"].as_array().unwrap() {
            assert_eq!(one["impressions"], queries[one["query"].as_str().unwrap()].impressions, "{site}");
        }
    }
}

#[tokio::test]
async fn files_have_fresh_days_and_say_so() {
    let asker = Asker::small().await;
    let path = |what: &str| format!("/api/properties/{}/{what}", asker.property);
    let window = [("startDate", WINDOW.0), ("endDate", WINDOW.1), ("dataState", "all")];
    let rows = engine(shared(), SMALL, "stranger", WINDOW, &["date", "query"]).await;
    let answer = asker.actor.ask(&path("query-count-raw"), &window).await.expect(200);
    let text = String::from_utf8(answer.bytes.clone()).unwrap();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines.len(), rows.len());
    let open = lines.iter().filter(|line| OPEN.iter().any(|day| line.starts_with(day)));
    assert!(open.clone().count() > 3 && open.clone().all(|line| line.ends_with(",true")), "{text}");
    assert_eq!(lines.iter().filter(|line| line.ends_with(",true")).count(), open.count());
    let countries =
        asker.actor.ask(&path("export"), &[&window[..], &[("table", "countries")]].concat()).await.expect(200);
    let expected = by("stranger", SMALL, "country").await;
    let text = String::from_utf8(countries.bytes.clone()).unwrap();
    let clicks = text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!(clicks, expected.values().map(|sum| sum.clicks).sum::<u64>());
    for answer in [answer, countries] {
        assert!(answer.header("content-disposition").contains("all-days"), "{:?}", answer.headers);
    }
}

#[tokio::test]
async fn a_comparison_counts_final_days_and_shows_fresh_ones_in_the_series() {
    let compare = [("compareStart", BEFORE.0), ("compareEnd", BEFORE.1)];
    for (who, site) in SITES {
        let asker = Asker::of(shared(), who, site).await;
        let more = [&compare[..], &[("scope", "all"), ("explain", "true")]].concat();
        let fresh = asker.fresh("performance", &more).await;
        let final_only = asker.window(WINDOW.0, WINDOW.1, &more).await;
        for part in ["totals", "tables"] {
            assert_eq!(fresh["data"][part], final_only["data"][part], "{part} of {site}");
        }
        check_marks(&fresh["data"]["series"]);
        assert_eq!(fresh["data"]["explanation"], final_only["data"]["explanation"], "{site}");
        assert_eq!(fresh["data"]["previousSeries"], final_only["data"]["previousSeries"], "{site}");
        assert_eq!(fresh["meta"]["days"]["compared"], final_only["meta"]["days"]["compared"], "{site}");
        for what in ["query-insights", "branded-traffic", "growth-opportunities"] {
            let fresh = asker.fresh(what, &compare).await;
            let query = [&[("startDate", WINDOW.0), ("endDate", WINDOW.1)], &compare[..]].concat();
            let final_only =
                asker.actor.ask(&format!("/api/properties/{}/{what}", asker.property), &query).await.expect(200).json;
            assert_eq!(fresh["data"].get("movers"), final_only["data"].get("movers"), "{what} of {site}");
            for part in ["branded", "distribution", "opportunities"] {
                assert_eq!(fresh["data"].get(part), final_only["data"].get(part), "{part} of {what} of {site}");
            }
        }
    }
}

#[tokio::test]
async fn a_window_of_fresh_days_only_counts_unless_it_is_compared() {
    let asker = Asker::small().await;
    let alone = asker.window(OPEN[0], OPEN[2], &[("dataState", "all")]).await;
    assert_eq!(alone["meta"]["status"], "analysed");
    assert!(alone["data"]["totals"]["impressions"].as_u64().unwrap() > 0);

    let more = [("dataState", "all"), ("compareStart", BEFORE.0), ("compareEnd", BEFORE.1), ("scope", "all")];
    let json = asker.window(OPEN[0], OPEN[2], &more).await;
    assert_eq!((&json["meta"]["status"], &json["data"]["totals"]), (&json!("not_final_yet"), &Value::Null));
    assert!(json["meta"]["days"].get("compared").is_none());
    assert_eq!(json["data"]["tables"]["countries"], json!([]));
    let marked = json["data"]["series"].as_array().unwrap().iter().filter(|point| point["notFinal"] == true);
    assert_eq!(marked.count(), 3, "unfinished days are in the series");
}

#[tokio::test]
async fn without_dates_all_days_end_today() {
    let json = Asker::small().await.ask(&[("dataState", "all")]).await.expect(200).json;
    assert_eq!(json["meta"]["window"], json!({ "startDate": "2026-10-25", "endDate": "2026-11-21" }));
    let refused = Asker::small().await.ask(&[("dataState", "fresh")]).await.expect(400);
    assert!(refused.hint().starts_with("dataState"), "{}", refused.hint());
}

#[tokio::test]
async fn fresh_days_are_read_again_after_a_quarter_of_an_hour() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let requests = async || {
        asker.fresh("performance", &[("scope", "all")]).await;
        app.simulator().controls().requests(Endpoint::Query)
    };
    let first = requests().await;
    app.hand.advance(TimeDelta::minutes(14));
    assert_eq!(requests().await, first, "kept for a while");
    app.hand.advance(TimeDelta::minutes(1));
    let second = requests().await;
    assert!(second - first >= 7, "all of it is read again: {} requests", second - first);
}
