//! Bearer tokens and the browser session at the API.

use common::random::Random;
use poem::http::Method;
use sightline::cli::remote::login::{EVERYTHING, login};

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    assistant::Assistant,
    cookies::{session_cookie, set_cookie},
    whole::Whole as _,
};

#[track_caller]
fn assert_bad_token(answer: &Answer) {
    assert_eq!((answer.status.as_u16(), answer.code()), (401, "unauthorized"), "{:?}", answer.json);
    assert!(answer.header("www-authenticate").starts_with("Bearer error=\"invalid_token\", resource_metadata=\""));
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once() {
    let base = &shared().service.base_url;
    let (revoked, kept) = (shared().actor("owner").await, shared().actor("owner").await);
    revoked.get("/api").await.expect(200);
    let form = format!("token={}&client_id=sightline-cli", revoked.token());
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    for _ in 0..2 {
        shared().anonymous().send(Method::POST, "/oauth/revoke", Some(form.clone()), &kind).await.expect(200);
    }
    assert_bad_token(&revoked.get("/api").await);
    kept.get("/api").await.expect(200);
    for bad in ["x", "a.b.c", &format!("{}x", kept.token()), &kept.token()[..kept.token().len() - 4]] {
        assert_bad_token(&Actor::with_token(base, bad).get("/api").await);
    }
}

#[tokio::test]
async fn a_token_ends_with_its_lifetime() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    owner.get("/api").await.expect(200);
    app.hand.advance(chrono::TimeDelta::days(2));
    assert_bad_token(&owner.get("/api").await);
}

