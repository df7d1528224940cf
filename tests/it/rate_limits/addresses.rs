//! Tests of the address that a request is counted by.

use common::addresses::TrustedProxies;
use poem::http::Method;

use super::{PUBLIC, behind_a_proxy, get_from, limit, limited, standing};
use crate::support::app::TestApp;

#[tokio::test]
async fn callers_behind_a_trusted_proxy_are_counted_by_their_own_addresses() {
    let app = behind_a_proxy(2).await;
    assert_eq!(standing(&get_from(&app, "198.51.100.1", PUBLIC).await).1, 1);
    // The caller may have written anything to the left of the proxy's own entry.
    assert_eq!(standing(&get_from(&app, "203.0.113.9, 198.51.100.1", PUBLIC).await).1, 0);
    get_from(&app, "unknown, 198.51.100.1", PUBLIC).await.expect(429);
    assert_eq!(standing(&get_from(&app, "198.51.100.2", PUBLIC).await).1, 1);
    let two_lines = [("x-forwarded-for", "198.51.100.3"), ("x-forwarded-for", "198.51.100.2, 127.0.0.1")];
    assert_eq!(standing(&app.anonymous().send(Method::GET, PUBLIC, None, &two_lines).await).1, 0);
}

#[tokio::test]
async fn addresses_of_one_ipv6_network_share_a_limit() {
    let app = behind_a_proxy(2).await;
    for (address, left) in [("2001:db8:1:2::1", 1), ("2001:db8:1:2:ffff::2", 0), ("2001:db8:1:3::1", 1)] {
        assert_eq!(standing(&get_from(&app, address, PUBLIC).await).1, left, "{address}");
    }
    get_from(&app, "2001:db8:1:2::3", PUBLIC).await.expect(429);
}

#[tokio::test]
async fn what_nobody_trusted_says_of_an_address_does_not_count() {
    let app = limited(2).await;
    for (address, left) in [("198.51.100.1", 1), ("198.51.100.2", 0)] {
        assert_eq!(standing(&get_from(&app, address, PUBLIC).await).1, left);
    }
    get_from(&app, "198.51.100.3", PUBLIC).await.expect(429);
}

#[tokio::test]
async fn another_header_may_name_the_caller() {
    let app = TestApp::start(|config| {
        limit(config, 1);
        config.rate_limit.trusted_proxies = TrustedProxies::parse(["127.0.0.0/8"]).unwrap();
        config.rate_limit.client_address_header = "X-Real-IP".parse().unwrap();
    });
    let app = app.await;
    let ask = async |name: &str, address: &str| {
        let answer = app.anonymous().send(Method::GET, PUBLIC, None, &[(name, address)]).await;
        answer.status.as_u16() == 429
    };
    assert!(!ask("x-real-ip", "198.51.100.1").await);
    assert!(ask("x-real-ip", "198.51.100.1").await);
    assert!(!ask("x-real-ip", "198.51.100.2").await);
    assert!(!ask("x-forwarded-for", "198.51.100.3").await);
    assert!(ask("x-forwarded-for", "198.51.100.4").await, "the header that is not named does not count");
}
