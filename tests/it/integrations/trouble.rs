//! A provider in trouble: the person reads what happened, and everything else answers as before.

use std::time::Duration;

use serde_json::{Value, json};
use simulator::Simulator;

use super::{A, B, beside_providers, connect_both};
use crate::{
    coverage::documented,
    support::{actor::Actor, app::TestApp},
};

/// The operations that ask a provider.
const ASKING: [&str; 2] = ["getPropertyKeywordResearch", "getPropertyBacklinks"];

/// The bodies of all reads that ask no provider.
async fn everything_else(owner: &Actor, property: &str) -> Vec<(String, u16, Value)> {
    let mut answers = Vec::new();
    for operation in
        documented().iter().filter(|operation| operation.method == "GET" && !ASKING.contains(&operation.id()))
    {
        let answer = owner.get(&(operation.at(property) + &operation.query())).await;
        // These name the moment of their own checks, or the state of providers.
        let told = ["getHealth", "listSearchAccountHealth", "exportPersonalData"].contains(&operation.id());
        let states = operation.path.starts_with("/api/integrations");
        let mut json =
            if told || states || answer.status.is_server_error() { Value::Null } else { answer.json.clone() };
        if let Some(object) = json.as_object_mut() {
            object.remove("correlationId");
        }
        answers.push((operation.id().to_owned(), answer.status.as_u16(), json));
    }
    answers
}

async fn ask(owner: &Actor, property: &str, provider: &str) -> [(u16, String, String, String); 2] {
    let mut found = Vec::new();
    for part in ["keyword-research?keywords=tent&limit=3", "backlinks?limit=3"] {
        let answer = owner.get(&format!("/api/properties/{property}/{part}&provider={provider}")).await;
        let wait = answer.header("retry-after").to_owned();
        found.push((answer.status.as_u16(), answer.code().to_owned(), answer.hint().to_owned(), wait));
    }
    found.try_into().unwrap()
}

fn state(providers: &Simulator, faults: &[&str]) {
    providers.controls().set_faults(faults.iter().map(|fault| fault.parse().unwrap()).collect());
}

#[tokio::test]
async fn with_a_provider_in_trouble_everything_else_answers_as_before() {
    let (app, providers) = beside_providers().await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    connect_both(&owner).await;
    let before = everything_else(&owner, &property).await;
    assert!(before.iter().filter(|(_, status, _)| *status == 200).count() > 20);
    let cases = [
        ("error500:1", 503, "provider_unavailable", "does not answer"),
        ("truncated:1", 503, "provider_unavailable", "does not answer"),
        ("error200:1", 503, "provider_unavailable", "does not answer"),
        ("quota403:1", 409, "provider_out_of_credit", "Top up"),
        ("permission403:1", 409, "provider_rejected_credentials", "plan"),
        ("rate429:1", 503, "provider_unavailable", "limits the rate"),
    ];
    for (fault, status, code, reason) in cases {
        state(&providers, &[fault]);
        for provider in ["a", "b"] {
            for (found, found_code, hint, wait) in ask(&owner, &property, provider).await {
                assert_eq!((found, found_code.as_str()), (status, code), "{fault} {provider}: {hint}");
                assert!(hint.contains(reason), "{fault} {provider}: {hint}");
                assert_eq!(!wait.is_empty(), status == 503, "{fault} {provider}");
            }
        }
        assert_eq!(everything_else(&owner, &property).await, before, "{fault}");
    }
    // The state of the credentials was noted, and comes back with the first answer.
    assert_eq!(owner.get(A).await.json["data"]["state"], "rate_limited");
    state(&providers, &[]);
    app.hand.advance(chrono::TimeDelta::minutes(2));
    for path in [A, B] {
        let provider = &path[path.len() - 1..];
        assert!(ask(&owner, &property, provider).await.iter().all(|(status, ..)| *status == 200));
        assert_eq!(owner.get(path).await.json["data"]["state"], "ok");
    }
}

#[tokio::test]
async fn a_slow_provider_holds_nobody_up_and_its_answer_is_kept() {
    let app = TestApp::start(|config| config.seo.patience.wait = Duration::ZERO).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    connect_both(&owner).await;
    let before = everything_else(&owner, &property).await;
    app.simulator().controls().hold("seed_keyword");
    let path = format!("/api/properties/{property}/keyword-research?keywords=tent&provider=a");
    let refused = owner.get(&path).await.expect(503);
    assert_eq!((refused.code(), refused.header("retry-after")), ("provider_unavailable", "5"));
    app.simulator().controls().wait_until_held(1).await;
    assert_eq!(everything_else(&owner, &property).await, before);
    app.simulator().controls().release();
    let kept = loop {
        let answer = owner.get(&path).await;
        if answer.status.as_u16() == 200 {
            break answer.json;
        }
    };
    assert_eq!(kept["meta"]["cost"], json!({ "amount": 0.0, "unit": "usd" }), "it was paid for by the first request");
    let asked =
        app.simulator().controls().requests(simulator::Endpoint::ProviderA(simulator::ProviderA::KeywordSuggestions));
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn an_unavailable_provider_affects_only_itself() {
    let app = TestApp::start(|config| {
        config.seo.provider_a.url = "http://127.0.0.1:1".parse().ok();
        config.seo.patience.backoff = Duration::ZERO;
    })
    .await;
    let owner = app.actor("owner").await;
    let refused = owner.put(A, &json!({ "login": "good@demo.test", "password": "demo" })).await.expect(503);
    assert_eq!((refused.code(), refused.header("retry-after")), ("provider_unavailable", "5"));
    assert_eq!(owner.get(A).await.expect(200).json["data"]["connected"], false);
    owner.put(B, &json!({ "apiKey": "good-key" })).await.expect(200);
    let property = owner.property("northmoor").await;
    owner.get(&format!("/api/properties/{property}/backlinks?limit=3")).await.expect(200);
}
