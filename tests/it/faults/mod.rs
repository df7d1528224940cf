//! Tests with a failing search engine. Nothing here waits in real time: the service's timeouts are shortened.

mod accepted_errors;
mod exports;
mod grants;
mod refused_sites;
mod trouble;

use std::time::Duration;

use chrono::TimeDelta;
use sightline::config::Config;
use simulator::Endpoint;

use crate::{
    analytics::performance::{Asker, SMALL},
    support::{actor::Answer, app::TestApp},
};

/// Settings under which a request that fails is not made again: the wait before that would be longer than the deadline.
pub fn impatient(config: &mut Config) {
    config.search_engine.patience.first_backoff = Duration::from_mins(2);
}

/// Settings under which a request that fails is made again at once, until the deadline.
fn persistent(config: &mut Config) {
    config.search_engine.patience.first_backoff = Duration::from_millis(1);
    config.search_engine.patience.longest_backoff = Duration::from_millis(20);
}

/// A separate app, and the stranger with the small site.
async fn app() -> (TestApp, Asker) {
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    (app, asker)
}

/// Replaces the injected faults.
pub fn trouble(app: &TestApp, faults: &[&str]) {
    app.simulator().controls().set_faults(faults.iter().map(|fault| fault.parse().unwrap()).collect());
}

/// Lets the time pass in which a search engine that has failed is not asked.
fn wait_for_probe(app: &TestApp) {
    app.hand.advance(TimeDelta::seconds(30));
}

fn requests(app: &TestApp, endpoint: Endpoint) -> u64 {
    app.simulator().controls().requests(endpoint)
}

/// Asserts a 503 with `Retry-After`, and returns its seconds.
#[track_caller]
fn unavailable(answer: Answer) -> u64 {
    let answer = answer.expect(503);
    assert_eq!(answer.code(), "search_engine_unavailable");
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert!(seconds >= 1);
    seconds
}
