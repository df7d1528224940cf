//! Tests of totals: summed from the daily series if it is known and the sum is exact, otherwise requested.

use api::models::Aggregation;
use chrono::TimeDelta;
use common::metrics::Metrics;

use super::*;

/// Totals of a few final days.
fn totals() -> Part {
    Part { dimensions: Vec::new(), end: date("2026-10-02"), ..part(1) }
}

fn series() -> Part {
    Part { dimensions: vec![Dimension::Date], cap: 100, ..totals() }
}

/// Two days of `impressions` each, at these average positions.
fn days(impressions: u32, positions: [f64; 2]) -> Reply {
    let row = |(day, position): (usize, f64)| {
        let keys = [format!("2026-10-{:02}", day + 1)];
        json!({ "keys": keys, "clicks": 1, "impressions": impressions, "position": position })
    };
    let rows: Vec<Value> = positions.into_iter().enumerate().map(row).collect();
    Reply::Said(json!({ "rows": rows, "responseAggregationType": "byProperty" }))
}

fn only(reading: &Reading) -> Metrics {
    assert_eq!(reading.rows.len(), 1);
    reading.rows[0].metrics
}

#[tokio::test]
async fn a_series_that_was_read_serves_as_totals() {
    let bench = Bench::new().await;
    bench.upstream.reply([days(3, [7.0 / 3.0, 11.0 / 3.0])]);
    let series = bench.read(&series()).await.unwrap();
    let total = bench.read(&totals()).await.unwrap();
    assert_eq!(only(&total), Metrics { clicks: 2.0, impressions: 6.0, weighted_position: Some(18.0) });
    assert_eq!((total.read_at, bench.upstream.queries()), (series.read_at, 1));
    assert!(Arc::ptr_eq(&total, &bench.read(&totals()).await.unwrap()), "they are kept, as answers made of them are");
    assert_eq!(bench.upstream.queries(), 1);
}

#[tokio::test]
async fn totals_wait_for_a_series_that_is_being_read() {
    let bench = Bench::new().await;
    let turn = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply([Reply::Held(turn.clone())]);
    let (series, totals) = (series(), totals());
    let release = async {
        while bench.upstream.queries() == 0 {
            tokio::task::yield_now().await;
        }
        turn.add_permits(1);
    };
    let (series, total, ()) = tokio::join!(bench.read(&series), bench.read(&totals), release);
    assert_eq!(only(&total.unwrap()), series.unwrap().rows[0].metrics);
    assert_eq!(bench.upstream.queries(), 1);

    bench.upstream.reply([Reply::Refuse(400, None)]);
    let [series, totals] = [self::series(), self::totals()].map(|part| Part { end: date("2026-10-05"), ..part });
    let (series, total) = tokio::join!(bench.read(&series), bench.read(&totals));
    assert_eq!(series.unwrap_err(), total.unwrap_err(), "what a series lacks, its sum lacks");
    assert_eq!(bench.upstream.queries(), 2);
}

#[tokio::test]
async fn totals_are_asked_for_where_a_sum_would_not_be_exact() {
    let bench = Bench::new().await;
    bench.upstream.reply([days(3, [2.3, 3.7])]);
    bench.read(&series()).await.unwrap();
    bench.read(&totals()).await.unwrap();
    assert_eq!(bench.upstream.queries(), 2, "positions that were rounded do not add up");

    let bench = Bench::new().await;
    let incomplete = |part: Part| Part { data_state: DataState::All, ..part };
    bench.read(&incomplete(series())).await.unwrap();
    bench.read(&incomplete(totals())).await.unwrap();
    assert_eq!(bench.upstream.queries(), 2, "days that are not final change");

    let by_page = Part { aggregation: Some(Aggregation::ByPage), ..totals() };
    bench.read(&series()).await.unwrap();
    bench.read(&by_page).await.unwrap();
    assert_eq!(bench.upstream.queries(), 4, "the series counts otherwise");
}

#[tokio::test]
async fn a_sum_is_no_older_than_its_series_may_be() {
    let (hour, minute) = (TimeDelta::hours(1), TimeDelta::minutes(1));
    let none = TimeDelta::zero();
    // The time of day, the last day, the time that passes before the totals are asked for, a jump, and the time that the series still lives.
    for (name, start, end, before, jump, left) in [
        ("days that are not final", none, "2026-11-18", minute * 14, none, minute),
        ("days that are final after midnight", hour * 12 - minute * 10, "2026-11-18", minute * 14, none, minute),
        ("final days", none, "2026-10-02", hour * 5, none, hour),
        ("the clock is set back", none, "2026-10-02", hour * 5, hour * -2, hour),
        ("the clock is set forward", none, "2026-10-02", hour * 3, hour * 2, hour),
    ] {
        let bench = Bench::new().await;
        bench.hand.advance(start);
        let [series, totals] = [series(), totals()].map(|part| Part { end: date(end), ..part });
        bench.read(&series).await.unwrap();
        bench.hand.advance(before);
        bench.hand.set(jump);
        bench.read(&totals).await.unwrap();
        assert_eq!(bench.upstream.queries(), 1, "{name}");
        bench.hand.advance(left);
        bench.read(&totals).await.unwrap();
        assert_eq!(bench.upstream.queries(), 2, "{name}");
    }
}
