//! Tests of access tokens: one refresh for all requests, one retry, and no reuse of a refused grant.

use super::*;

fn refusal(error: &str) -> (u16, Value) {
    (400, json!({ "error": error }))
}

fn is_disconnected(outcome: &Result<Arc<Reading>, ReadError>) -> bool {
    matches!(outcome, Err(ReadError::SearchEngine(SearchEngineError::Disconnected(_))))
}

#[tokio::test]
async fn many_first_requests_make_one_token() {
    let bench = Bench::new().await;
    let parts: Vec<Part> = (1..=20).map(part).collect();
    let outcomes = futures_util::future::join_all(parts.iter().map(|part| bench.read(part))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(bench.upstream.refreshed(), ["grant"]);
    assert_eq!(bench.upstream.queries(), 20);
}

#[tokio::test]
async fn a_refused_token_is_made_anew_once_and_the_request_sent_again_once() {
    let bench = Bench::new().await;
    bench.upstream.reply([Reply::Refuse(401, None)]);
    assert!(bench.read(&part(10)).await.is_ok());
    assert_eq!(bench.upstream.refreshed().len(), 2);
    assert_eq!(bench.upstream.with(|script| script.bearers.clone()), ["token-1", "token-2"]);

    bench.upstream.reply([Reply::Refuse(401, None), Reply::Refuse(401, None)]);
    assert!(is_disconnected(&bench.read(&part(11)).await));
    assert_eq!((bench.upstream.refreshed().len(), bench.upstream.queries()), (3, 4));
}

#[tokio::test]
async fn a_token_is_made_anew_before_it_expires() {
    let bench = Bench::new().await;
    assert!(bench.read(&part(10)).await.is_ok());
    bench.hand.advance(chrono::TimeDelta::seconds(3_560));
    assert!(bench.read(&part(11)).await.is_ok());
    assert_eq!(bench.upstream.refreshed().len(), 1);
    bench.hand.advance(chrono::TimeDelta::seconds(20));
    assert!(bench.read(&part(12)).await.is_ok());
    assert_eq!(bench.upstream.refreshed().len(), 2);
}

#[tokio::test]
async fn a_refused_grant_is_presented_once() {
    let bench = Bench::new().await;
    bench.upstream.with(|script| script.tokens.extend([refusal("invalid_grant"), refusal("invalid_grant")]));
    let parts: Vec<Part> = (1..=8).map(part).collect();
    let outcomes = futures_util::future::join_all(parts.iter().map(|part| bench.read(part))).await;
    assert!(outcomes.iter().all(is_disconnected));
    assert!(is_disconnected(&bench.read(&part(9)).await));
    assert_eq!(bench.upstream.refreshed(), ["grant"]);
    assert_eq!(bench.upstream.queries(), 0);
    bench.upstream.with(|script| script.tokens.clear());
    bench.connect_again("renewed");
    assert!(bench.read(&part(9)).await.is_ok(), "a new grant starts anew");
}

#[tokio::test]
async fn a_renewed_grant_does_not_use_the_old_ones_token() {
    let bench = Bench::new().await;
    assert!(bench.read(&part(10)).await.is_ok());
    bench.connect_again("renewed");
    assert!(bench.read(&part(11)).await.is_ok());
    assert_eq!(bench.upstream.refreshed(), ["grant", "renewed"]);
    assert_eq!(bench.upstream.with(|script| script.bearers.clone()), ["token-1", "token-2"]);
}

#[tokio::test]
async fn a_replaced_grant_is_stored_and_its_token_serves_requests_that_began_before() {
    let bench = Bench::new().await;
    let before = bench.kept.account();
    let replaced = json!({ "access_token": "first", "expires_in": 3600, "refresh_token": "next" });
    bench.upstream.with(|script| script.tokens.push_back((200, replaced)));
    for cap in [10, 11] {
        assert!(bench.read(&part(cap)).await.is_ok());
    }
    assert!(bench.read_as(&before, &part(12)).await.is_ok());
    assert_eq!(bench.kept.token(), "next");
    assert_eq!(bench.upstream.refreshed(), ["grant"]);
}

#[tokio::test]
async fn a_grant_that_another_replica_had_replaced_is_not_presented() {
    let bench = Bench::new().await;
    let before = bench.kept.account();
    bench.kept.replace("next");
    assert!(bench.read_as(&before, &part(10)).await.is_ok());
    assert_eq!(bench.upstream.refreshed(), ["next"]);
}

#[tokio::test]
async fn a_replaced_grant_is_stored_after_its_caller_left() {
    let bench = Bench::new().await;
    let replaced = json!({ "access_token": "first", "expires_in": 3600, "refresh_token": "next" });
    bench.upstream.with(|script| script.tokens.push_back((200, replaced)));
    let asked = part(10);
    let mut asking = Box::pin(bench.read(&asked));
    while bench.upstream.refreshed().is_empty() {
        assert!(futures_util::poll!(&mut asking).is_pending());
        tokio::task::yield_now().await;
    }
    drop(asking);
    while bench.kept.token() != "next" {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.upstream.queries(), 0, "nobody waits for the reading");
}

#[tokio::test]
async fn a_token_endpoint_that_is_away_is_asked_again() {
    let bench = Bench::new().await;
    bench.upstream.with(|script| script.tokens.extend([(503, json!({})), (500, json!("?"))]));
    assert!(bench.read(&part(10)).await.is_ok());
    assert_eq!(bench.upstream.refreshed().len(), 3);
}
