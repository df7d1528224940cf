//! Tests of the days that a response covers.

use simulator::SearchType;

use super::{Asker, SMALL, truth};
use crate::support::{
    app::shared,
    oracle::{Count, Sum, all, by_date, day, said_by},
};

#[tokio::test]
async fn a_window_split_in_two_adds_up() {
    let asker = Asker::small().await;
    let totals = async |start: &str, end: &str| Sum::said(&asker.window(start, end, &[]).await["data"]["totals"]);
    let whole = totals("2026-09-01", "2026-09-14").await;
    for last in ["2026-09-01", "2026-09-06", "2026-09-13"] {
        let next = day(last).succ_opt().unwrap().to_string();
        let parts = totals("2026-09-01", last).await.plus(totals(&next, "2026-09-14").await);
        assert_eq!(parts, whole, "split after {last}");
    }
}

#[tokio::test]
async fn the_default_window_is_the_28_days_that_end_on_the_last_final_one() {
    let json = Asker::small().await.ask(&[]).await.expect(200).json;
    let window = &json["meta"]["window"];
    assert_eq!((&window["startDate"], &window["endDate"]), (&"2026-10-22".into(), &"2026-11-18".into()));
    let freshness = &json["meta"]["freshness"];
    assert_eq!(freshness["lastFinalDate"], "2026-11-18");
    assert_eq!(freshness["firstIncompleteDate"], "2026-11-19");
    assert_eq!(freshness["timeZone"], "America/Los_Angeles");
    assert_eq!(json["data"]["series"].as_array().unwrap().len(), 28);
    assert_eq!(Sum::said(&json["data"]["totals"]), truth("2026-10-22", "2026-11-18").total(Count::ByProperty, &all));
}

#[tokio::test]
async fn days_that_are_not_final_are_cut_off() {
    let json = Asker::small().await.window("2026-11-16", "2026-11-21", &[]).await;
    let final_days = truth("2026-11-16", "2026-11-18");
    assert_eq!(said_by(&json["data"]["series"], "date"), final_days.by(Count::ByProperty, &all, &by_date));
    assert_eq!(Sum::said(&json["data"]["totals"]), final_days.total(Count::ByProperty, &all));
    assert_eq!(json["meta"]["window"]["endDate"], "2026-11-21", "the window stays as it was asked for");
    assert_eq!(json["meta"]["freshness"]["lastFinalDate"], "2026-11-18");
}

#[tokio::test]
async fn a_window_without_a_final_day_has_no_data_yet() {
    let json = Asker::small().await.window("2026-11-19", "2026-11-21", &[("scope", "all")]).await;
    assert_eq!(json["meta"]["status"], "not_final_yet");
    assert_eq!(json["data"]["totals"], serde_json::Value::Null, "not counted is not zero");
    assert_eq!(json["data"]["series"], serde_json::json!([]));
    assert_eq!(json["data"]["tables"]["queries"], serde_json::json!([]));
    assert!(json["meta"]["coverage"]["queries"]["clicksShare"].is_null());
}

#[tokio::test]
async fn the_search_engine_keeps_16_months() {
    let asker = Asker::small().await;
    let json = asker.window("2025-07-21", "2025-07-22", &[]).await;
    assert_eq!(Sum::said(&json["data"]["totals"]), truth("2025-07-21", "2025-07-22").total(Count::ByProperty, &all));
    let refused = [
        ("startDate", "2025-07-20", "2025-07-22"),
        ("endDate", "2026-11-20", "2026-11-23"),
        ("startDate", "2026-11-10", "2026-11-09"),
        ("startDate", "2026-02-30", "2026-03-01"),
        ("endDate", "2026-11-10", "later"),
    ];
    for (name, start, end) in refused {
        let answer = asker.ask(&[("startDate", start), ("endDate", end)]).await.expect(400);
        assert!(answer.hint().contains(name), "{start} {end}: {}", answer.hint());
    }
    for (alone, missing) in [("startDate", "endDate"), ("endDate", "startDate"), ("compareStart", "compareEnd")] {
        let answer = asker.ask(&[(alone, "2026-10-01")]).await.expect(400);
        assert!(answer.hint().contains(missing), "{}", answer.hint());
    }
    let before = [("compareStart", "2025-07-20"), ("compareEnd", "2025-07-22")];
    assert!(asker.ask(&before).await.expect(400).hint().contains("compareStart"));
}

#[tokio::test]
async fn the_young_site_has_zeros_before_it_went_live() {
    let app = shared();
    let asker = Asker::of(app, "owner", "tinyfern").await;
    let site = app.simulator().world().site("https://tinyfern.test/").unwrap();
    let first = site.first_day().unwrap();
    let (start, end) = (first - chrono::TimeDelta::days(3), first + chrono::TimeDelta::days(3));
    let (start, end) = (start.to_string(), end.to_string());
    let json = asker.window(&start, &end, &[]).await;
    let truth = crate::support::oracle::Truth::of(site, SearchType::Web, &start, &end);
    let series = said_by(&json["data"]["series"], "date");
    assert_eq!(series.len(), 7);
    let with_data: Vec<&String> = series.iter().filter(|(_, sum)| sum.impressions > 0).map(|(date, _)| date).collect();
    assert_eq!(with_data.first().map(|date| day(date)), Some(first));
    assert_eq!(Sum::said(&json["data"]["totals"]), truth.total(Count::ByProperty, &all));

    let before = (first - chrono::TimeDelta::days(1)).to_string();
    let json = asker.window(&start, &before, &[]).await;
    assert_eq!(
        (&json["meta"]["status"], json["data"]["series"].as_array().unwrap().len()),
        (&"no_search_data".into(), 3)
    );
}

#[tokio::test]
async fn answers_follow_the_clock() {
    let app = crate::support::app::TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    assert_eq!(asker.ask(&[]).await.expect(200).json["meta"]["window"]["endDate"], "2026-11-18");
    app.hand.advance(chrono::TimeDelta::days(1));
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let json = asker.ask(&[]).await.expect(200).json;
    assert_eq!(json["meta"]["window"]["endDate"], "2026-11-19");
    assert_eq!(json["meta"]["freshness"]["lastFinalDate"], "2026-11-19");
}
