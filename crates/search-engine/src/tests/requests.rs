//! Tests of attempts, pages and deadlines.

use super::*;

#[tokio::test]
async fn what_may_pass_is_tried_again_and_what_will_not_is_not() {
    let bench = Bench::new().await;
    bench.upstream.reply([500, 503, 429, 502].map(|status| Reply::Refuse(status, None)));
    assert_eq!(bench.read(&part(10)).await.unwrap().rows.len(), 1);
    assert_eq!(bench.upstream.queries(), 5);

    bench.upstream.reply([Reply::Refuse(400, None)]);
    let refused = bench.read(&part(11)).await.unwrap_err();
    assert!(matches!(refused, ReadError::SearchEngine(SearchEngineError::InvalidRequest(_))), "{refused}");
    assert_eq!(bench.upstream.queries(), 6);
}

#[tokio::test]
async fn a_part_of_an_answer_is_no_answer() {
    let bench = Bench::new().await;
    let whole = rows(&json!({ "dimensions": ["query"] }), 0, 3).to_string();
    bench.upstream.reply([201, 202, 203, 206].map(|status| Reply::Text(status, whole.clone())));
    assert_eq!(bench.read(&part(10)).await.unwrap().rows.len(), 1);
    assert_eq!(bench.upstream.queries(), 5);
}

#[tokio::test]
async fn a_wait_that_the_search_engine_asks_for_is_honoured_or_handed_on() {
    let bench = Bench::new().await;
    bench.upstream.reply([Reply::Refuse(429, Some("0")), Reply::Refuse(503, Some("0"))]);
    assert!(bench.read(&part(10)).await.is_ok());
    bench.upstream.reply([Reply::Refuse(429, Some("77"))]);
    let refused = bench.read(&part(11)).await.unwrap_err();
    let ReadError::SearchEngine(SearchEngineError::Unavailable { retry_after, .. }) = refused else {
        panic!("{refused}")
    };
    assert_eq!(retry_after, Duration::from_secs(77), "beyond the deadline, so nobody waits for it here");
    assert_eq!(bench.upstream.queries(), 4);
}

#[tokio::test]
async fn the_deadline_ends_a_request_that_nobody_answers() {
    // The third try is cut. More failures would open the breaker, which ends a request before its deadline.
    let patience = Patience { attempt: Duration::from_secs(4), ..quick() };
    let bench = Bench::with(patience).await;
    let never = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply((0..100).map(|_| Reply::Held(never.clone())));
    let refused = bench.read(&part(10)).await.unwrap_err();
    let ReadError::SearchEngine(SearchEngineError::Unavailable { detail, .. }) = refused else { panic!("{refused}") };
    assert_eq!(detail, "the deadline passed");
    assert!(bench.upstream.queries() > 1, "one try is not all the time there is");
}

#[tokio::test]
async fn pages_of_25_000_rows_are_read_until_one_is_short_or_the_cap_is_reached() {
    let cases = [
        (60_000, vec![25_000, 10], 25_010, false, vec![(0, 25_000), (25_000, 25_000)]),
        (50_000, vec![25_000, 25_000], 50_000, true, vec![(0, 25_000), (25_000, 25_000)]),
        (25_000, vec![25_000], 25_000, true, vec![(0, 25_000)]),
        (25_001, vec![25_000, 1], 25_001, true, vec![(0, 25_000), (25_000, 1)]),
        (25_002, vec![25_000, 0], 25_000, false, vec![(0, 25_000), (25_000, 2)]),
        (30_000, vec![24_999], 24_999, false, vec![(0, 25_000)]),
    ];
    for (cap, pages, expected, capped, asked) in cases {
        let bench = Bench::new().await;
        bench.upstream.reply(pages.into_iter().map(Reply::Rows));
        let reading = bench.read(&part(cap)).await.unwrap();
        assert_eq!((reading.rows.len(), reading.capped), (expected, capped), "cap {cap}");
        let came: Vec<(u64, u64)> = bench.upstream.with(|script| {
            let number = |query: &Value, name: &str| query[name].as_u64().unwrap();
            script.queries.iter().map(|q| (number(q, "startRow"), number(q, "rowLimit"))).collect()
        });
        assert_eq!(came, asked, "cap {cap}");
        let keys: std::collections::BTreeSet<&str> = reading.rows.iter().map(Row::key).collect();
        assert_eq!(keys.len(), expected, "cap {cap}: no row twice");
    }
}

#[tokio::test]
async fn a_row_that_comes_on_two_pages_counts_once() {
    let bench = Bench::new().await;
    let query = json!({ "dimensions": ["query"] });
    // Two rows of the first page come again, because the search engine sorts anew.
    bench.upstream.reply([Reply::Rows(25_000), Reply::Said(rows(&query, 24_998, 25_000)), Reply::Rows(10)]);
    let reading = bench.read(&part(60_000)).await.unwrap();
    assert_eq!(reading.rows.len(), 25_000 + 24_998 + 10);
    let keys: std::collections::BTreeSet<&str> = reading.rows.iter().map(Row::key).collect();
    assert_eq!(keys.len(), reading.rows.len());
    let starts: Vec<_> = bench.upstream.with(|script| script.queries.iter().map(|q| q["startRow"].clone()).collect());
    assert_eq!(starts, [0, 25_000, 50_000]);
}

#[tokio::test]
async fn pages_that_repeat_the_first_one_are_no_answer() {
    let bench = Bench::new().await;
    let first = rows(&json!({ "dimensions": ["query"] }), 0, 25_000);
    bench.upstream.reply([Reply::Said(first.clone()), Reply::Said(first)]);
    let refused = bench.read(&part(50_000)).await.unwrap_err();
    assert!(matches!(refused, ReadError::SearchEngine(SearchEngineError::Unavailable { .. })), "{refused}");
}
