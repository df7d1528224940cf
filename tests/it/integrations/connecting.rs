//! Connecting, testing and disconnecting.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::json;
use simulator::{Endpoint, ProviderA, ProviderB};

use super::{A, B, beside_providers, connect_both, key, login, paid_requests};
use crate::support::{actor::Actor, app::TestApp};

#[tokio::test]
async fn a_person_connects_tests_and_disconnects_a_provider() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let cases = [
        (
            "a",
            A,
            json!({ "login": "good@demo.test", "password": "demo" }),
            "good@demo.test",
            json!({ "amount": 50.0, "unit": "usd" }),
        ),
        ("b", B, json!({ "apiKey": "good-key" }), "…-key", json!({ "amount": 1_000_000.0, "unit": "units" })),
    ];
    for (provider, path, credentials, account, balance) in cases {
        let nothing = json!({ "data": { "provider": provider, "connected": false } });
        assert_eq!(owner.get(path).await.expect(200).json, nothing);
        let refused = owner.send(Method::POST, &format!("{path}/test"), None, &[]).await.expect(409);
        assert_eq!(refused.code(), "provider_not_connected");
        assert!(refused.hint().contains("PUT /api/integrations/"), "{}", refused.hint());

        let stored = owner.put(path, &credentials).await.expect(200).json;
        assert_eq!((&stored["data"]["account"], &stored["data"]["state"]), (&json!(account), &json!("ok")));
        assert_eq!(stored["data"]["balance"], balance);
        assert_eq!(owner.get(path).await.expect(200).json, stored);
        app.hand.advance(TimeDelta::minutes(5));
        let tested = owner.send(Method::POST, &format!("{path}/test"), None, &[]).await.expect(200).json;
        assert_eq!(tested["data"]["since"], stored["data"]["since"], "the state is the same");
        assert_ne!(tested["data"]["checkedAt"], stored["data"]["checkedAt"]);

        app.hand.advance(TimeDelta::minutes(5));
        let again = owner.put(path, &credentials).await.expect(200).json;
        assert_eq!(again["data"]["createdAt"], stored["data"]["createdAt"]);
        assert_ne!(again["data"]["updatedAt"], stored["data"]["updatedAt"]);
        for _ in 0..2 {
            owner.delete(path).await.expect(204);
            assert_eq!(owner.get(path).await.expect(200).json, nothing);
        }
    }
}

#[tokio::test]
async fn failing_credentials_are_refused_with_the_reason() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let a = |name: &str, password: &str| json!({ "login": name, "password": password });
    let b = |key: &str| json!({ "apiKey": key });
    let cases = [
        (A, a("good@demo.test", "wrong"), 409, "provider_rejected_credentials", "does not know these credentials"),
        (A, a("unverified@demo.test", "demo"), 409, "provider_rejected_credentials", "not verified"),
        (A, a("broke@demo.test", "demo"), 409, "provider_out_of_credit", "No credit is left"),
        (A, a("limited@demo.test", "demo"), 503, "provider_unavailable", "limits the rate"),
        (B, b("wrong-key"), 409, "provider_rejected_credentials", "does not know these credentials"),
        (B, b("noplan-key"), 409, "provider_rejected_credentials", "plan"),
        (B, b("broke-key"), 409, "provider_out_of_credit", "No credit is left"),
        (B, b("limited-key"), 503, "provider_unavailable", "limits the rate"),
    ];
    for round in ["without credentials", "with credentials"] {
        for (path, credentials, status, code, reason) in &cases {
            let before = owner.get(path).await.expect(200).json;
            let refused = owner.put(path, credentials).await.expect(*status);
            assert_eq!(refused.code(), *code, "{round} {credentials}");
            assert!(refused.hint().contains(reason), "{}", refused.hint());
            let wait = ["", "60", "30"][usize::from(*status == 503) * (1 + usize::from(*path == B))];
            assert_eq!(refused.header("retry-after"), wait);
            assert_eq!(owner.get(path).await.expect(200).json, before, "{round}");
        }
        connect_both(&owner).await;
    }
    assert_eq!(paid_requests(app.simulator()), 0, "tests are free of charge");
}

#[tokio::test]
async fn a_test_shows_the_state_and_since_when() {
    let (app, providers) = beside_providers().await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let since = owner.get(A).await.json["data"]["since"].clone();
    for (fault, a, b) in [("error500:1", "unreachable", "unreachable"), ("rate429:1", "rate_limited", "rate_limited")] {
        app.hand.advance(TimeDelta::minutes(10));
        providers.controls().set_faults(vec![fault.parse().unwrap()]);
        for (path, state) in [(A, a), (B, b)] {
            let tested = owner.send(Method::POST, &format!("{path}/test"), None, &[]).await.expect(200).json;
            assert_eq!((&tested["data"]["state"], &tested["data"]["connected"]), (&json!(state), &json!(true)));
            assert!(tested["data"]["hint"].as_str().unwrap().contains("Try again"), "{tested}");
            assert_ne!(tested["data"]["since"], since);
            assert!(tested["data"]["balance"]["amount"].as_f64().unwrap() > 0.0, "the last known one");
            assert_eq!(owner.get(path).await.expect(200).json, tested);
        }
    }
    providers.controls().set_faults(Vec::new());
    let tested = owner.send(Method::POST, &format!("{A}/test"), None, &[]).await.expect(200).json;
    assert_eq!((&tested["data"]["state"], tested["data"].get("hint")), (&json!("ok"), None));
}

