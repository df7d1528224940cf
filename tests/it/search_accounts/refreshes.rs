//! Tests of replicas at a search engine that replaces refresh tokens.

use chrono::TimeDelta;
use sightline::config::Config;
use simulator::Endpoint;

use crate::support::{actor::Actor, app::TestApp};

/// Lets a service use the simulated search engine at `root`.
fn use_engine(config: &mut Config, root: &str) {
    let at = |path: &str| Some(format!("{root}{path}").parse().unwrap());
    let engine = &mut config.search_engine;
    engine.api_url = at("");
    engine.authorize_url = at("/o/oauth2/v2/auth");
    engine.token_url = at("/token");
    engine.revoke_url = at("/revoke");
    engine.userinfo_url = at("/userinfo");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_never_present_a_refresh_token_that_was_replaced() {
    let first = TestApp::start(|_| {}).await;
    let root = first.simulator().url();
    let Some(second) = Box::pin(first.beside_with(12, |config| use_engine(config, &root))).await else { return };
    // It ends the grant of whoever presents a replaced one.
    first.simulator().controls().replace_grants();
    let property = first.actor("owner").await.property("northmoor").await;
    let path = format!("/api/properties/{property}/performance");
    let before = first.simulator().controls().requests(Endpoint::Token);
    for day in 1..=8 {
        for app in [&first, &second] {
            app.hand.advance(TimeDelta::hours(1));
        }
        let here = first.actor("owner").await;
        let there = Actor::with_token(&format!("http://{}", second.service.address), here.token());
        let date = format!("2026-08-{day:02}");
        let question = [("startDate", date.as_str()), ("endDate", date.as_str())];
        let (one, other) = tokio::join!(here.ask(&path, &question), there.ask(&path, &question));
        assert_eq!(one.expect(200).json["data"], other.expect(200).json["data"]);
    }
    let refreshes = first.simulator().controls().requests(Endpoint::Token) - before;
    assert_eq!(refreshes, 2 * 8, "each replica has an access token for an hour");
}
