//! Each question is asked once, and paid answers are kept.

use std::sync::{Arc, Mutex};

use api::integrations::Provider as Name;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta};
use common::clock::{Clock, Hand};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::*;

/// Records the notes.
#[derive(Default)]
struct Notes(Mutex<Vec<Result<Option<Amount>, SeoError>>>);

#[async_trait]
impl Ledger for Notes {
    async fn note(&self, _: &Holder, outcome: Result<Option<Amount>, &SeoError>) {
        self.0.lock().unwrap().push(outcome.map_err(Clone::clone));
    }
}

struct Bench {
    upstream: Upstream,
    paid_answers: PaidAnswers,
    notes: Arc<Notes>,
    hand: Hand,
}

impl Bench {
    async fn new(wait: Duration) -> Self {
        let (upstream, a, b) = providers().await;
        let (clock, hand) = Clock::manual(DateTime::from_timestamp(1_790_000_000, 0).unwrap());
        let notes = Arc::new(Notes::default());
        let paid_answers = PaidAnswers::new(
            [Arc::new(a), Arc::new(b)],
            notes.clone(),
            clock,
            (1 << 20, TimeDelta::hours(6)),
            wait,
            None,
        );
        Self { upstream, paid_answers, notes, hand }
    }

    async fn ask(&self, version: &str, keyword: &str) -> Result<Given, SeoError> {
        let holder = Holder { connection: Uuid::nil(), version: version.to_owned() };
        self.paid_answers.ask(Name::A, &holder, &login(), figures(&[keyword])).await
    }

    fn asked(&self) -> usize {
        self.upstream.arrived().len()
    }

    fn answer(&self) {
        self.upstream.say(200, done(0.01, &json!([{ "items": [{ "keyword": "tent" }] }])));
    }

    /// Yields until the server has received `count` requests.
    async fn until_asked(&self, count: usize) {
        while self.asked() < count {
            tokio::task::yield_now().await;
        }
    }
}

const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn an_answer_is_kept_for_its_credentials_and_for_a_while() {
    let bench = Bench::new(LONG).await;
    for _ in 0..4 {
        bench.answer();
    }
    let first = bench.ask("1", "tent").await.unwrap();
    let again = bench.ask("1", "tent").await.unwrap();
    assert!(first.is_fresh && !again.is_fresh && Arc::ptr_eq(&first.reading, &again.reading));
    assert_eq!(bench.asked(), 1);
    assert!(bench.ask("2", "tent").await.unwrap().is_fresh, "other credentials pay for themselves");
    bench.hand.advance(TimeDelta::hours(6));
    let later = bench.ask("1", "tent").await.unwrap();
    assert!(later.is_fresh && later.reading.read_at - first.reading.read_at == TimeDelta::hours(6));
    bench.paid_answers.forget(Uuid::nil());
    assert!(bench.ask("1", "tent").await.unwrap().is_fresh);
    let noted = bench.notes.0.lock().unwrap().clone();
    assert_eq!(noted, vec![Ok(Some(Amount(10_000))); 4]);
}

#[tokio::test]
async fn identical_questions_in_flight_are_made_once() {
    let bench = Bench::new(LONG).await;
    let turn = Arc::new(Semaphore::new(0));
    bench.upstream.reply(Reply::Held(turn.clone()));
    bench.answer();
    let released = async {
        bench.until_asked(1).await;
        turn.add_permits(1);
    };
    let (one, two, three, ()) =
        tokio::join!(bench.ask("1", "tent"), bench.ask("1", "tent"), bench.ask("1", "tent"), released);
    let fresh = [one, two, three].into_iter().filter(|given| given.as_ref().unwrap().is_fresh).count();
    assert_eq!((fresh, bench.asked()), (1, 1));
    assert_eq!(bench.notes.0.lock().unwrap().len(), 1, "one charge");
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_kept_because_it_is_paid_for() {
    let bench = Bench::new(Duration::ZERO).await;
    let turn = Arc::new(Semaphore::new(0));
    bench.upstream.reply(Reply::Held(turn.clone()));
    bench.answer();
    assert!(matches!(bench.ask("1", "tent").await, Err(SeoError::Unavailable(_))));
    bench.until_asked(1).await;
    turn.add_permits(1);
    let kept = loop {
        match bench.ask("1", "tent").await {
            Ok(given) => break given,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    assert!(!kept.is_fresh && bench.asked() == 1);
}

#[tokio::test]
async fn a_failure_is_not_kept_and_a_rate_limit_is_respected() {
    let bench = Bench::new(LONG).await;
    bench.upstream.say(402, refused(40_200));
    let broke = SeoError::OutOfCredit(Exhausted::Balance);
    assert_eq!(bench.ask("1", "tent").await.unwrap_err(), broke);
    bench.upstream.say(200, refused(40_202));
    let limited = |retry_after| SeoError::RateLimited { retry_after };
    assert_eq!(bench.ask("1", "tent").await.unwrap_err(), limited(60));
    bench.hand.advance(TimeDelta::seconds(20));
    assert_eq!(bench.ask("1", "boots").await.unwrap_err(), limited(40));
    assert_eq!(bench.asked(), 2, "the provider is left alone");
    bench.answer();
    assert!(bench.ask("2", "tent").await.is_ok(), "others are not held up");
    bench.hand.advance(TimeDelta::seconds(40));
    bench.answer();
    assert!(bench.ask("1", "boots").await.unwrap().is_fresh);
    let noted = bench.notes.0.lock().unwrap().clone();
    assert_eq!(noted[..2], [Err(broke), Err(limited(60))]);
    assert_eq!(noted.len(), 4);
    assert_eq!(bench.upstream.arrived()[0].body[0]["language_code"], Value::from("en"));
}

#[tokio::test]
async fn an_answer_that_comes_after_its_credentials_are_gone_is_not_kept() {
    let bench = Bench::new(LONG).await;
    let turn = Arc::new(Semaphore::new(0));
    bench.upstream.reply(Reply::Held(turn.clone()));
    bench.answer();
    let gone = async {
        bench.until_asked(1).await;
        bench.paid_answers.forget(Uuid::nil());
        turn.add_permits(1);
    };
    let (answer, ()) = tokio::join!(bench.ask("1", "tent"), gone);
    assert!(answer.is_ok(), "the caller still gets it");
    assert_eq!(bench.paid_answers.cache_use().entries, 0);
    bench.answer();
    assert!(bench.ask("1", "tent").await.unwrap().is_fresh);
    assert_eq!(bench.paid_answers.cache_use().entries, 1);
}

#[tokio::test]
async fn a_body_without_its_result_is_neither_kept_nor_noted_as_paid() {
    let bench = Bench::new(LONG).await;
    for body in [done(0.01, &Value::Null), done(0.01, &json!([])), json!({ "error": { "code": 500 } })] {
        bench.upstream.say(200, body.clone());
        let refused = bench.ask("1", "tent").await;
        assert!(matches!(refused, Err(SeoError::Unavailable(_))), "{body}: {refused:?}");
    }
    let noted = bench.notes.0.lock().unwrap().clone();
    assert!(noted.len() == 3 && noted.iter().all(Result::is_err), "{noted:?}");
    bench.answer();
    let given = bench.ask("1", "tent").await.unwrap();
    assert!(given.is_fresh && bench.asked() == 4, "each was asked for");
}
