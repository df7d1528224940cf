//! Tests of the time in which the search engine is not asked, because it fails.

use super::*;

fn other_site(name: &str) -> SiteUrl {
    SiteUrl(format!("sc-domain:{name}.test"))
}

async fn read(bench: &Bench, site: &SiteUrl, cap: usize) -> Result<Arc<Reading>, ReadError> {
    bench.reader.read(&bench.kept.account(), site, &part(cap), &Plan::everything()).await
}

/// The time until the search engine is asked again.
#[track_caller]
fn shut(outcome: Result<Arc<Reading>, ReadError>) -> Duration {
    match outcome {
        Err(ReadError::SearchEngine(SearchEngineError::Shut { retry_after })) => retry_after,
        other => panic!("{other:?}"),
    }
}

fn failing(times: usize) -> impl Iterator<Item = Reply> {
    std::iter::repeat_with(|| Reply::Refuse(500, None)).take(times)
}

#[tokio::test]
async fn a_site_that_fails_alone_shuts_itself_alone_and_is_probed() {
    let bench = Bench::new().await;
    bench.upstream.reply(failing(12));
    let failed = read(&bench, &site(), 10).await.unwrap_err();
    let ReadError::SearchEngine(SearchEngineError::Unavailable { retry_after, quota: false, .. }) = failed else {
        panic!("{failed}")
    };
    assert_eq!((retry_after, bench.upstream.queries()), (Duration::from_secs(10), 12));
    for cap in 11..20 {
        assert_eq!(shut(read(&bench, &site(), cap).await), Duration::from_secs(10));
    }
    assert_eq!(bench.upstream.queries(), 12, "nothing was sent");
    assert!(read(&bench, &other_site("other"), 10).await.is_ok());
    assert!(bench.reader.engine().trouble(Uuid::nil()).is_none(), "the account has read another site since");

    bench.hand.advance(chrono::TimeDelta::seconds(10));
    bench.upstream.reply(failing(1));
    let probed = read(&bench, &site(), 10).await;
    assert!(matches!(probed, Err(ReadError::SearchEngine(SearchEngineError::Unavailable { .. }))), "{probed:?}");
    assert_eq!(shut(read(&bench, &site(), 10).await), Duration::from_secs(20));
    assert_eq!(bench.upstream.queries(), 14, "one probe");

    bench.hand.advance(chrono::TimeDelta::seconds(20));
    let (bench, site) = (&bench, site());
    let reads = (20..40).map(|cap| read(bench, &site, cap));
    assert!(futures_util::future::join_all(reads).await.iter().all(Result::is_ok), "all wait for the probe");
}

#[tokio::test]
async fn three_sites_that_fail_shut_the_host_and_its_answer_opens_all_of_them() {
    let bench = Bench::new().await;
    bench.upstream.reply(failing(14));
    let sites = ["a", "b", "c"].map(other_site);
    for site in &sites[..2] {
        // The owner leaves after a while, so the row goes on at another site.
        let asked = bench.upstream.queries();
        let reading = read(&bench, site, 10);
        tokio::select! {
            _ = reading => {}
            () = async { while bench.upstream.queries() < asked + 6 { tokio::task::yield_now().await } } => {}
        }
    }
    assert!(read(&bench, &sites[2], 10).await.is_err());
    let asked = bench.upstream.queries();
    assert!(asked <= 16, "{asked}");
    shut(read(&bench, &other_site("new"), 10).await);
    assert!(bench.reader.engine().sites(&bench.kept.account()).await.is_err(), "also without a site");
    assert!(bench.reader.engine().trouble(Uuid::nil()).is_some());

    bench.upstream.with(|script| script.replies.clear());
    bench.hand.advance(chrono::TimeDelta::seconds(10));
    for site in &sites {
        assert!(read(&bench, site, 11).await.is_ok(), "{site}");
    }
}

#[tokio::test]
async fn what_the_search_engine_refuses_shuts_nothing() {
    let bench = Bench::new().await;
    for (number, status) in [429, 400].into_iter().cycle().take(60).enumerate() {
        bench.upstream.reply([Reply::Refuse(status, None)]);
        drop(bench.read(&part(number + 10)).await);
    }
    assert!(bench.read(&part(100)).await.is_ok());
}

#[tokio::test]
async fn a_token_endpoint_that_fails_is_not_asked_for_a_while() {
    let bench = Bench::new().await;
    bench.upstream.with(|script| script.tokens.extend((0..20).map(|_| (503, json!({})))));
    assert!(bench.read(&part(10)).await.is_err());
    let asked = bench.upstream.refreshed().len();
    assert_eq!(asked, 12);
    assert_eq!(shut(bench.read(&part(11)).await), Duration::from_secs(10));
    assert_eq!(bench.upstream.refreshed().len(), asked);

    bench.upstream.with(|script| script.tokens.clear());
    bench.hand.advance(chrono::TimeDelta::seconds(10));
    assert!(bench.read(&part(11)).await.is_ok());
}

#[tokio::test]
async fn a_probe_that_nobody_waits_for_any_more_leaves_its_place() {
    let bench = Bench::new().await;
    bench.upstream.reply(failing(12));
    assert!(bench.read(&part(10)).await.is_err());
    bench.hand.advance(chrono::TimeDelta::seconds(10));
    let never = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply([Reply::Held(never)]);
    let probe = part(10);
    tokio::select! {
        outcome = bench.read(&probe) => panic!("{outcome:?}"),
        () = async { while bench.upstream.queries() < 13 { tokio::task::yield_now().await } } => {}
    }
    assert!(bench.read(&part(11)).await.is_ok());
}
