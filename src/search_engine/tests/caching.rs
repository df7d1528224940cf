//! Tests of cached responses, their lifetime, and shared requests.

use chrono::TimeDelta;

use super::*;

#[tokio::test]
async fn settled_days_are_kept_for_six_hours_and_others_for_a_quarter() {
    let today = date("2026-11-21");
    let settled = Part { end: today - TimeDelta::days(4), ..part(10) };
    let unsettled = Part { end: today - TimeDelta::days(3), ..part(10) };
    let incomplete = Part { data_state: DataState::All, ..part(10) };
    for (part, minutes) in [(settled, 360), (unsettled, 15), (incomplete, 15)] {
        let bench = Bench::new().await;
        let first = bench.read(&part).await.unwrap();
        bench.hand.advance(TimeDelta::minutes(minutes) - TimeDelta::seconds(1));
        assert!(Arc::ptr_eq(&first, &bench.read(&part).await.unwrap()));
        assert_eq!(bench.upstream.queries(), 1);
        bench.hand.advance(TimeDelta::seconds(1));
        assert!(bench.read(&part).await.unwrap().read_at > first.read_at);
        assert_eq!(bench.upstream.queries(), 2);
    }
}

#[tokio::test]
async fn accounts_do_not_share_readings() {
    let bench = Bench::new().await;
    for id in [Uuid::from_u128(1), Uuid::from_u128(2)] {
        let account = Account { id, refresh_token: "grant".into() };
        bench.reader.read(&account, &site(), &part(10), &Plan::everything()).await.unwrap();
    }
    assert_eq!(bench.upstream.queries(), 2);
}

#[tokio::test]
async fn identical_requests_in_flight_are_made_once() {
    let bench = Bench::new().await;
    let turn = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply([Reply::Held(turn.clone())]);
    let part = part(10);
    let ask = || bench.read(&part);
    let all = futures_util::future::join_all((0..12).map(|_| ask()));
    let release = async {
        while bench.upstream.queries() == 0 {
            tokio::task::yield_now().await;
        }
        turn.add_permits(1);
    };
    let (outcomes, ()) = tokio::join!(all, release);
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(bench.upstream.queries(), 1);
}

#[tokio::test]
async fn errors_are_not_kept_even_when_whoever_asked_has_gone() {
    let bench = Bench::new().await;
    bench.upstream.reply([Reply::Refuse(400, None)]);
    assert!(bench.read(&part(10)).await.is_err());
    assert!(bench.read(&part(10)).await.is_ok());

    let turn = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply([Reply::Held(turn.clone()), Reply::Refuse(400, None)]);
    let asked = part(25_001);
    let gone = async {
        while bench.upstream.queries() < 3 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = bench.read(&asked) => panic!("nothing was answered yet"),
        () = gone => {}
    }
    turn.add_permits(1);
    while bench.reader.cache_use().entries < 2 {
        tokio::task::yield_now().await;
    }
    assert!(bench.read(&asked).await.is_ok(), "the reading went on and was kept");
    assert_eq!(bench.upstream.queries(), 3);
}

#[tokio::test]
async fn a_failure_that_nobody_waited_for_is_not_handed_to_the_next_who_asks() {
    let bench = Bench::new().await;
    bench.upstream.reply([Reply::Refuse(400, None)]);
    let asked = part(10);
    {
        let asking = bench.read(&asked);
        tokio::pin!(asking);
        assert!(futures_util::poll!(&mut asking).is_pending());
    }
    while bench.upstream.queries() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The end of the reading cannot be observed from outside.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(bench.read(&asked).await.is_ok());
    assert_eq!(bench.upstream.queries(), 2);
}
