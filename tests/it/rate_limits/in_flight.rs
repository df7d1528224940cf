//! Tests of the limit of requests in flight.

use futures_util::future::join_all;
use poem::http::Method;

use super::{get_from, link};
use crate::support::{actor::Actor, app::TestApp};

/// A text in all upstream queries, so that each is held: a series for every question. The freshness of the site is known from the list.
const ANY: &str = "startDate";

async fn app(max_in_flight: u32) -> TestApp {
    TestApp::start(|config| {
        config.rate_limit.max_in_flight = max_in_flight;
        config.rate_limit.trusted_proxies = common::addresses::TrustedProxies::parse(["127.0.0.1"]).unwrap();
    })
    .await
}

/// Requests `count` days concurrently, one request each.
fn ask(actor: &Actor, path: &str, count: u32) -> tokio::task::JoinHandle<Vec<u16>> {
    let (actor, path) = (actor.clone(), path.to_owned());
    tokio::spawn(async move {
        let days: Vec<String> = (1..=count).map(|day| format!("2026-08-{day:02}")).collect();
        let ask = async |day: &str| {
            let window = [("scope", "series"), ("startDate", day), ("endDate", day)];
            actor.ask(&path, &window).await.status.as_u16()
        };
        join_all(days.iter().map(|day| ask(day))).await
    })
}

#[tokio::test]
async fn a_person_has_so_many_requests_under_way_and_others_theirs() {
    let app = app(2).await;
    let (owner, again, viewer) = (app.actor("owner").await, app.actor("owner").await, app.actor("viewer").await);
    let path = format!("/api/properties/{}/performance", owner.property("northmoor").await);
    app.simulator().controls().hold(ANY);
    let under_way = ask(&owner, &path, 2);
    app.simulator().controls().wait_until_held(2).await;
    let refused = again.get("/api").await.expect(429);
    assert_eq!((refused.code(), refused.header("retry-after")), ("rate_limited", "1"));
    viewer.get("/api").await.expect(200);
    app.anonymous().get("/api/health").await.expect(200);
    app.simulator().controls().release();
    assert_eq!(under_way.await.unwrap(), [200, 200]);
    again.get("/api").await.expect(200);
}

#[tokio::test]
async fn readers_of_one_link_share_what_may_be_under_way() {
    let app = app(2).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let (one, other) = (link(&owner, &property).await, link(&owner, &property).await);
    app.simulator().controls().hold(ANY);
    let under_way = ask(&app.anonymous(), &one, 2);
    app.simulator().controls().wait_until_held(2).await;
    get_from(&app, "198.51.100.1", &format!("{one}?scope=x")).await.expect(429);
    get_from(&app, "198.51.100.1", &format!("{other}?scope=x")).await.expect(400);
    app.simulator().controls().release();
    assert_eq!(under_way.await.unwrap(), [200, 200]);
    get_from(&app, "198.51.100.1", &format!("{one}?scope=x")).await.expect(400);
}

#[tokio::test]
async fn no_bound_is_a_setting_too() {
    let app = app(0).await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/performance", owner.property("northmoor").await);
    app.simulator().controls().hold(ANY);
    let under_way = ask(&owner, &path, 3);
    app.simulator().controls().wait_until_held(3).await;
    owner.send(Method::GET, "/api", None, &[]).await.expect(200);
    app.simulator().controls().release();
    assert_eq!(under_way.await.unwrap(), [200; 3]);
}
