//! Who people are to the service: what their tokens say, how long it counts, and the cookies of their browsers.

use chrono::TimeDelta;
use serde_json::Value;
use sightline::{app::http_client, identity::hashing::pkce_challenge};
use url::Url;

use crate::{actor::Actor, app::TestApp};

/// A demo person with an access token of this scope, through the flow with PKCE.
async fn with_scope(base: &str, name: &str, scope: &str) -> Actor {
    let (http, verifier, redirect) = (http_client().unwrap(), "v".repeat(64), "http://127.0.0.1/callback");
    let question = [
        ("response_type", "code"),
        ("client_id", "sightline-cli"),
        ("redirect_uri", redirect),
        ("code_challenge", &pkce_challenge(&verifier)),
        ("code_challenge_method", "S256"),
        ("login_hint", name),
        ("scope", scope),
    ];
    let answer = http.get(format!("{base}/oauth/authorize")).query(&question).send().await.unwrap();
    let location = Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", redirect),
        ("client_id", "sightline-cli"),
        ("code_verifier", &verifier),
    ];
    let tokens = http.post(format!("{base}/oauth/token")).form(&form).send().await.unwrap();
    let tokens: Value = tokens.json().await.unwrap();
    Actor::with_token(base, tokens["access_token"].as_str().unwrap())
}

#[tokio::test]
async fn grants_to_an_address_end_a_week_after_a_token_last_stated_it() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let sees = async |scope: &str| {
        let editor = with_scope(base, "editor", scope).await;
        editor.listed("/api/properties").await.into_iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    let granted: Vec<String> = sees("openid email").await;
    assert_eq!(granted.len(), 3);
    app.hand.advance(TimeDelta::days(7) - TimeDelta::seconds(1));
    assert_eq!(sees("openid").await, granted);
    app.hand.advance(TimeDelta::seconds(1));
    assert_eq!(sees("openid").await, Vec::<String>::new(), "nobody has vouched for the address for a week");
    let editor = with_scope(base, "editor", "openid profile").await;
    editor.get(&format!("/api/properties/{}/annotations", granted[0])).await.expect(404);
    assert_eq!(sees("openid email").await, granted, "the issuer vouches for it again");
}
