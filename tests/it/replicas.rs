//! Tests of three replicas that share a database and Redis. They pass without a look on `SQLite`, and without a Redis server.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use chrono::TimeDelta;
use futures_util::future::join_all;
use poem::http::{Method, StatusCode};
use serde_json::{Value, json};
use sightline::config::Config;
use simulator::Endpoint;

use crate::{
    faults::{impatient, trouble},
    integrations::{connect_both, paid_requests},
    search_accounts::health,
    support::{
        actor::{Actor, Answer},
        app::{TestApp, share_redis},
        browser::Browser,
        redis,
        relay::Relay,
    },
};

/// An operation that anyone may call, counted by address.
const PUBLIC: &str = "/api/billing/plans";

/// Replicas of one service, and the relay through which they reach Redis.
struct Replicas {
    all: Vec<TestApp>,
    relay: Relay,
}

impl Replicas {
    async fn start(change: impl FnOnce(&mut Config)) -> Option<Self> {
        let mut relay = None;
        let first = TestApp::start(|config| {
            share_redis(config);
            relay = config.redis.url.as_mut().map(Relay::before);
            change(config);
        });
        let (first, relay) = (Box::pin(first).await, relay?);
        let second = Box::pin(first.beside_as(12)).await?;
        let third = Box::pin(first.beside_as(13)).await?;
        Some(Self { all: vec![first, second, third], relay })
    }

    /// The same person at each replica in turn, `times` times.
    fn callers(&self, actor: &Actor, times: usize) -> Vec<Actor> {
        let at = |app: &TestApp| Actor::with_token(&format!("http://{}", app.service.address), actor.token());
        (0..times).map(|number| at(&self.all[number % self.all.len()])).collect()
    }

    /// The number of requests for search data that all replicas have sent.
    fn upstream(&self) -> u64 {
        self.all.iter().map(|app| app.simulator().controls().requests(Endpoint::Query)).sum()
    }

    /// The number of calls of Redis that were not answered in time, such as on a busy machine. For each of them a replica decided alone.
    fn alone(&self) -> u64 {
        let links = self.all.iter().flat_map(|app| app.service.shared.as_ref().unwrap().uses());
        links.map(|used| used.failed.load(Ordering::Relaxed) + used.skipped.load(Ordering::Relaxed)).sum()
    }