#[tokio::test]
async fn the_status_names_everything_outside_and_asks_nobody() {
    let (app, providers) = beside_providers().await;
    let owner = app.actor("owner").await;
    login(&owner, "good@demo.test").await.expect(200);
    providers.controls().reset();
    app.simulator().controls().set_faults(vec!["error500:1".parse().unwrap()]);
    let status = owner.get("/api/integrations/status").await.expect(200).json["data"].clone();
    assert_eq!(status["providerA"], owner.get(A).await.json["data"]);
    assert_eq!(status["providerB"], json!({ "provider": "b", "connected": false }));
    let account = &status["searchAccounts"][0];
    assert_eq!((&account["status"], &account["properties"]), (&json!("connected"), &json!(5)), "{account}");
    assert!(account["since"].is_string() && account["checkedAt"].is_string());
    let asked = providers.controls().requests(simulator::Endpoint::ProviderA(simulator::ProviderA::UserData));
    assert_eq!((asked, paid_requests(&providers)), (0, 0));
    let nobodys = app.actor("viewer").await.get("/api/integrations/status").await.expect(200).json;
    assert_eq!(nobodys["data"]["searchAccounts"], json!([]));
    assert_eq!(nobodys["data"]["providerA"]["connected"], false, "connections are each person's own");
}

#[tokio::test]
async fn a_plan_without_providers_stores_none_and_keeps_what_is_stored() {
    let app = TestApp::start(|_| {}).await;
    let viewer = app.actor("viewer").await;
    let refused = login(&viewer, "good@demo.test").await.expect(402);
    assert_eq!(refused.code(), "subscription_required");
    assert!(refused.hint().starts_with("Subscribe to a plan that includes this."), "{}", refused.hint());
    assert_eq!(viewer.get("/api/feature-flags").await.json["data"]["seoProviders"], false);
    viewer.send(Method::POST, &format!("{A}/test"), None, &[]).await.expect(402);
    viewer.get(A).await.expect(200);
    viewer.delete(A).await.expect(204);

    let owner = app.actor("owner").await;
    assert_eq!(owner.get("/api/feature-flags").await.json["data"]["seoProviders"], true);
    let property = owner.property("northmoor").await;
    let refused = viewer.get(&format!("/api/properties/{property}/backlinks")).await.expect(409);
    assert_eq!(refused.code(), "provider_not_connected", "nobody asks with the owner's credentials");
}

#[tokio::test]
async fn a_body_that_is_not_allowed_is_refused_without_repeating_it() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let planted = "planted-6f1d";
    let cases = [
        (A, json!({ "login": "a", "password": [planted] }), "password"),
        (A, json!({ "login": "a:b", "password": planted }), "login"),
        (A, json!({ "login": "a", "password": format!("{planted}\n") }), "password"),
        (A, json!({ "password": planted }), "login"),
        (B, json!({ "apiKey": format!("{planted} x") }), "apiKey"),
        (B, json!({ "apiKey": "", "login": planted }), "login"),
        (B, json!(planted), "body"),
    ];
    for (path, body, field) in cases {
        let refused = owner.put(path, &body).await.expect(400);
        assert!(refused.hint().starts_with(field), "{}", refused.hint());
        assert!(!String::from_utf8_lossy(&refused.bytes).contains(planted));
    }
    for pasted in ["good-key", " good-key\r\n"] {
        key(&owner, pasted).await.expect(200);
    }
    login(&owner, " good@demo.test ").await.expect(200);
}

#[tokio::test]
async fn credentials_of_others_are_not_tried_through_us() {
    let (app, providers) = beside_providers().await;
    let (owner, other) = (app.actor("owner").await, app.actor("stranger").await);
    let asked = || {
        let of = |endpoint| providers.controls().requests(endpoint);
        of(Endpoint::ProviderA(ProviderA::UserData)) + of(Endpoint::ProviderB(ProviderB::LimitsAndUsage))
    };
    let wrong = async |actor: &Actor, number: u32| match number % 2 {
        0 => login(actor, &format!("somebody{number}@else.test")).await,
        _ => key(actor, &format!("key-{number}")).await,
    };
    for number in 0..5 {
        // Working credentials do not count, also without credit in the account.
        login(&owner, "good@demo.test").await.expect(200);
        login(&owner, "broke@demo.test").await.expect(409);
        assert_eq!(wrong(&owner, number).await.expect(409).code(), "provider_rejected_credentials");
    }
    let before = asked();
    for number in 5..65 {
        let refused = wrong(&owner, number).await.expect(429);
        assert_eq!((refused.code(), refused.header("retry-after")), ("rate_limited", "720"));
        assert!(refused.hint().contains("at most 5 credentials"), "{}", refused.hint());
    }
    login(&owner, "good@demo.test").await.expect(429);
    assert_eq!(asked(), before, "the provider is not asked");
    wrong(&other, 0).await.expect(409);
    owner.get(A).await.expect(200);
    app.hand.advance(TimeDelta::minutes(12));
    login(&owner, "good@demo.test").await.expect(200);
    wrong(&owner, 66).await.expect(409);
    wrong(&owner, 67).await.expect(429);
}

#[tokio::test]
async fn credentials_that_are_tried_at_once_are_counted_one_by_one() {
    let (app, providers) = beside_providers().await;
    let owner = app.actor("owner").await;
    let tried = futures_util::future::join_all((0..20).map(|number| {
        let owner = owner.clone();
        async move { login(&owner, &format!("somebody{number}@else.test")).await.status.as_u16() }
    }));
    let statuses = tried.await;
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 5, "{statuses:?}");
    assert_eq!(providers.controls().requests(Endpoint::ProviderA(ProviderA::UserData)), 5);
}
