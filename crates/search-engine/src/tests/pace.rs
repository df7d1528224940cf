//! Tests that the pace adapts to responses, and that small questions go first.

use futures_util::poll;

use super::*;

/// Asserts the current burst.
#[track_caller]
fn assert_burst(bench: &Bench, expected: f64) {
    let burst = bench.reader.engine().pacer.burst(Uuid::nil(), &site(), Asker::new(Lane::Own));
    assert!((burst - expected).abs() < 1e-9, "{burst}");
}

async fn paced() -> Bench {
    Bench::paced(Pace::default(), quick()).await
}

#[tokio::test]
async fn answers_speed_requests_up_and_refusals_for_the_quota_slow_them_down() {
    let bench = paced().await;
    let step = 60.0 / 64.0;
    assert!(bench.read(&part(10)).await.is_ok());
    assert_burst(&bench, 30.0 + step);
    bench.upstream.reply([Reply::Refuse(500, None), Reply::Refuse(400, None)]);
    assert!(bench.read(&part(11)).await.is_err());
    // Other errors do not change the pace.
    assert_burst(&bench, 30.0 + step);

    let refused = paced().await;
    refused.upstream.reply([Reply::Refuse(429, None)]);
    assert!(refused.read(&part(10)).await.is_ok(), "it was made again");
    assert_burst(&refused, 15.0);

    let message = json!({ "error": { "message": "Search Analytics load quota exceeded." } });
    let used_up = paced().await;
    used_up.upstream.reply([Reply::Fail(403, message)]);
    assert!(used_up.read(&part(10)).await.is_err());
    assert_burst(&used_up, 15.0);
}

#[tokio::test]
async fn a_request_without_a_turn_is_refused_at_once_and_is_no_trouble_of_the_search_engine() {
    let quota = Quota { per_minute: 1, per_day: 1_000 };
    let bench = Bench::paced(Pace { quota, ..Pace::default() }, quick()).await;
    assert!(bench.read(&part(10)).await.is_ok());
    let (sent, last) = (bench.upstream.queries(), bench.reader.engine().last_outcomes(Uuid::nil()));
    let late = bench.read(&part(11)).await.unwrap_err();
    let ReadError::SearchEngine(SearchEngineError::NotSent { waited, retry_after, of_quota: true }) = late else {
        panic!("{late}")
    };
    assert!(waited < quick().deadline && retry_after > Duration::from_secs(30), "{waited:?} {retry_after:?}");
    assert_eq!(bench.upstream.queries(), sent);
    assert_eq!(bench.reader.engine().last_outcomes(Uuid::nil()), last);
}

#[tokio::test]
async fn a_smaller_question_passes_a_larger_one_in_the_queue() {
    let pace = Pace { max_in_flight: 1, bucket: 1_000_000, refill_per_second: 1, ..Pace::default() };
    let bench = Bench::paced(pace, quick()).await;
    assert!(bench.read(&part(1)).await.is_ok(), "it has a token from here on");
    let turn = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply((0..5).map(|_| Reply::Held(turn.clone())));
    let [large, small] = [(); 2].map(|()| bench.reader.asking_for(Asker::new(Lane::Own)));
    let (account, site, plan) = (account("grant"), site(), Plan::everything());
    let parts = [2, 3, 4, 5, 6].map(part);
    let read = |reader: &Reader, part: &Part| {
        let (reader, account, site, part, plan) =
            (reader.clone(), account.clone(), site.clone(), part.clone(), plan.clone());
        async move { reader.read(&account, &site, &part, &plan).await }
    };
    let mut reads: Vec<_> = parts[..4].iter().map(|part| Box::pin(read(&large, part))).collect();
    reads.push(Box::pin(read(&small, &parts[4])));
    for read in &mut reads {
        assert!(poll!(read).is_pending());
    }
    // One is in flight, and the others queue before it is answered.
    while bench.upstream.queries() < 2 {
        tokio::task::yield_now().await;
    }
    turn.add_permits(5);
    assert!(futures_util::future::join_all(reads).await.iter().all(Result::is_ok));
    let order: Vec<u64> = bench
        .upstream
        .with(|script| script.queries[1..].iter().map(|query| query["rowLimit"].as_u64().unwrap()).collect());
    assert_eq!(order, [2, 6, 3, 4, 5]);
}

#[tokio::test]
async fn reading_ahead_takes_a_third_of_the_quota_at_most() {
    let quota = Quota { per_day: 18, ..Quota::default() };
    let bench = Bench::paced(Pace { quota, ..Pace::default() }, quick()).await;
    let (ahead, account) = (bench.reader.asking_for(Asker::new(Lane::Ahead)), bench.kept.account());
    let read = async |cap| ahead.read(&account, &site(), &part(cap), &Plan::everything()).await;
    assert!(read(10).await.is_ok());
    // A sixth of the third at once is one request, and the next one has its turn hours later.
    let mut second = Box::pin(read(11));
    assert!(poll!(&mut second).is_pending());
    assert!(bench.read(&part(12)).await.is_ok());
    assert!(poll!(&mut second).is_pending());
    assert_eq!(bench.upstream.queries(), 2);
}
