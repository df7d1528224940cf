//! Tests of the upstream requests that readers of a share link may cause.

use std::{ops::Range, time::Duration};

use futures_util::future::join_all;
use search_engine::Patience;
use serde_json::json;
use sightline::config;

use super::link;
use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
};

/// A filtered question by each reader, all of them different.
async fn flood(reader: Actor, path: String, readers: Range<usize>) -> Vec<Answer> {
    let ask = async |number: usize| {
        let filters = json!([{ "dimension": "query", "operator": "contains", "value": format!("flood{number}") }]);
        reader.ask(&path, &[("scope", "all"), ("filters", &filters.to_string())]).await
    };
    join_all(readers.map(ask)).await
}

#[tokio::test]
async fn readers_of_a_link_never_take_its_owners_dashboard_down() {
    let app = TestApp::start(|config| {
        config.search_engine.patience = Patience { deadline: Duration::from_secs(8), ..Patience::default() };
    });
    let app = app.await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let path = link(&owner, &property).await;
    let controls = app.simulator().controls();
    controls.hold("flood");
    let readers = tokio::spawn(flood(app.anonymous(), path, 0..20));
    controls.wait_until_held(4).await;
    let window = [("scope", "all"), ("startDate", "2026-09-01"), ("endDate", "2026-09-07")];
    owner.ask(&format!("/api/properties/{property}/performance"), &window).await.expect(200);
    assert!(controls.held() <= 4, "{} requests of the link's readers are under way upstream", controls.held());
    for answer in readers.await.unwrap() {
        let refused = answer.expect(503);
        assert_eq!(refused.code(), "search_engine_unavailable");
        assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    }
}

/// All links to one site share the part of its upstream requests that readers may use.
#[tokio::test]
async fn readers_of_many_links_leave_the_owner_alone() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let controls = app.simulator().controls();
    let mut paths = Vec::new();
    for _ in 0..6 {
        paths.push(link(&owner, &property).await);
    }
    controls.hold("flood");
    let reader = app.anonymous();
    let readers = tokio::spawn(async move {
        let floods =
            paths.into_iter().enumerate().map(|(link, path)| flood(reader.clone(), path, 6 * link..6 * link + 6));
        join_all(floods).await
    });
    controls.wait_until_held(4).await;
    let window = [("scope", "all"), ("startDate", "2026-09-01"), ("endDate", "2026-09-07")];
    owner.ask(&format!("/api/properties/{property}/performance"), &window).await.expect(200);
    assert!(controls.held() <= 4, "{} requests of the links' readers are under way upstream", controls.held());
    controls.release();
    for answer in readers.await.unwrap().into_iter().flatten() {
        assert!([200, 429, 503].contains(&answer.status.as_u16()), "{}", answer.status);
    }
}

/// The owner's identical question does not wait in the readers' queue.
#[tokio::test]
async fn the_owner_does_not_wait_in_the_queue_of_readers() {
    let app = TestApp::start(|config| {
        config.search_engine.patience = Patience { deadline: Duration::from_secs(8), ..Patience::default() };
    });
    let app = app.await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let path = link(&owner, &property).await;
    let controls = app.simulator().controls();
    controls.hold("flood");
    let readers = tokio::spawn(flood(app.anonymous(), path.clone(), 0..20));
    controls.wait_until_held(4).await;
    let window = [("scope", "all"), ("startDate", "2026-09-01"), ("endDate", "2026-09-07")];
    let (reader, asked) = (app.anonymous(), path.clone());
    let same = tokio::spawn(async move { reader.ask(&asked, &window).await });
    owner.ask(&format!("/api/properties/{property}/performance"), &window).await.expect(200);
    controls.release();
    same.await.unwrap();
    readers.await.unwrap();
}

/// Uses the default pace.
#[tokio::test]
async fn a_second_question_finds_room_for_all_its_requests_at_once() {
    let app = TestApp::start(|config| {
        let pace = config::SearchEngine::default();
        config.search_engine.bucket = pace.bucket;
        config.search_engine.refill_per_second = pace.refill_per_second;
    });
    let app = app.await;
    let owner = app.actor("owner").await;
    let path = format!("/api/properties/{}/performance", owner.property("northmoor").await);
    let question = |months: [&str; 2]| {
        let [day, compared] = months.map(|month| [format!("2026-{month}-01"), format!("2026-{month}-07")]);
        let names = ["startDate", "endDate", "compareStart", "compareEnd"];
        names.into_iter().zip(day.into_iter().chain(compared)).collect::<Vec<_>>()
    };
    let ask = async |months| {
        let question = question(months);
        let query = question.iter().map(|(name, day)| (*name, day.as_str())).chain([("scope", "all")]);
        owner.ask(&path, &query.collect::<Vec<_>>()).await.expect(200)
    };
    ask(["10", "09"]).await;
    let controls = app.simulator().controls();
    controls.hold("final");
    let under_way = async {
        // A series and five tables for each window, and the totals by page.
        controls.wait_until_held(13).await;
        controls.release();
    };
    tokio::join!(ask(["08", "07"]), under_way);
}
