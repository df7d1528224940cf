//! Tests with a failing search engine. Nothing here waits in real time: the service's timeouts are shortened.

mod accepted_errors;
mod exports;
mod grants;
mod refused_sites;
mod trouble;

use std::time::Duration;

use search_engine::Patience;
use sightline::config::Config;
use simulator::Endpoint;

use crate::{
    analytics::performance::{Asker, SMALL},
    support::{actor::Answer, app::TestApp},
};

/// Settings under which a failing request is given up at once.
pub fn impatient(config: &mut Config) {
    config.search_engine.patience = Patience {
        attempt: Duration::from_secs(5),
        deadline: Duration::from_secs(5),
        first_backoff: Duration::from_millis(1),
        longest_backoff: Duration::from_millis(20),
    };
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