    /// Waits until every replica says of Redis what is expected.
    async fn until_redis_is(&self, status: &str) {
        let says = async |app: &TestApp| {
            app.hand.advance(TimeDelta::seconds(2));
            let health = app.anonymous().get("/api/health").await.json;
            let parts = health["data"]["dependencies"].as_array().unwrap().clone();
            parts.iter().any(|part| part["name"] == "redis" && part["status"] == status)
        };
        let all = async {
            for app in &self.all {
                while !says(app).await {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        };
        let waited = tokio::time::timeout(Duration::from_mins(1), all).await;
        assert!(waited.is_ok(), "Redis is never {status}");
    }
}

/// Asks everybody the same question, and returns the one answer that all got.
async fn same_answer(callers: &[Actor], property: &str, window: (&str, &str)) -> Value {
    let mut answers = answers(callers, property, window).await;
    let first = answers.remove(0);
    assert!(answers.iter().all(|answer| *answer == first), "replicas answer the same");
    first
}

/// Asks everybody the same question, and returns each answer with the time at which it was read.
async fn answers(callers: &[Actor], property: &str, (start, end): (&str, &str)) -> Vec<Value> {
    let path = format!("/api/properties/{property}/performance");
    let question = [("scope", "all"), ("startDate", start), ("endDate", end)];
    let told = |answer: Answer| {
        let mut answer = answer.expect(200).json;
        json!({ "data": answer["data"].take(), "cachedAt": answer["meta"]["cachedAt"].take() })
    };
    join_all(callers.iter().map(|caller| caller.ask(&path, &question))).await.into_iter().map(told).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_replica_reads_for_all() {
    let Some(replicas) = Replicas::start(|_| {}).await else { return };
    let owner = replicas.all[0].actor("owner").await;
    let property = owner.property("northmoor").await;
    let callers = replicas.callers(&owner, 51);
    same_answer(&callers[..1], &property, ("2026-06-01", "2026-06-28")).await;

    let before = replicas.upstream();
    same_answer(&callers[..1], &property, ("2026-07-01", "2026-07-28")).await;
    let alone = replicas.upstream() - before;
    for app in &replicas.all {
        app.simulator().controls().set_latency(Duration::from_millis(300));
    }
    let before = replicas.upstream();
    same_answer(&callers, &property, ("2026-08-01", "2026-08-28")).await;
    let together = replicas.upstream() - before;
    assert!(
        (alone..=alone + replicas.alone()).contains(&together),
        "51 callers of three replicas cost {together}, one {alone}"
    );
    same_answer(&callers, &property, ("2026-08-01", "2026-08-28")).await;
    assert_eq!(replicas.upstream() - before, together, "later ones cost nothing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_before_an_account_was_connected_again_is_out_of_reach_everywhere() {
    let Some(replicas) = Replicas::start(|_| {}).await else { return };
    let here = &replicas.all[0];
    let owner = here.actor("owner").await;
    let property = owner.property("northmoor").await;
    let callers = replicas.callers(&owner, 3);
    let window = ("2026-07-01", "2026-07-28");
    let before = same_answer(&callers, &property, window).await;
    for app in &replicas.all {
        app.hand.advance(TimeDelta::minutes(1));
    }
    Browser::signed_in(&here.service.base_url, "owner").await.connect("owner").await.account();
    let sent = replicas.upstream();
    let after = same_answer(&callers, &property, window).await;
    assert!(replicas.upstream() > sent, "it is read again");
    assert_eq!(before["data"], after["data"]);
    assert_ne!(before["cachedAt"], after["cachedAt"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paid_question_is_asked_once_for_all() {
    let Some(replicas) = Replicas::start(|_| {}).await else { return };
    let owner = replicas.all[0].actor("owner").await;
    connect_both(&owner).await;
    let path = format!("/api/properties/{}/keyword-research", owner.property("northmoor").await);
    let callers = replicas.callers(&owner, 9);
    for provider in ["a", "b"] {
        let paid = || replicas.all.iter().map(|app| paid_requests(app.simulator())).sum::<u64>();
        let (before, question) = (paid(), [("provider", provider), ("keywords", "rain jacket"), ("limit", "20")]);
        let answers = join_all(callers.iter().map(|caller| caller.ask(&path, &question))).await;
        let answers: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json).collect();
        assert!(answers.iter().all(|answer| answer["data"] == answers[0]["data"]));
        let charged = answers.iter().filter(|answer| answer["meta"]["cost"]["amount"].as_f64() > Some(0.0)).count();
        let asked = paid() - before;
        assert!((1..=1 + replicas.alone()).contains(&asked), "{provider} is asked {asked} times");
        assert_eq!(u64::try_from(charged).unwrap(), asked, "who caused a charge is told");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_tell_each_other_what_went_wrong_at_an_account() {
    let Some(replicas) = Replicas::start(impatient).await else { return };
    let owner = replicas.all[0].actor("owner").await;
    let property = owner.property("northmoor").await;
    let callers = replicas.callers(&owner, 3);
    let path = format!("/api/properties/{property}/performance");
    for app in &replicas.all {
        trouble(app, &["quota403:1"]);
    }
    let asked = callers[0].ask(&path, &[("startDate", "2026-07-01"), ("endDate", "2026-07-02")]).await;
    assert_eq!(asked.expect(503).header("retry-after"), "900");
    until_health_is(&callers, "quota_exceeded").await;
    for app in &replicas.all {
        trouble(app, &[]);
        app.hand.advance(TimeDelta::seconds(1));
    }
    callers[1].ask(&path, &[("startDate", "2026-07-03"), ("endDate", "2026-07-04")]).await.expect(200);
    until_health_is(&callers, "connected").await;
}

/// Waits until every replica says the same of the owner's account.
async fn until_health_is(callers: &[Actor], status: &str) {
    let all = async {
        for caller in callers {
            while health(caller).await.0 != status {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), all).await.is_ok(), "the account is never {status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_limits_the_rate_is_left_alone_by_all() {
    let Some(replicas) = Replicas::start(|_| {}).await else { return };
    let owner = replicas.all[0].actor("owner").await;
    connect_both(&owner).await;
    let path = format!("/api/properties/{}/keyword-research", owner.property("northmoor").await);
    let callers = replicas.callers(&owner, 3);
    let ask = async |caller: &Actor, keyword: &str| {
        let answer = caller.ask(&path, &[("provider", "a"), ("keywords", keyword), ("limit", "20")]).await;
        answer.status.as_u16()
    };
    trouble(&replicas.all[0], &["rate429:1"]);
    assert_eq!(ask(&callers[0], "tent").await, 503);
    let all = async {
        for (caller, app) in callers.iter().zip(&replicas.all).skip(1) {
            let mut keyword = 0;
            // Its own provider answers until it hears of the pause.
            while ask(caller, &format!("tent {keyword}")).await == 200 {
                keyword += 1;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let before = paid_requests(app.simulator());
            assert_eq!(ask(caller, "another tent").await, 503);
            assert_eq!(paid_requests(app.simulator()), before, "it is not asked");
        }
    };
    assert!(tokio::time::timeout(Duration::from_mins(1), all).await.is_ok(), "a replica never hears of the pause");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_count_a_caller_together() {
    let limit = |config: &mut Config| {
        config.rate_limit.enabled = true;
        config.rate_limit.per_minute = 1;
        config.rate_limit.burst = 30;
        config.rate_limit.max_in_flight = 90;
    };
    let Some(replicas) = Replicas::start(limit).await else { return };
    let start = Instant::now();
    let anonymous = replicas.all.iter().map(|app| Actor::anonymous(&format!("http://{}", app.service.address)));
    let anonymous: Vec<Actor> = anonymous.collect();
    let answers = join_all((0..90).map(|number| anonymous[number % 3].get(PUBLIC))).await;
    let allowed = answers.iter().filter(|answer| answer.status == StatusCode::OK).count();
    let more = usize::try_from(start.elapsed().as_secs() / 60 + replicas.alone()).unwrap();
    assert!((30..=30 + more).contains(&allowed), "{allowed} of 90 requests pass a burst of 30");
    assert!(answers.iter().all(|answer| [StatusCode::OK, StatusCode::TOO_MANY_REQUESTS].contains(&answer.status)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_answer_without_redis_and_share_again_when_it_is_back() {
    let Some(replicas) = Replicas::start(|_| {}).await else { return };
    let owner = replicas.all[0].actor("owner").await;
    let property = owner.property("northmoor").await;
    let callers = replicas.callers(&owner, 9);
    let shared = same_answer(&callers, &property, ("2026-07-01", "2026-07-28")).await;

    replicas.relay.stop();
    let path = format!("/api/properties/{property}/performance?scope=all&startDate=2026-08-01&endDate=2026-08-28");
    for answer in join_all(callers.iter().map(|caller| caller.get(&path))).await {
        answer.expect(200);
    }
    assert_eq!(same_answer(&callers, &property, ("2026-07-01", "2026-07-28")).await, shared, "each has it in memory");
    replicas.until_redis_is("unavailable").await;

    replicas.relay.resume();
    replicas.until_redis_is("ok").await;
    // The clocks of the replicas differ by now, so what each reads by itself has another time.
    let mut days = (1..=30).map(|day| format!("2026-09-{day:02}"));
    loop {
        let day = days.next().unwrap();
        let answers = answers(&callers, &property, ("2026-06-01", &day)).await;
        if answers.iter().all(|answer| *answer == answers[0]) {
            break;
        }
    }
}

/// Search data that replicas share is deleted with its person. No key names the person.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_replicas_share_of_a_person_goes_with_them() {
    let mut url = None;
    let app = TestApp::start(|config| url = share_redis(config));
    let (app, Some(url)) = (Box::pin(app).await, url) else { return };
    let owner = app.actor("owner").await;
    let account = owner.listed("/api/accounts/health").await[0]["id"].as_str().unwrap().to_owned();
    connect_both(&owner).await;
    let property = owner.property("northmoor").await;
    same_answer(std::slice::from_ref(&owner), &property, ("2026-07-01", "2026-07-28")).await;
    let paid = [("provider", "a"), ("keywords", "rain jacket"), ("limit", "20")];
    owner.ask(&format!("/api/properties/{property}/keyword-research"), &paid).await.expect(200);
    // Readings and answers of providers are put in the background.
    let keys = async |pattern: &str, wanted: &dyn Fn(usize) -> bool| {
        let all = async {
            loop {
                let found = redis::keys(&url, pattern);
                if wanted(found.len()) {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), all).await.unwrap_or_else(|_| panic!("keys like {pattern}"))
    };
    let prefix = app.service.shared.as_ref().unwrap().prefix();
    let (own, of_all) = (format!("{prefix}:r1:{account}:*"), format!("{prefix}:r1:*"));
    keys(&own, &|count| count > 2).await;
    keys(&format!("{prefix}:r1:p:*"), &|count| count == 1).await;
    for name in redis::keys(&url, &format!("{prefix}:*")) {
        let said = ["owner", "northmoor", "jacket", "demo.test"].into_iter().find(|said| name.contains(said));
        assert_eq!(said, None, "{name}");
    }
    owner.send(Method::POST, "/api/privacy/delete", None, &[]).await.expect(204);
    keys(&own, &|count| count == 0).await;
    keys(&of_all, &|count| count == 0).await;
}
