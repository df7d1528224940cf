//! Answers of other servers that do not end, as they are and compressed. They are read to a limit, and count as none.

use serde_json::json;

use crate::{
    search_accounts::{exchanges::Engine, sync},
    support::{
        actor::{Actor, Answer},
        app::TestApp,
        browser::Browser,
        endless::{CODINGS, Coding, Endless},
        issuer::OtherIssuer,
    },
};

const DOCUMENT: usize = 1 << 20;
const ROWS: usize = 64 << 20;
const OF_A_PROVIDER: usize = 16 << 20;

#[track_caller]
fn assert_unavailable(answer: &Answer, code: &str) {
    assert_eq!((answer.status.as_u16(), answer.code()), (503, code), "{:?}", answer.json);
}

#[tokio::test]
async fn a_search_engine_that_answers_without_an_end_does_not_answer() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let browser = Browser::signed_in(&app.service.base_url, "viewer").await;
    for coding in CODINGS {
        for path in ["/token", "/userinfo"] {
            engine.endless.at(path, coding);
            engine.connect(&browser).await.expect(503, &["does not answer"]);
            engine.endless.assert_read_to(DOCUMENT);
        }
    }
    engine.endless.nowhere();
    let account = engine.connect(&browser).await.account();
    let mut viewer = app.actor("viewer").await;
    let synced = sync(&viewer).await.expect(200).json;
    let property = synced["data"]["properties"][0]["id"].as_str().unwrap().to_owned();
    viewer.put("/api/properties/tracking", &json!({ "propertyIds": [property] })).await.expect(200);
    for coding in CODINGS {
        engine.endless.at("/webmasters/v3/sites", coding);
        assert_unavailable(&sync(&viewer).await, "search_engine_unavailable");
        engine.endless.assert_read_to(ROWS);
        engine.endless.at("/searchAnalytics/query", coding);
        let window = [("startDate", "2026-10-01"), ("endDate", "2026-10-01")];
        let path = format!("/api/properties/{property}/performance");
        assert_unavailable(&viewer.ask(&path, &window).await, "search_engine_unavailable");
        engine.endless.assert_read_to(ROWS);
    }
    app.hand.advance(chrono::TimeDelta::hours(2));
    viewer = app.actor("viewer").await;
    engine.endless.at("/token", Coding::Gzip);
    assert_unavailable(&sync(&viewer).await, "search_engine_unavailable");
    engine.endless.assert_read_to(DOCUMENT);
    engine.endless.nowhere();
    sync(&viewer).await.expect(200);
    let browser = Browser::signed_in(&app.service.base_url, "viewer").await;
    for coding in CODINGS {
        engine.endless.at("/revoke", coding);
        let ended = browser.post(&format!("/account/search/{account}/disconnect"), &[]).await;
        assert!(ended.location.ends_with("?there=unanswered"), "{ended:?}");
        engine.endless.assert_read_to(DOCUMENT);
        engine.endless.nowhere();
        engine.connect(&browser).await.account();
    }
}

#[tokio::test]
async fn an_seo_provider_that_answers_without_an_end_does_not_answer() {
    let endless = Endless::default();
    let root = endless.server().await;
    let app = TestApp::start(|config| {
        config.seo.provider_a.url = root.parse().ok();
        config.seo.provider_b.url = root.parse().ok();
        config.seo.patience.backoff = std::time::Duration::ZERO;
    })
    .await;
    let owner = app.actor("owner").await;
    for coding in CODINGS {
        for (path, credentials) in [
            ("/api/integrations/provider-a", json!({ "login": "good@demo.test", "password": "demo" })),
            ("/api/integrations/provider-b", json!({ "apiKey": "good-key" })),
        ] {
            endless.at("", coding);
            assert_unavailable(&owner.put(path, &credentials).await, "provider_unavailable");
            endless.assert_read_to(OF_A_PROVIDER);
        }
    }
}

#[tokio::test]
async fn an_issuer_that_answers_without_an_end_opens_nothing() {
    for coding in CODINGS {
        for path in ["/.well-known/openid-configuration", "/jwks", "/introspect"] {
            let issuer = OtherIssuer::start().await;
            issuer.endless.at(path, coding);
            let app = TestApp::start(|config| issuer.trusted_by(config)).await;
            let ann = Actor::with_token(&app.service.base_url, &issuer.token("ann"));
            assert_unavailable(&ann.get("/api/tags").await, "unavailable");
            issuer.endless.assert_read_to(DOCUMENT);
        }
    }
}