/// An access token for `resource` only, through the flow with PKCE.
async fn token_for(base: &str, resource: &str) -> String {
    let (http, verifier) = (sightline::app::http_client().unwrap(), "v".repeat(64));
    let challenge = common::digest::pkce_challenge(&verifier);
    let redirect = "http://127.0.0.1/callback";
    let question = [
        ("response_type", "code"),
        ("client_id", "sightline-cli"),
        ("redirect_uri", redirect),
        ("state", "s"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("login_hint", "owner"),
        ("resource", resource),
    ];
    let answer = http.get(format!("{base}/oauth/authorize")).query(&question).send().await.unwrap();
    let location = url::Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", redirect),
        ("client_id", "sightline-cli"),
        ("code_verifier", &verifier),
    ];
    let tokens = http.post(format!("{base}/oauth/token")).form(&form).send().await.unwrap();
    tokens.whole_json::<serde_json::Value>().await.unwrap()["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_token_for_another_resource_is_refused() {
    let base = &shared().service.base_url;
    let tools = token_for(base, &format!("{base}/mcp")).await;
    let answer = Actor::with_token(base, &tools).get("/api").await;
    assert_bad_token(&answer);
    assert!(answer.hint().contains(&format!("is for another resource; get one for {base}: ")), "{}", answer.hint());
    let ours = token_for(base, base).await;
    Actor::with_token(base, &ours).get("/api").await.expect(200);
    let ping = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    // The root means every resource of its host.
    for (token, status) in [(&tools, 200), (&ours, 200)] {
        let header = format!("Bearer {token}");
        Assistant::anonymous(shared()).post(&ping, &[("authorization", &header)]).await.expect(status);
    }
}

#[tokio::test]
async fn a_token_counts_in_the_header_only_and_once() {
    let base = &shared().service.base_url;
    let token =
        login(base, "owner", EVERYTHING, sightline::app::http_client().unwrap(), &Random::system()).await.unwrap();
    let anonymous = shared().anonymous();
    let answer = anonymous.get(&format!("/api?access_token={token}")).await.expect(401);
    assert!(!answer.header("www-authenticate").contains("error="));
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = Some(format!("access_token={token}"));
    anonymous.send(Method::PUT, "/api/properties/tracking", body, &form).await.expect(401);
    let (good, basic) = (format!("Bearer {token}"), "Basic b3duZXI6ZGVtbw==");
    for scheme in ["bearer", "BEARER"] {
        let header = format!("{scheme} {token}");
        anonymous.send(Method::GET, "/api", None, &[("authorization", &header)]).await.expect(200);
    }
    for two in [[good.as_str(), good.as_str()], [&good, basic], [basic, &good]] {
        let headers = two.map(|value| ("authorization", value));
        let answer = anonymous.send(Method::GET, "/api", None, &headers).await.expect(400);
        assert!(answer.hint().starts_with("Authorization:"), "{}", answer.hint());
    }
    for odd in ["Basic b3duZXI6ZGVtbw==", "Bearer", "Bearer ", "Token x", "Bearer a b"] {
        let answer = anonymous.send(Method::GET, "/api", None, &[("authorization", odd)]).await;
        assert_bad_token(&answer);
        assert!(answer.hint().starts_with("Authorization: must be Bearer"), "{odd:?}: {}", answer.hint());
    }
}

/// Signs in like a browser and returns the session cookie.
async fn browser_session(base: &str) -> String {
    let http = sightline::app::http_client().unwrap();
    let begin = http.get(format!("{base}/auth/login?login_hint=owner&return_to=/docs")).send().await.unwrap();
    let attempt = begin.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let issuer = http.get(begin.headers()["location"].to_str().unwrap()).send().await.unwrap();
    let back = issuer.headers()["location"].to_str().unwrap().to_owned();
    assert!(back.starts_with(&format!("{base}/auth/callback?")), "{back}");
    assert_eq!(http.get(&back).send().await.unwrap().status(), 400, "the attempt belongs to its browser");
    let done = http.get(&back).header("cookie", attempt).send().await.unwrap();
    assert_eq!((done.status().as_u16(), done.headers()["location"].to_str().unwrap()), (303, "/docs"));
    let session = set_cookie(done.headers(), "sightline_session");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(session.contains(attribute), "{session}");
    }
    session.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_browser_session_reads_and_writes_from_its_own_pages_only() {
    let app = TestApp::start(|_| {}).await;
    let base = app.service.base_url.clone();
    let cookie = browser_session(&base).await;
    let anonymous = app.anonymous();
    let send = async |method: Method, path: &str, headers: &[(&str, &str)]| {
        let mut headers = headers.to_vec();
        headers.extend([("cookie", cookie.as_str()), ("content-type", "application/json")]);
        let body = (method == Method::PUT).then(|| "{\"favorite\":true}".to_owned());
        anonymous.send(method, path, body, &headers).await
    };
    let listed = send(Method::GET, "/api/properties", &[]).await.expect(200);
    let twice = send(Method::GET, "/api/properties", &[("cookie", &cookie)]).await.expect(400);
    assert!(
        twice.hint().starts_with("Cookie: holds two sessions of this service; delete the cookies"),
        "{}",
        twice.hint()
    );
    let path = format!("/api/properties/{}/favorite", listed.json["data"][0]["id"].as_str().unwrap());
    send(Method::PUT, &path, &[("origin", &base)]).await.expect(200);
    let elsewhere = format!("{base}0");
    for origin in ["null", "https://evil.example", &elsewhere, ""] {
        let answer = send(Method::PUT, &path, &[("origin", origin)]).await.expect(403);
        assert!(answer.hint().starts_with("Origin:"), "{}", answer.hint());
    }
    send(Method::PUT, &path, &[]).await.expect(403);
    for (part, otherwise) in [("backlinks", 409), ("keyword-research", 409), ("performance", 200)] {
        let path = format!("/api/properties/{}/{part}", listed.json["data"][0]["id"].as_str().unwrap());
        for site in ["cross-site", "same-site"] {
            let status = if otherwise == 200 { 200 } else { 403 };
            let answer = send(Method::GET, &path, &[("sec-fetch-site", site)]).await.expect(status);
            assert!(status == 200 || answer.hint().starts_with("Sec-Fetch-Site:"), "{}", answer.hint());
        }
        for site in ["same-origin", "none"] {
            send(Method::GET, &path, &[("sec-fetch-site", site)]).await.expect(otherwise);
        }
        send(Method::GET, &path, &[]).await.expect(otherwise);
    }
    assert_bad_token(&send(Method::GET, "/api", &[("authorization", "Bearer x")]).await);
    let nonsense = session_cookie(&base, "nonsense");
    let other = [("cookie", nonsense.as_str())];
    let answer = anonymous.send(Method::GET, "/api", None, &other).await.expect(401);
    assert!(!answer.header("www-authenticate").contains("error="));

    assert_eq!(send(Method::POST, "/auth/logout", &[("origin", "https://evil.example")]).await.status.as_u16(), 403);
    send(Method::GET, "/api", &[]).await.expect(200);
    send(Method::POST, "/auth/logout", &[("origin", &base)]).await.expect(204);
    send(Method::GET, "/api", &[]).await.expect(401);
}
