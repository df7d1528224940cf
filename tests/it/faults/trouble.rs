//! Tests of transient and permanent errors.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;
use simulator::Endpoint;

use super::{app, impatient, persistent, requests, trouble, unavailable};
use crate::{
    analytics::performance::{Asker, SMALL},
    support::app::TestApp,
};

/// Days of October, each with several questions.
fn questions() -> Vec<Vec<(&'static str, String)>> {
    let filters = r#"[{"dimension":"query","operator":"not_contains","value":"plant"},
        {"dimension":"device","operator":"equals","value":"mobile","logic":"or"}]"#;
    (1..=18)
        .flat_map(|day| {
            let window =
                vec![("startDate", format!("2026-10-{day:02}")), ("endDate", format!("2026-10-{:02}", day + 2))];
            let all = [window.clone(), vec![("scope", "all".to_owned())]].concat();
            let filtered = [window, vec![("filters", filters.to_owned())]].concat();
            [all, filtered]
        })
        .collect()
}

async fn ask(asker: &Asker, question: &[(&'static str, String)]) -> crate::support::actor::Answer {
    let query: Vec<(&str, &str)> = question.iter().map(|(name, value)| (*name, value.as_str())).collect();
    asker.ask(&query).await
}

#[tokio::test]
async fn every_request_succeeds_or_states_retry_after() {
    let app = TestApp::start(|config| {
        persistent(config);
        config.search_engine.patience.deadline = Duration::from_secs(10);
    });
    let app = app.await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    trouble(&app, &["error500:0.2", "rate429:0.2", "error200:0.1", "truncated:0.05"]);
    let before = requests(&app, Endpoint::Query);
    let mut succeeded = 0;
    for question in questions() {
        let answer = ask(&asker, &question).await;
        if answer.status == 200 {
            succeeded += 1;
        } else {
            unavailable(answer);
        }
    }
    let made = requests(&app, Endpoint::Query) - before;
    assert!(succeeded > 30, "{succeeded} of 36");
    let after = {
        trouble(&app, &[]);
        let healthy = TestApp::start(|_| {}).await;
        let healthy_asker = Asker::of(&healthy, "stranger", SMALL).await;
        let start = requests(&healthy, Endpoint::Query);
        for question in questions() {
            let (found, expected) = (ask(&asker, &question).await, ask(&healthy_asker, &question).await);
            assert!(found.expect(200).bytes == expected.expect(200).bytes, "{question:?}");
        }
        requests(&healthy, Endpoint::Query) - start
    };
    assert!(made > after + after / 5, "{made} requests under trouble, {after} without: some were made again");
}

#[tokio::test]
async fn a_search_engine_that_is_down_is_503_and_not_remembered() {
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let faults = ["error500:1", "rate429:1", "truncated:1", "error200:1"];
    for (fault, last) in faults.into_iter().zip(["2026-08-02", "2026-08-03", "2026-08-04", "2026-08-05"]) {
        trouble(&app, &[fault]);
        let window = [("startDate", "2026-08-01"), ("endDate", last)];
        unavailable(asker.ask(&window).await);
        trouble(&app, &[]);
        asker.ask(&window).await.expect(200);
    }
}

#[tokio::test]
async fn a_slow_answer_is_given_up() {
    let app = TestApp::start(|config| {
        persistent(config);
        config.search_engine.patience.attempt = Duration::from_secs(1);
        config.search_engine.patience.deadline = Duration::from_secs(5);
    });
    let app = app.await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    trouble(&app, &["slow:1"]);
    let before = requests(&app, Endpoint::Query);
    unavailable(asker.ask(&[("startDate", "2026-08-01"), ("endDate", "2026-08-01")]).await);
    assert!(requests(&app, Endpoint::Query) > before + 2, "more than one try");
    trouble(&app, &[]);
    asker.ask(&[("startDate", "2026-08-01"), ("endDate", "2026-08-01")]).await.expect(200);
}

#[tokio::test]
async fn a_used_up_quota_is_handed_on_at_once_with_its_time() {
    let (app, asker) = app().await;
    trouble(&app, &["quota403:1"]);
    let before = requests(&app, Endpoint::Query);
    assert!(unavailable(asker.ask(&[("startDate", "2026-08-01"), ("endDate", "2026-08-01")]).await) >= 15 * 60);
    assert!(requests(&app, Endpoint::Query) <= before + 3, "trying again would not help");
    let list = asker.actor.get("/api/properties").await.expect(200).json;
    assert_eq!(list["data"][0]["access"], "ok", "what was read before is still there");
    trouble(&app, &[]);
    asker.ask(&[("startDate", "2026-08-01"), ("endDate", "2026-08-01")]).await.expect(200);
}

#[tokio::test]
async fn one_propertys_trouble_does_not_fail_the_list() {
    let app = TestApp::start(impatient).await;
    let owner = app.actor("owner").await;
    trouble(&app, &["error500:1"]);
    let list = owner.get("/api/properties").await.expect(200).json;
    let states: Vec<&Value> = list["data"].as_array().unwrap().iter().map(|entry| &entry["access"]).collect();
    assert_eq!(states, ["search_engine_unavailable"; 4]);
    trouble(&app, &[]);
    let list = owner.get("/api/properties").await.expect(200).json;
    assert!(list["data"].as_array().unwrap().iter().all(|entry| entry["access"] == "ok"));
}

#[tokio::test]
async fn identical_questions_at_once_are_asked_upstream_once() {
    let query = [("startDate", "2026-08-01"), ("endDate", "2026-08-05"), ("scope", "all")];
    let (alone, asker) = app().await;
    let before = requests(&alone, Endpoint::Query);
    let expected = asker.ask(&query).await.expect(200).bytes;
    let once = requests(&alone, Endpoint::Query) - before;

    let (crowded, asker) = app().await;
    let before = requests(&crowded, Endpoint::Query);
    let answers = join_all((0..8).map(|_| asker.ask(&query))).await;
    assert!(answers.into_iter().all(|answer| answer.expect(200).bytes == expected));
    assert_eq!(requests(&crowded, Endpoint::Query) - before, once);
    asker.ask(&query).await.expect(200);
    assert_eq!(requests(&crowded, Endpoint::Query) - before, once, "and afterwards not at all");
}
