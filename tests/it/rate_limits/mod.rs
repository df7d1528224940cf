//! Tests of rate limits, and of the order of refusals.

mod addresses;
mod failures;
mod in_flight;
mod links;
mod replicas;
mod sign_in;
mod upstream;
mod user_codes;

use chrono::TimeDelta;
use common::addresses::TrustedProxies;
use entity::user::Plan;
use futures_util::future::join_all;
use poem::http::Method;
use serde_json::json;
use sightline::{config::Config, services::users::subscriptions};

use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, start_of_test},
};

/// An operation that anyone may call, counted by address.
const PUBLIC: &str = "/api/billing/plans";

async fn limited(burst: u32) -> TestApp {
    TestApp::start(|config| limit(config, burst)).await
}

fn limit(config: &mut Config, burst: u32) {
    config.rate_limit.enabled = true;
    config.rate_limit.per_minute = 60;
    config.rate_limit.burst = burst;
}

/// The same app behind a proxy on loopback that names callers in `X-Forwarded-For`.
async fn behind_a_proxy(burst: u32) -> TestApp {
    TestApp::start(|config| {
        limit(config, burst);
        config.rate_limit.trusted_proxies = TrustedProxies::parse(["127.0.0.1"]).unwrap();
    })
    .await
}

/// Sends `GET path` without credentials, as a caller whom the proxy names as `address`.
async fn get_from(app: &TestApp, address: &str, path: &str) -> Answer {
    app.anonymous().send(Method::GET, path, None, &[("x-forwarded-for", address)]).await
}

/// The path of a new link's dashboard.
async fn link(owner: &Actor, property: &str) -> String {
    let made = owner.post(&format!("/api/properties/{property}/share-links"), &json!({})).await.expect(201);
    format!("/api/share/{}/performance", made.json["data"]["token"].as_str().unwrap())
}

fn standing(answer: &Answer) -> (u32, u32, i64) {
    let number = |name: &str| answer.header(name).parse::<i64>().unwrap_or_else(|_| panic!("{name}: {answer:?}"));
    let small = |name: &str| u32::try_from(number(name)).unwrap();
    (small("x-ratelimit-limit"), small("x-ratelimit-remaining"), number("x-ratelimit-reset"))
}

/// Refusals before the caller is known, and answers to `OPTIONS`, tell what the address has left and count nothing.
#[tokio::test]
async fn uncounted_answers_tell_what_the_address_has_left() {
    let app = limited(9).await;
    let anonymous = app.anonymous();
    assert_eq!(standing(&anonymous.get(PUBLIC).await.expect(200)).1, 8);
    let preflight = [("origin", "https://a.example"), ("access-control-request-method", "GET")];
    let unknown = [("x-api-version", "2020-01-01")];
    for (method, headers, status) in
        [(Method::OPTIONS, &[][..], 204), (Method::OPTIONS, &preflight[..], 204), (Method::GET, &unknown[..], 400)]
    {
        for _ in 0..2 {
            let answer = anonymous.send(method.clone(), "/api/tags", None, headers).await.expect(status);
            let (limit, left, _) = standing(&answer);
            assert_eq!((limit, left), (9, 8), "{method} {status}");
        }
    }
    let refused = anonymous.get("/api/tags").await.expect(401);
    assert_eq!(standing(&refused).0, 300, "failed sign-ins have a limit of their own");
}

#[tokio::test]
async fn every_authenticated_answer_tells_what_is_left() {
    let app = limited(9).await;
    let owner = app.actor("owner").await;
    let first = owner.get("/api/feature-flags").await.expect(200);
    assert_eq!(standing(&first), (9, 8, start_of_test().timestamp() + 1));
    let tag = first.header("etag").to_owned();
    let json = [("content-type", "application/json")];
    let asked = [
        (Method::GET, "/api/feature-flags", 304),
        (Method::GET, "/api/nowhere", 404),
        (Method::GET, "/api/properties/x/performance", 404),
        (Method::GET, "/api/properties?days=0", 400),
        (Method::PUT, "/api/properties/tracking", 415),
        (Method::GET, "/api/privacy/access", 200),
        (Method::HEAD, "/api", 200),
    ];
    for (left, (method, path, status)) in (1..8).rev().zip(asked) {
        let headers = if status == 304 { vec![("if-none-match", tag.as_str())] } else { vec![] };
        let answer = owner.send(method, path, None, &headers).await;
        assert_eq!(answer.status.as_u16(), status, "{path}");
        assert_eq!((standing(&answer).0, standing(&answer).1), (9, left), "{path}");
    }
    let lacks = owner.send(Method::PATCH, "/api", None, &[]).await.expect(405);
    assert_eq!(
        (standing(&lacks).0, standing(&lacks).1),
        (9, 9),
        "a method that a path lacks is refused before anybody is looked up, and counts for nobody"
    );
    owner.get("/api").await.expect(200);
    for _ in 0..2 {
        let refused = owner.send(Method::PUT, "/api/properties/tracking", Some("[".into()), &json).await.expect(429);
        assert_eq!((refused.code(), refused.json["error"].as_str()), ("rate_limited", Some("Too many requests")));
        assert_eq!((refused.header("retry-after"), standing(&refused).1), ("1", 0));
        assert!(standing(&refused).2 >= start_of_test().timestamp() + 9);
    }
    app.hand.advance(TimeDelta::seconds(1));
    owner.get("/api").await.expect(200);
    owner.get("/api").await.expect(429);
}

