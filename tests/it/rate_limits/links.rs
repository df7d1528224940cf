//! Tests of the rate limit of a share link.

use common::addresses::TrustedProxies;

use super::{get_from, limit, link, standing};
use crate::support::app::TestApp;

#[tokio::test]
async fn all_readers_of_a_link_share_the_limit_of_its_owner() {
    let app = TestApp::start(|config| {
        limit(config, 2);
        config.plans.pro.burst = Some(8);
        config.rate_limit.trusted_proxies = TrustedProxies::parse(["127.0.0.1"]).unwrap();
    });
    let app = app.await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let (one, other) = (link(&owner, &property).await, link(&owner, &property).await);
    let read = async |address: &str, path: &str| get_from(&app, address, &format!("{path}?scope=series")).await;
    for reader in 1..=4 {
        let address = format!("198.51.100.{reader}");
        for left in [1, 0] {
            assert_eq!(standing(&read(&address, &one).await.expect(200)).1, left, "{address}");
        }
        assert_eq!(standing(&read(&address, &one).await.expect(429)).0, 2, "its reader's own");
    }
    let refused = read("198.51.100.5", &one).await.expect(429);
    assert_eq!((refused.header("retry-after"), standing(&refused).0, standing(&refused).1), ("1", 8, 0));
    read("198.51.100.5", &other).await.expect(200);
    owner.get("/api").await.expect(200);
}

#[tokio::test]
async fn the_page_of_a_link_counts_once_and_only_if_it_waits_for_the_search_engine() {
    let app = TestApp::start(|config| {
        limit(config, 2);
        config.plans.pro.burst = Some(3);
        config.rate_limit.trusted_proxies = TrustedProxies::parse(["127.0.0.1"]).unwrap();
    });
    let app = app.await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let link = link(&owner, &property).await;
    let page = link.strip_prefix("/api").unwrap().strip_suffix("/performance").unwrap();
    let open = async |address: &str, query: &str| get_from(&app, address, &format!("{page}{query}")).await;
    for day in 1..=3 {
        open("198.51.100.7", &format!("?startDate=2026-09-0{day}&endDate=2026-09-20")).await.expect(200);
    }
    for _ in 0..10 {
        open("198.51.100.7", "?startDate=2026-09-03&endDate=2026-09-20").await.expect(200);
    }
    let refused = open("198.51.100.8", "?startDate=2026-09-04&endDate=2026-09-20").await.expect(429);
    assert_eq!(refused.header("retry-after"), "1");
    open("198.51.100.8", "?startDate=2026-09-01&endDate=2026-09-20").await.expect(200);
}
