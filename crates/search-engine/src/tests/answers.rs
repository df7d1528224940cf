//! Tests of bodies that are no answers of the search engine, although their status is good. `answer.rs` has the table of bodies.

use super::*;

const ERROR: &str = r#"{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}"#;
const BODIES: [&str; 7] = [ERROR, "{}", "[]", "", "<html>", r#"{"rows":[]}"#, r#"{"rows":[{"keys":["a"]}]}"#];

fn is_unavailable<T>(outcome: &Result<T, ReadError>) -> bool {
    matches!(outcome, Err(ReadError::SearchEngine(SearchEngineError::Unavailable { quota: false, .. })))
}

#[tokio::test]
async fn what_is_not_an_answer_is_asked_again() {
    for body in BODIES {
        let bench = Bench::new().await;
        bench.upstream.reply([1, 2].map(|_| Reply::Text(200, body.to_owned())));
        let reading = bench.read(&part(10)).await.unwrap();
        assert_eq!((reading.rows.len(), bench.upstream.queries()), (1, 3), "{body}");
        let mut metrics = String::new();
        let mut registry = prometheus_client::registry::Registry::default();
        bench.reader.engine().meter().register(&mut registry);
        prometheus_client::encoding::text::encode(&mut metrics, &registry).unwrap();
        for line in ["requests_total{outcome=\"failed\"} 2", "requests_total{outcome=\"ok\"} 1"] {
            assert!(metrics.contains(line), "{body}: {metrics}");
        }
    }
}

/// Asks while the search engine answers with `body`, and once more when it is well.
async fn before_and_after<T>(
    body: &str,
    ask: impl AsyncFn(&Bench) -> Result<T, ReadError>,
) -> (Result<T, ReadError>, Result<T, ReadError>) {
    let bench = Bench::with(Patience { deadline: Duration::from_millis(300), ..quick() }).await;
    bench.upstream.reply((0..1_000).map(|_| Reply::Text(200, body.to_owned())));
    let before = ask(&bench).await;
    bench.upstream.with(|script| script.replies.clear());
    bench.hand.advance(chrono::TimeDelta::seconds(10));
    (before, ask(&bench).await)
}

#[tokio::test]
async fn what_is_not_an_answer_is_never_kept() {
    let days = Part { dimensions: vec![Dimension::Date], ..part(1) };
    let parts = [part(10), days.clone(), Part { data_state: DataState::All, ..days }];
    let asked = parts.iter().flat_map(|part| BODIES.map(|body| (part, body)));
    let outcomes =
        asked.map(async |(part, body)| (body, before_and_after(body, async |bench| bench.read(part).await).await));
    for (body, (before, after)) in futures_util::future::join_all(outcomes).await {
        assert!(is_unavailable(&before), "{body}: {before:?}");
        assert_eq!(after.unwrap().rows.len(), 1, "{body}");
    }
}

#[tokio::test]
async fn the_freshness_of_a_site_is_not_taken_from_what_is_no_answer() {
    let ask = async |bench: &Bench| Ok(bench.reader.last_final(&account("grant"), &site()).await?);
    let outcomes = BODIES.map(async |body| (body, before_and_after(body, ask).await));
    for (body, (before, after)) in futures_util::future::join_all(outcomes).await {
        assert!(is_unavailable(&before), "{body}: {before:?}");
        assert!(after.is_ok(), "{body}: {after:?}");
    }
}

#[tokio::test]
async fn a_list_of_sites_that_is_no_answer_is_asked_for_again() {
    let token = (200, r#"{"access_token":"a"}"#);
    let list = (200, r#"{"siteEntry":[{"siteUrl":"sc-domain:a.test","permissionLevel":"siteOwner"}]}"#);
    for body in [ERROR, "[]", "", "<html>", r#"{"siteEntry":null}"#] {
        let bench = Bench::new().await;
        bench.upstream.say([token, (200, body), list]);
        let sites = bench.reader.engine().sites(&account("grant")).await.unwrap();
        assert_eq!((sites.len(), bench.upstream.asked("/sites")), (1, 2), "{body}");
    }
    let bench = Bench::new().await;
    bench.upstream.say([token, (200, "{}")]);
    assert_eq!(bench.reader.engine().sites(&account("grant")).await, Ok(Vec::new()), "the account has none");
    assert_eq!(bench.upstream.asked("/sites"), 1);
}

#[tokio::test]
async fn a_refusal_of_a_proxy_neither_ends_a_grant_nor_loses_a_site() {
    for status in [401, 403, 404] {
        let bench = Bench::new().await;
        bench.upstream.reply([1, 2].map(|_| Reply::Text(status, "<html>blocked".to_owned())));
        assert_eq!(bench.read(&part(10)).await.unwrap().rows.len(), 1, "{status}");
        assert_eq!((bench.upstream.queries(), bench.upstream.refreshed().len()), (3, 1), "{status}");
    }
}
