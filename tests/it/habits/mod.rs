//! Tests of a search engine with odd habits, and of proxies between it and the service. People read right numbers, or that the search engine does
//! not answer (docs/design/search-engine.md).

mod breaker;
mod server;
mod table;

use std::time::Duration;

use chrono::TimeDelta;
use common::clock::Clock;
use serde_json::{Value, json};
use sightline::config::{Config, Seconds};

use self::{
    server::{Habit, Said, Server, http},
    table::{Meaning, OF_MESSAGES, OF_ROWS, OF_SITES, Row, THAT_STOP},
};
use crate::{
    analytics::performance::SMALL,
    faults::impatient,
    search_accounts::{exchanges::callback, sync},
    support::{
        actor::{Actor, Answer},
        app::{TestApp, searches_at, start_of_test},
        browser::Browser,
    },
};

const QUERY: &str = "/searchAnalytics/query";
const SITES: &str = "/webmasters/v3/sites";
const TOKEN: &str = "/token";
const ALWAYS: usize = usize::MAX;

/// A service whose search engine has habits, and a person with one property. Readings are kept for a second.
struct Bench {
    server: Server,
    app: TestApp,
    person: Actor,
    property: String,
}

impl Bench {
    async fn start(change: impl FnOnce(&mut Config)) -> Self {
        let server = Server::start(Clock::manual(start_of_test()).0).await;
        let app = TestApp::start(|config| {
            searches_at(&server.root, config);
            config.cache.ttl = Seconds(1);
            change(config);
        });
        let app = app.await;
        let browser = Browser::signed_in(&app.service.base_url, "viewer").await;
        let consent = browser.leave(&[]).await;
        browser.get(&callback(&consent, "code=4/0A")).await.account();
        let person = app.actor("viewer").await;
        let synced = sync(&person).await.expect(200).json["data"]["properties"].clone();
        let property = synced.as_array().unwrap().iter().find(|property| property["siteUrl"] == SMALL).unwrap();
        let property = property["id"].as_str().unwrap().to_owned();
        person.put("/api/properties/tracking", &json!({ "propertyIds": [property] })).await.expect(200);
        Self { server, app, person, property }
    }

    async fn performance(&self, more: &[(&str, &str)]) -> Answer {
        let window = [("startDate", "2026-10-04"), ("endDate", "2026-10-11")];
        let query = [&window, more].concat();
        self.person.ask(&format!("/api/properties/{}/performance", self.property), &query).await
    }

    /// The property in the list of properties, once it has been read.
    async fn listed(&self) -> Value {
        loop {
            let listed = self.person.listed("/api/properties").await;
            let property = listed.into_iter().find(|property| property["siteUrl"] == SMALL).unwrap();
            if property["access"] != "still_reading" {
                return timeless(property);
            }
        }
    }

    /// Lets everything that is kept expire, and takes to a habit.
    fn takes_to(&self, path: &'static str, habit: Habit, times: usize) {
        self.app.hand.advance(TimeDelta::seconds(2));
        self.server.takes_to(path, habit, times);
    }

    /// Ends the habit, and waits until the search engine is asked again. Returns the number of answers that the habit changed.
    fn is_well(&self) -> usize {
        self.app.hand.advance(TimeDelta::seconds(30));
        self.server.is_well()
    }

    /// The answers without a habit.
    async fn truth(&self) -> [Value; 3] {
        self.app.hand.advance(TimeDelta::seconds(2));
        let all = self.performance(&[("scope", "all")]).await.expect(200);
        [data(&self.performance(&[]).await.expect(200)), data(&all), self.listed().await["headline"].clone()]
    }
}

/// The property without the time at which its headline was read.
fn timeless(mut property: Value) -> Value {
    if let Some(headline) = property["headline"].as_object_mut() {
        headline.remove("cachedAt");
    }
    property
}

fn data(answer: &Answer) -> Value {
    answer.json["data"].clone()
}

/// Asserts what is read from an answer of a search engine with a habit.
#[track_caller]
fn assert_means(name: &str, meaning: Meaning, answer: &Answer, truth: &Value) {
    let is_away = answer.status == 503;
    match meaning {
        Meaning::Right => assert_eq!((answer.status.as_u16(), &data(answer)), (200, truth), "{name}"),
        Meaning::None => assert!(is_away, "{name}: {} {}", answer.status, answer.json),
        Meaning::RightOrNone => assert!(is_away || data(answer) == *truth, "{name}: {}", answer.json),
        Meaning::NoRows => assert_eq!(answer.json["data"]["totals"]["impressions"], 0, "{name}: {}", answer.json),
    }
    if is_away {
        let said = (answer.code(), &answer.json["error"]);
        assert_eq!(said, ("search_engine_unavailable", &json!("An unexpected error occurred.")), "{name}");
        assert!(!answer.header("retry-after").is_empty(), "{name}: {}", answer.json);
    }
}

fn all<'r>(tables: &[&'r [Row]]) -> Vec<&'r Row> {
    tables.iter().flat_map(|table| table.iter()).collect()
}

