//! Tests of recent days: one request by day, read again in the background.

use chrono::TimeDelta;
use common::metrics::Metrics;

use super::*;

const SPAN: u32 = 94;

fn days(first_incomplete: &str) -> Reply {
    let row = |day: u32| json!({ "keys": [format!("2026-11-{day:02}")], "clicks": day, "impressions": 10 * day, "position": 2.0 });
    let rows: Vec<Value> = (1..=20).map(row).collect();
    let metadata = json!({ "first_incomplete_date": first_incomplete });
    Reply::Said(json!({ "rows": rows, "responseAggregationType": "byProperty", "metadata": metadata }))
}

fn ask(bench: &Bench, lane: Lane) -> Recent {
    bench.reader.recent().ask(&account("grant"), &site(), SPAN, lane)
}

async fn until_asked(bench: &Bench, count: usize) {
    while bench.upstream.queries() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn one_request_gives_freshness_and_sums() {
    let bench = Bench::new().await;
    bench.upstream.reply([days("2026-11-19")]);
    let recent = ask(&bench, Lane::Headlines).read().await.unwrap();
    assert_eq!(recent.freshness.last_final_date, date("2026-11-18"));
    assert_eq!(recent.freshness.first_incomplete_date, Some(date("2026-11-19")));
    let sum = recent.total(date("2026-11-17")..=date("2026-11-18"));
    assert_eq!(sum, Metrics { clicks: 35.0, impressions: 350.0, weighted_position: Some(700.0) });
    assert_eq!(recent.total(date("2026-10-01")..=date("2026-10-02")), Metrics::zero());
    let query = bench.upstream.with(|script| script.queries[0].clone());
    assert_eq!((&query["startDate"], &query["endDate"]), (&json!("2026-08-20"), &json!("2026-11-21")));
    assert_eq!((&query["dimensions"], &query["dataState"]), (&json!(["date"]), &json!("all")));
    let freshness = bench.reader.last_final(&account("grant"), &site()).await.unwrap();
    assert_eq!((freshness, bench.upstream.queries()), (recent.freshness, 1));
}

#[tokio::test]
async fn kept_days_are_the_answer_while_they_are_read_again_each_hour_for_six_hours() {
    let bench = Bench::new().await;
    bench.upstream.reply([days("2026-11-19"), days("2026-11-20")]);
    let first = ask(&bench, Lane::Headlines).read().await.unwrap();
    bench.hand.advance(TimeDelta::minutes(59));
    assert!(matches!(ask(&bench, Lane::Headlines), Recent::Kept(kept) if Arc::ptr_eq(&kept, &first)));
    bench.hand.advance(TimeDelta::minutes(1));
    for _ in 0..3 {
        assert!(matches!(ask(&bench, Lane::Headlines), Recent::Kept(kept) if Arc::ptr_eq(&kept, &first)));
    }
    until_asked(&bench, 2).await;
    let last_final = async || bench.reader.last_final(&account("grant"), &site()).await.unwrap().last_final_date;
    while last_final().await != date("2026-11-19") {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.upstream.queries(), 2, "once an hour");
    bench.hand.advance(TimeDelta::hours(6));
    assert!(matches!(ask(&bench, Lane::Headlines), Recent::UnderWay(_)), "nothing older than six hours is served");
}

#[tokio::test]
async fn days_before_the_first_incomplete_one_are_kept_as_final() {
    for (end, data_state, minutes) in [
        ("2026-11-18", DataState::Final, 360),
        ("2026-11-18", DataState::All, 360),
        ("2026-11-19", DataState::Final, 15),
        ("2026-11-21", DataState::All, 15),
    ] {
        let part = Part { start: date("2026-11-01"), end: date(end), data_state, ..part(10) };
        let bench = Bench::new().await;
        bench.upstream.reply([days("2026-11-19")]);
        ask(&bench, Lane::Own).read().await.unwrap();
        bench.read(&part).await.unwrap();
        bench.hand.advance(TimeDelta::minutes(minutes) - TimeDelta::seconds(1));
        bench.read(&part).await.unwrap();
        assert_eq!(bench.upstream.queries(), 2, "{end} {data_state:?}");
        bench.hand.advance(TimeDelta::seconds(1));
        bench.read(&part).await.unwrap();
        assert_eq!(bench.upstream.queries(), 3, "{end} {data_state:?}");
    }
}

#[tokio::test]
async fn a_late_site_is_read_far_enough_back() {
    let bench = Bench::new().await;
    bench.upstream.reply([days("2026-11-06"), days("2026-11-06")]);
    let recent = ask(&bench, Lane::Headlines).read().await.unwrap();
    // Two windows of 28 days that end on 5 November begin on 11 September.
    assert!(recent.covers(date("2026-09-11")));
    assert_eq!(bench.upstream.queries(), 2);
}

#[tokio::test]
async fn who_waits_does_not_wait_for_the_background() {
    let bench = Bench::new().await;
    let turn = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply([Reply::Held(turn.clone()), days("2026-11-19")]);
    let slow = ask(&bench, Lane::Headlines);
    until_asked(&bench, 1).await;
    let again = ask(&bench, Lane::Headlines);
    let found = bench.reader.last_final(&account("grant"), &site()).await.unwrap();
    assert_eq!((found.last_final_date, bench.upstream.queries()), (date("2026-11-18"), 2));
    turn.add_permits(1);
    assert!(slow.read().await.is_ok() && again.read().await.is_ok());
    assert_eq!(bench.upstream.queries(), 2, "those who ask for the same in one lane share a request");
}

#[tokio::test]
async fn a_reading_goes_on_when_nobody_waits() {
    let bench = Bench::new().await;
    bench.upstream.reply([days("2026-11-19")]);
    drop(ask(&bench, Lane::Headlines));
    until_asked(&bench, 1).await;
    while bench.reader.recent().kept(&account("grant"), &site(), SPAN).is_none() {
        tokio::task::yield_now().await;
    }
    bench.reader.forget_account(Uuid::nil());
    assert!(bench.reader.recent().kept(&account("grant"), &site(), SPAN).is_none());
}
