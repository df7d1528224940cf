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
        let account = Account { id, refresh_token: "grant".into(), connected_at: DateTime::UNIX_EPOCH };
        bench.reader.read(&account, &site(), &part(10), &Plan::everything()).await.unwrap();
    }
    assert_eq!(bench.upstream.queries(), 2);
}

#[tokio::test]
async fn an_account_that_asks_for_much_evicts_its_own_readings() {
    let bench = Bench::new().await;
    let account = |id| Account { id: Uuid::from_u128(id), ..account("grant") };
    let (owner, stranger) = (account(1), account(2));
    let small: Vec<Part> = (1..=20).map(part).collect();
    for part in &small {
        bench.read_as(&owner, part).await.unwrap();
    }
    let large = |number: i64| {
        let day = date("2026-09-01") + TimeDelta::days(number);
        Part { start: day, end: day, ..part(25_000) }
    };
    for number in 0..12 {
        bench.upstream.reply([Reply::Rows(25_000)]);
        bench.read_as(&stranger, &large(number)).await.unwrap();
    }
    let asked = bench.upstream.queries();
    for part in &small {
        bench.read_as(&owner, part).await.unwrap();
    }
    assert_eq!(bench.upstream.queries(), asked, "the owner's readings are kept");
    bench.read_as(&stranger, &large(11)).await.unwrap();
    assert_eq!(bench.upstream.queries(), asked, "and the stranger's newest");
    bench.read_as(&stranger, &large(0)).await.unwrap();
    assert_eq!(bench.upstream.queries(), asked + 1, "not the stranger's oldest");
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
async fn errors_are_not_kept() {
    let bench = Bench::new().await;
    bench.upstream.reply([Reply::Refuse(400, None)]);
    assert!(bench.read(&part(10)).await.is_err());
    assert!(bench.read(&part(10)).await.is_ok());
    assert_eq!(bench.upstream.queries(), 2);
}

/// Yields until the search engine has been asked `count` queries.
async fn until_asked(bench: &Bench, count: usize) {
    while bench.upstream.queries() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_reading_continues_when_its_first_caller_leaves() {
    let bench = Bench::new().await;
    let turn = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply([Reply::Held(turn.clone())]);
    let asked = part(10);
    let mut first = Box::pin(bench.read(&asked));
    assert!(futures_util::poll!(&mut first).is_pending());
    until_asked(&bench, 1).await;
    let mut second = Box::pin(bench.read(&asked));
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    turn.add_permits(1);
    assert!(second.await.is_ok());
    assert_eq!(bench.upstream.queries(), 1);
}

#[tokio::test]
async fn a_reading_that_nobody_waits_for_ends() {
    let bench = Bench::new().await;
    let turn = Arc::new(tokio::sync::Semaphore::new(0));
    bench.upstream.reply([Reply::Held(turn.clone())]);
    // Two pages: the second is never asked for.
    let asked = part(25_001);
    let mut asking = Box::pin(bench.read(&asked));
    assert!(futures_util::poll!(&mut asking).is_pending());
    until_asked(&bench, 1).await;
    drop(asking);
    turn.add_permits(1);
    let other = part(10);
    assert!(bench.read(&other).await.is_ok());
    assert_eq!((bench.upstream.queries(), bench.reader.cache_use().entries), (2, 1), "only the other one is kept");
    assert!(bench.read(&asked).await.is_ok(), "it is asked anew");
}
