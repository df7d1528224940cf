//! Tests of SEO providers: connections, keyword research and backlinks.

mod backlinks;
mod connecting;
mod research;
mod secrets;
mod trouble;

use common::clock::Clock;
use serde_json::{Value, json};
use simulator::{Endpoint, ProviderA, ProviderB, Settings, Simulator};

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, start_of_test},
};

const A: &str = "/api/integrations/provider-a";
const B: &str = "/api/integrations/provider-b";

/// Stores a login of provider A.
async fn login(actor: &Actor, name: &str) -> Answer {
    actor.put(A, &json!({ "login": name, "password": "demo" })).await
}

/// Stores a key of provider B.
async fn key(actor: &Actor, key: &str) -> Answer {
    actor.put(B, &json!({ "apiKey": key })).await
}

/// Connects both providers with the accounts that work.
pub async fn connect_both(actor: &Actor) {
    login(actor, "good@demo.test").await.expect(200);
    key(actor, "good-key").await.expect(200);
}

/// A service and providers on a server of their own, so that their trouble is not the search engine's.
async fn beside_providers() -> (TestApp, Simulator) {
    let providers = simulator::start(Settings::default(), Clock::manual(start_of_test()).0).await.unwrap();
    let url = providers.url();
    let app = TestApp::start(|config| {
        config.seo.provider_a.url = format!("{url}/provider-a").parse().ok();
        config.seo.provider_b.url = format!("{url}/provider-b").parse().ok();
        config.seo.patience.backoff = std::time::Duration::from_millis(1);
    })
    .await;
    (app, providers)
}

/// The requests to all endpoints of both providers that cost money.
pub fn paid_requests(providers: &Simulator) -> u64 {
    let a = ProviderA::ALL.into_iter().filter(|call| *call != ProviderA::UserData).map(Endpoint::ProviderA);
    let b = ProviderB::ALL.into_iter().filter(|call| *call != ProviderB::LimitsAndUsage).map(Endpoint::ProviderB);
    a.chain(b).map(|endpoint| providers.controls().requests(endpoint)).sum()
}

/// A number with six digits after the point, as a whole number of millionths.
fn millionths(number: &Value) -> i64 {
    let text = format!("{:.6}", number.as_f64().unwrap());
    text.replace('.', "").parse().unwrap()
}