#[tokio::test]
async fn a_burst_gets_exactly_its_number() {
    let app = limited(10).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let again = app.actor("owner").await;
    let burst = join_all((0..17).map(|i| if i % 2 == 0 { owner.get("/api") } else { again.get("/api") })).await;
    let count = |status: u16| burst.iter().filter(|answer| answer.status.as_u16() == status).count();
    assert_eq!((count(200), count(429)), (10, 7), "a person's tokens share the person's budget");
    assert_eq!(standing(&editor.get("/api").await.expect(200)).1, 9);
    app.anonymous().get("/api/health").await.expect(200);
    app.anonymous().get("/api").await.expect(401);
}

#[tokio::test]
async fn public_operations_are_counted_by_address() {
    let app = limited(3).await;
    for left in [2, 1, 0] {
        assert_eq!(standing(&app.anonymous().get(PUBLIC).await).1, left);
    }
    let refused = app.anonymous().get(PUBLIC).await.expect(429);
    assert_eq!(refused.header("retry-after"), "1");
    app.actor("owner").await.get("/api").await.expect(200);
}

/// 405 → 400 version → 401 → 429 → 404 → 403 → 402 → 400.
#[tokio::test]
async fn refusals_come_in_the_stated_order() {
    let app = limited(40).await;
    let owner = app.actor("owner").await;
    let id = owner.property("northmoor").await;
    let (viewer, stranger) = (app.actor("viewer").await, app.actor("stranger").await);
    let path = format!("/api/properties/{id}/annotations");
    let bad = "[";
    let send = async |actor: &Actor, headers: &[(&str, &str)]| {
        let answer = actor.send(Method::POST, &path, Some(bad.to_owned()), headers).await;
        answer.status.as_u16()
    };
    let json = ("content-type", "application/json");
    assert_eq!(send(&viewer, &[json]).await, 403);
    assert_eq!(send(&owner, &[json]).await, 400);
    subscriptions::set(&app.service.db, "demo-owner", Plan::None, start_of_test()).await.unwrap();
    assert_eq!(send(&owner, &[json]).await, 402);
    assert_eq!(send(&viewer, &[json]).await, 403, "no plan gives the role");
    let read = viewer.get(&path).await;
    assert_eq!(read.status.as_u16(), 402, "the role suffices");
    assert_eq!(send(&stranger, &[json]).await, 404);
    for _ in 0..50 {
        if stranger.get("/api").await.status.as_u16() == 429 {
            break;
        }
    }
    assert_eq!(send(&stranger, &[json]).await, 429);
    let base_url = &app.service.base_url;
    assert_eq!(send(&Actor::with_token(base_url, "x"), &[json]).await, 401);
    assert_eq!(send(&app.anonymous(), &[json]).await, 401);
    assert_eq!(send(&stranger, &[("x-api-version", "1")]).await, 400);
    assert_eq!(send(&app.anonymous(), &[("x-api-version", "1")]).await, 400);
    for actor in [&stranger, &app.anonymous()] {
        actor.send(Method::PATCH, &path, Some(bad.to_owned()), &[("x-api-version", "1")]).await.expect(405);
    }
}

#[tokio::test]
async fn what_is_under_way_is_answered_before_the_service_stops() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let id = owner.property("harbourpost").await;
    app.simulator().controls().hold("2026-08-01");
    let path = format!("/api/properties/{id}/performance?scope=tables&startDate=2026-08-01&endDate=2026-08-31");
    let base_url = app.service.base_url.clone();
    let under_way = tokio::spawn({
        let owner = owner.clone();
        async move { owner.get(&path).await }
    });
    app.simulator().controls().wait_until_held(1).await;
    app.simulator().controls().release();
    app.service.shutdown().await;
    let answer = under_way.await.unwrap().expect(200);
    assert!(!answer.json["data"]["tables"]["queries"].as_array().unwrap().is_empty());
    let gone = sightline::app::http_client().unwrap().get(format!("{base_url}/api/health")).send().await;
    assert!(gone.unwrap_err().is_connect());
}

/// Each guess is a new token with its own budget.
#[tokio::test]
async fn guessed_share_tokens_of_one_address_are_counted() {
    let app = limited(5).await;
    let (anonymous, owner) = (app.anonymous(), app.actor("owner").await);
    let guess = |number| format!("/api/share/{number:0>43}/performance");
    let paths: Vec<String> = (0..303).map(guess).collect();
    let refusals = join_all(paths.iter().map(|path| anonymous.get(path))).await;
    let count = |status: u16| refusals.iter().filter(|answer| answer.status.as_u16() == status).count();
    assert_eq!((count(404), count(429)), (300, 3));
    owner.get("/api").await.expect(200);
}

#[tokio::test]
async fn failed_sign_ins_of_one_address_are_counted() {
    let app = limited(5).await;
    let (anonymous, owner) = (app.anonymous(), app.actor("owner").await);
    let refusals = join_all((0..303).map(|_| anonymous.get("/api"))).await;
    let count = |status: u16| refusals.iter().filter(|answer| answer.status.as_u16() == status).count();
    assert_eq!((count(401), count(429)), (300, 3));
    owner.get("/api").await.expect(200);
}