#[tokio::test]
async fn an_odd_answer_is_read_rightly_or_not_at_all_and_is_never_kept() {
    let bench = Bench::start(impatient).await;
    let truth = bench.truth().await;
    assert!(truth[0]["totals"]["clicks"].as_u64() > Some(0) && truth[2]["current"].is_object(), "{truth:?}");
    for (name, meaning, habit) in all(&[OF_MESSAGES, OF_ROWS]) {
        bench.takes_to(QUERY, *habit, ALWAYS);
        let found = bench.performance(&[]).await;
        assert_means(name, *meaning, &found, &truth[0]);
        let found = bench.performance(&[("scope", "all")]).await;
        assert!([200, 503].contains(&found.status.as_u16()), "{name}: {}", found.json);
        assert!(
            found.status == 503 || *meaning == Meaning::NoRows || data(&found) == truth[1],
            "{name}: {}",
            found.json
        );
        let entry = bench.listed().await;
        if entry["access"] == "ok" {
            assert!(*meaning == Meaning::NoRows || entry["headline"] == truth[2], "{name}: {entry}");
        } else {
            assert_eq!(
                (&entry["access"], entry["headline"].is_null()),
                (&json!("search_engine_unavailable"), true),
                "{name}"
            );
        }
        assert!(bench.is_well() > 0, "{name}: nobody asked");
        assert_means(name, Meaning::Right, &bench.performance(&[]).await, &truth[0]);
        assert_means(name, Meaning::Right, &bench.performance(&[("scope", "all")]).await, &truth[1]);
        assert_eq!(bench.listed().await["headline"], truth[2], "{name}");
    }
}

#[tokio::test]
async fn an_odd_answer_that_comes_once_is_asked_for_again() {
    let bench = Bench::start(|config| {
        config.search_engine.patience.attempt = Duration::from_secs(1);
        config.search_engine.patience.deadline = Duration::from_mins(1);
        config.search_engine.patience.first_backoff = Duration::from_millis(1);
    });
    let bench = bench.await;
    let truth = bench.truth().await;
    for (name, meaning, habit) in all(&[OF_MESSAGES, THAT_STOP, OF_ROWS]) {
        if *meaning == Meaning::None {
            bench.takes_to(QUERY, *habit, 1);
            assert_means(name, Meaning::Right, &bench.performance(&[]).await, &truth[0]);
            assert_eq!(bench.server.is_well(), 1, "{name}");
        }
    }
}

#[tokio::test]
async fn an_odd_list_of_sites_is_read_rightly_or_not_at_all_and_loses_no_property() {
    let bench = Bench::start(impatient).await;
    let truth = data(&sync(&bench.person).await.expect(200));
    for (name, meaning, habit) in all(&[OF_MESSAGES, OF_SITES]) {
        bench.takes_to(SITES, *habit, ALWAYS);
        assert_means(name, *meaning, &sync(&bench.person).await, &truth);
        assert!(bench.is_well() > 0, "{name}: nobody asked");
        assert_means(name, Meaning::Right, &sync(&bench.person).await, &truth);
    }
}

#[tokio::test]
async fn an_odd_answer_of_the_token_endpoint_ends_no_grant() {
    let mut bench = Bench::start(impatient).await;
    let truth = bench.truth().await;
    for (name, meaning, habit) in OF_MESSAGES {
        // The access tokens of the search engine and of the person have expired.
        bench.app.hand.advance(TimeDelta::hours(2));
        bench.person = bench.app.actor("viewer").await;
        bench.takes_to(TOKEN, *habit, ALWAYS);
        assert_means(name, *meaning, &bench.performance(&[]).await, &truth[0]);
        assert!(bench.is_well() > 0, "{name}: nobody asked");
        assert_means(name, Meaning::Right, &bench.performance(&[]).await, &truth[0]);
    }
}

#[tokio::test]
async fn the_time_to_wait_is_read_in_all_its_forms_and_is_an_hour_at_most() {
    /// A refusal with this `Retry-After`.
    macro_rules! refusal {
        ($said:literal) => {
            |_| Said::Whole(http("503 Service Unavailable", concat!("retry-after: ", $said, "\r\n"), "<html>"))
        };
    }
    let bench = Bench::start(impatient).await;
    // Without a readable time, it is the one that this service would wait: one to two minutes here.
    let own = 60..=120;
    let rows: &[(&str, Habit, _)] = &[
        ("seconds", refusal!("900"), 900..=900),
        ("many seconds", refusal!("1000000000000"), 3_600..=3_600),
        ("more seconds than a number holds", refusal!("100000000000000000000000000"), 3_600..=3_600),
        ("no seconds", refusal!("0"), own.clone()),
        ("seconds below zero", refusal!("-900"), own.clone()),
        ("a fraction", refusal!("900.5"), own.clone()),
        ("a word", refusal!("soon"), own.clone()),
        ("nothing", refusal!(""), own.clone()),
        ("a time", refusal!("Sat, 21 Nov 2026 12:15:00 GMT"), 600..=900),
        ("a time of next year", refusal!("Sun, 21 Nov 2027 12:15:00 GMT"), 3_600..=3_600),
        ("a time that has passed", refusal!("Sat, 21 Nov 2026 11:15:00 GMT"), own),
    ];
    for (name, habit, expected) in rows {
        bench.performance(&[]).await.expect(200);
        bench.takes_to(QUERY, *habit, ALWAYS);
        let answer = bench.performance(&[]).await;
        bench.is_well();
        assert_means(name, Meaning::None, &answer, &Value::Null);
        let seconds: u64 = answer.header("retry-after").parse().unwrap();
        assert!(expected.contains(&seconds), "{name}: {seconds}");
    }
}
