//! Tests of a search engine that does not recover: many people wait for it shortly, and it is asked rarely.

use std::time::Duration;

use chrono::TimeDelta;
use futures_util::future::join_all;

use super::{
    ALWAYS, Bench, Meaning, QUERY, assert_means, data,
    server::{Habit, Said, http, ok},
};
use crate::support::actor::Answer;

/// The habits of a search engine, or of a proxy before it, that is out of order.
const OUT_OF_ORDER: &[(&str, Habit)] = &[
    ("a page with a good status", |_| Said::Whole(http("200 OK", "content-type: text/html\r\n", "<html>"))),
    ("a bad gateway", |_| Said::Whole(http("502 Bad Gateway", "content-type: text/html\r\n", "<html>"))),
    ("half of the body", |body| ok(&body[..body.len() / 2])),
    ("no body", |_| ok("")),
    ("an end before the announced length", |body| {
        Said::Last(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len() + 10).into_bytes())
    }),
    ("the first bytes, and nothing after them", |_| {
        Said::Stuck(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_vec())
    }),
];

const PEOPLE: u32 = 40;

/// The answers to as many people, each with another question of several upstream requests.
async fn asked_by_all(bench: &Bench, first: u32) -> Vec<Answer> {
    let question = |number: u32| async move {
        let filters = format!(r#"[{{"dimension":"query","operator":"contains","value":"{number}"}}]"#);
        bench.performance(&[("filters", &filters)]).await
    };
    join_all((first..first + PEOPLE).map(question)).await
}

#[tokio::test]
async fn forty_people_cost_a_search_engine_that_is_out_of_order_forty_requests_at_most() {
    let bench = Bench::start(|config| {
        config.search_engine.patience.attempt = Duration::from_secs(3);
        config.search_engine.patience.deadline = Duration::from_mins(10);
        config.search_engine.patience.first_backoff = Duration::from_millis(1);
        config.search_engine.patience.longest_backoff = Duration::from_millis(20);
    });
    let bench = bench.await;
    let truth = bench.truth().await;
    for (name, habit) in OUT_OF_ORDER {
        bench.takes_to(QUERY, *habit, ALWAYS);
        let mut answers = asked_by_all(&bench, 0).await;
        answers.extend(asked_by_all(&bench, PEOPLE).await);
        // One of them is a probe.
        bench.app.hand.advance(TimeDelta::seconds(30));
        answers.extend(asked_by_all(&bench, 2 * PEOPLE).await);
        for answer in &answers {
            assert_means(name, Meaning::None, answer, &truth[0]);
            let seconds: u64 = answer.header("retry-after").parse().unwrap();
            assert!((1..=30).contains(&seconds), "{name}: {seconds}");
        }

        let failed = bench.is_well();
        assert!((13..=40).contains(&failed), "{name}: {failed} upstream requests");
        let answers = asked_by_all(&bench, 3 * PEOPLE).await;
        assert!(answers.iter().all(|answer| answer.status == 200), "{name}: all wait for the probe");
        assert_eq!(data(&bench.performance(&[]).await.expect(200)), truth[0], "{name}");
    }
}
