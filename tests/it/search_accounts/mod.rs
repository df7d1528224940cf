//! Tests of connecting search accounts in a browser, and of what the API then answers.

mod attacks;
mod connecting;
mod ending;
pub mod exchanges;
mod refreshes;
mod shared_sites;
mod states;

use std::time::Duration;

use poem::http::Method;
use search_engine::Patience;
use sightline::config::Config;

use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
    browser::Browser,
};

/// Settings under which a failing request is given up at once.
pub fn impatient(config: &mut Config) {
    config.search_engine.patience = Patience {
        attempt: Duration::from_secs(5),
        deadline: Duration::from_secs(3),
        first_backoff: Duration::from_millis(1),
        longest_backoff: Duration::from_millis(20),
    };
}

async fn browser(app: &TestApp, name: &str) -> Browser {
    Browser::signed_in(&app.service.base_url, name).await
}

/// Produces faults of the simulated search engine from now on.
pub fn trouble(app: &TestApp, faults: &[&str]) {
    app.simulator().controls().set_faults(faults.iter().map(|fault| fault.parse().unwrap()).collect());
}

pub async fn sync(actor: &Actor) -> Answer {
    actor.send(Method::POST, "/api/properties/sync", None, &[]).await
}

/// The status of the person's first search account in the API.
pub async fn health(actor: &Actor) -> (String, String) {
    let health = actor.get("/api/accounts/health").await.expect(200).json;
    let of = |name: &str| health["data"][0][name].as_str().unwrap_or_default().to_owned();
    (of("status"), of("hint"))
}
