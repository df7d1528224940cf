//! Tests of pages that are read ahead.

use chrono::TimeDelta;
use entity::opened_page;
use sea_orm::EntityTrait as _;
use sightline::config::Bytes;
use simulator::Endpoint;

use crate::support::{app::TestApp, signed_in::Browser};

/// The pages that show search data, with their names in the database.
const PAGES: [(&str, &str); 7] = [
    ("", "overview"),
    ("/queries", "queries"),
    ("/pages", "pages"),
    ("/countries", "countries"),
    ("/growth", "growth"),
    ("/cannibalization", "cannibalization"),
    ("/insights", "insights"),
];

/// An app that reads ahead, and whose cache holds all pages of a site.
async fn warm() -> TestApp {
    TestApp::start(|config| {
        config.search_engine.warm = true;
        config.cache.max_bytes = Bytes(512 * 1024 * 1024);
    })
    .await
}

/// The path of the pages of a property of the owner.
async fn path(app: &TestApp) -> String {
    format!("/p/{}", app.actor("owner").await.property("northmoor").await)
}

/// The stored rows, once there are this many.
async fn stored(app: &TestApp, count: usize) -> Vec<opened_page::Model> {
    loop {
        let rows = opened_page::Entity::find().all(&app.service.db).await.unwrap();
        if rows.len() >= count {
            return rows;
        }
        tokio::task::yield_now().await;
    }
}

/// The number of requests that `act` makes.
async fn requests(app: &TestApp, act: impl Future) -> u64 {
    let made = || app.simulator().controls().requests(Endpoint::Query);
    let before = made();
    act.await;
    made() - before
}

async fn pass(app: &TestApp) -> u64 {
    requests(app, async { app.service.warm().await.unwrap() }).await
}

#[tokio::test]
async fn what_was_opened_is_at_hand_when_a_day_has_become_final() {
    let app = warm().await;
    let at = path(&app).await;
    let browser = Browser::signed_in(&app, "owner").await;
    for (page, _) in PAGES {
        browser.get(&format!("{at}{page}")).await.expect(200);
    }
    assert_eq!(stored(&app, PAGES.len()).await.len(), PAGES.len());
    app.hand.advance(TimeDelta::days(1));
    assert!(pass(&app).await > 0);
    for (page, _) in PAGES {
        let made = requests(&app, async { browser.get(&format!("{at}{page}")).await.expect(200) }).await;
        assert_eq!(made, 0, "{page}");
    }
    assert_eq!(pass(&app).await, 0, "no further day has become final");
    app.hand.advance(TimeDelta::days(1));
    assert!(pass(&app).await > 0, "it was opened yesterday");
}

#[tokio::test]
async fn what_nobody_opened_for_seven_days_is_not_read_and_not_known() {
    let app = warm().await;
    let (at, browser) = (path(&app).await, Browser::signed_in(&app, "owner").await);
    browser.get(&at).await.expect(200);
    stored(&app, 1).await;
    app.hand.advance(TimeDelta::days(6));
    app.service.sweep().await;
    assert!(pass(&app).await > 0);
    app.hand.advance(TimeDelta::days(1));
    assert_eq!(pass(&app).await, 0);
    assert_eq!(stored(&app, 0).await.len(), 1);
    app.service.sweep().await;
    assert!(stored(&app, 0).await.is_empty());
}

#[tokio::test]
async fn what_was_opened_is_stored_as_a_kind_of_page_a_day_without_its_query() {
    let app = warm().await;
    let (at, browser) = (path(&app).await, Browser::signed_in(&app, "owner").await);
    for page in ["/queries?find=kettle", "/where/query=kettle", "/queries", "/insights?searchType=image", "/notes"] {
        browser.get(&format!("{at}{page}")).await.expect(200);
    }
    let rows = stored(&app, 3).await;
    let mut pages: Vec<&str> = rows.iter().map(|row| row.page.as_str()).collect();
    pages.sort_unstable();
    assert_eq!(pages, ["insights", "overview", "queries"]);
    for row in &rows {
        assert_eq!(
            (&at[3..], row.opened_on.to_string().as_str()),
            (row.property_id.to_string().as_str(), "2026-11-21")
        );
    }
    app.hand.advance(TimeDelta::days(1));
    browser.get(&format!("{at}/queries")).await.expect(200);
    let is_later = async || {
        let rows = opened_page::Entity::find().all(&app.service.db).await.unwrap();
        assert_eq!(rows.len(), 3, "a row is renewed");
        rows.iter().any(|row| row.page == "queries" && row.opened_on.to_string() == "2026-11-22")
    };
    while !is_later().await {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn nothing_is_noted_and_nothing_read_ahead_unless_it_is_asked_for() {
    let app = TestApp::start(|_| {}).await;
    let (at, browser) = (path(&app).await, Browser::signed_in(&app, "owner").await);
    browser.get(&at).await.expect(200);
    app.hand.advance(TimeDelta::days(1));
    assert_eq!(pass(&app).await, 0);
    assert!(stored(&app, 0).await.is_empty());
}

#[tokio::test]
async fn a_property_that_its_plan_or_its_account_no_longer_opens_is_not_read_ahead() {
    let app = warm().await;
    let (at, browser) = (path(&app).await, Browser::signed_in(&app, "owner").await);
    browser.get(&at).await.expect(200);
    stored(&app, 1).await;
    let page = browser.get("/account").await;
    let account = page.body.split("/account/search/").nth(1).unwrap()[..36].to_owned();
    browser.post(&format!("/account/search/{account}/disconnect"), &[]).await;
    app.hand.advance(TimeDelta::days(1));
    assert_eq!(pass(&app).await, 0);
}
