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
