//! What happens when the search engine makes trouble. Nothing here waits for real: the service's patience is shortened.

mod exports;
mod grants;
mod refused_sites;
mod trouble;

use std::time::Duration;

use sightline::{config::Config, search_engine::Patience, simulator::Endpoint};

use crate::{
    analytics::performance::{Asker, SMALL},
    support::{actor::Answer, app::TestApp},
};

/// Settings with which a hopeless request is given up within a moment.
fn impatient(config: &mut Config) {
    config.search_engine.patience = Patience {
        attempt: Duration::from_secs(5),
        deadline: Duration::from_secs(3),
        first_backoff: Duration::from_millis(1),
        longest_backoff: Duration::from_millis(20),
    };
}

/// An app of the test's own, and the stranger with the small site.
async fn app() -> (TestApp, Asker) {
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    (app, asker)
}

/// Makes exactly this trouble from now on.
fn trouble(app: &TestApp, faults: &[&str]) {
    app.simulator().controls().set_faults(faults.iter().map(|fault| fault.parse().unwrap()).collect());
}

fn requests(app: &TestApp, endpoint: Endpoint) -> u64 {
    app.simulator().controls().requests(endpoint)
}

/// Fails the test unless the answer is 503 with a time to come back.
#[track_caller]
fn unavailable(answer: Answer) -> u64 {
    let answer = answer.expect(503);
    assert_eq!(answer.code(), "search_engine_unavailable");
    let seconds: u64 = answer.header("retry-after").parse().unwrap();
    assert!(seconds >= 1);
    seconds
}
