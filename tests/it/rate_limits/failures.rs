//! Tests of failed sign-ins and guessed tokens: the counted failures, the refused requests, and health, which is never
//! refused.

use chrono::TimeDelta;
use futures_util::future::join_all;
use simulator::Endpoint;

use super::{behind_a_proxy, get_from, limited, link, standing};
use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, start_of_test},
};

/// A well-formed token that no issuer made: `{"alg":"RS256","typ":"at+jwt","kid":"k"}`.
const FORGED: &str = "eyJhbGciOiJSUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsifQ.e30.c2ln";

/// More failures than one address may have in a minute.
async fn fail(app: &TestApp) -> Vec<Answer> {
    let anonymous = app.anonymous();
    join_all((0..303).map(|_| anonymous.get("/api"))).await
}

#[tokio::test]
async fn an_expired_token_gets_401_beyond_the_addresss_limit_of_failures() {
    let app = limited(5).await;
    let owner = app.actor("owner").await;
    app.hand.advance(TimeDelta::days(2));
    let failures = fail(&app).await;
    assert_eq!(failures.iter().filter(|answer| answer.status.as_u16() == 429).count(), 3);
    for token in [owner.token(), FORGED] {
        let answer = Actor::with_token(&app.service.base_url, token).get("/api").await.expect(401);
        assert!(answer.header("www-authenticate").starts_with("Bearer error=\"invalid_token\""));
    }
    for garbage in ["x", "a.b.c", "e30.e30", "!.!.!"] {
        Actor::with_token(&app.service.base_url, garbage).get("/api").await.expect(429);
    }
}

#[tokio::test]
async fn a_refused_sign_in_tells_what_is_left_to_its_address() {
    let app = behind_a_proxy(5).await;
    for left in [299, 298] {
        let answer = get_from(&app, "198.51.100.1", "/api").await.expect(401);
        assert_eq!((standing(&answer).0, standing(&answer).1), (300, left));
    }
    let forged = [("authorization", &*format!("Bearer {FORGED}")), ("x-forwarded-for", "198.51.100.2")];
    let answer = app.anonymous().send(poem::http::Method::GET, "/api", None, &forged).await.expect(401);
    assert_eq!(standing(&answer), (300, 299, start_of_test().timestamp() + 1));
}

#[tokio::test]
async fn an_issuer_that_is_away_makes_no_failed_sign_ins() {
    let app = TestApp::start(|config| {
        super::limit(config, 5);
        config.identity.issuer = "http://127.0.0.1:1".parse().ok();
    });
    let app = app.await;
    let bearer = Actor::with_token(&app.service.base_url, FORGED);
    for _ in 0..303 {
        bearer.get("/api").await.expect(503);
    }
    let refused = app.anonymous().get("/api").await.expect(401);
    assert_eq!(standing(&refused).1, 299);
}

/// The search engine refuses the site to the account. The link itself is valid.
#[tokio::test]
async fn a_404_behind_a_valid_link_is_not_a_failed_sign_in() {
    let app = limited(1_000).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let path = format!("{}?startDate=2026-08-01&endDate=2026-08-07", link(&owner, &property).await);
    app.simulator().controls().set_faults(vec!["permission403:1".parse().unwrap()]);
    for _ in 0..303 {
        app.anonymous().get(&path).await.expect(404);
    }
}

#[tokio::test]
async fn health_is_not_counted() {
    let app = limited(2).await;
    fail(&app).await;
    for _ in 0..5 {
        app.anonymous().get("/api/health").await.expect(200);
    }
}

#[tokio::test]
async fn concurrent_health_requests_share_one_check() {
    let app = TestApp::start(|_| {}).await;
    let looks = || app.simulator().controls().requests(Endpoint::Sites);
    let (before, anonymous) = (looks(), app.anonymous());
    for looked in 1..=2 {
        for answer in join_all((0..20).map(|_| anonymous.get("/api/health"))).await {
            assert_eq!(answer.expect(200).json["data"]["status"], "ok");
        }
        assert_eq!(looks() - before, looked);
        app.hand.advance(TimeDelta::milliseconds(1_999));
        anonymous.get("/api/health").await.expect(200);
        assert_eq!(looks() - before, looked, "not yet two seconds old");
        app.hand.advance(TimeDelta::milliseconds(1));
    }
}
