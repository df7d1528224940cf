//! Tests of the limits of the sign-in endpoints, by address.

use chrono::TimeDelta;
use poem::http::Method;
use serde_json::json;

use super::{behind_a_proxy, get_from};
use crate::support::{actor::Answer, app::TestApp};

async fn post_from(app: &TestApp, address: &str, path: &str, body: &str, media_type: &str) -> Answer {
    let headers = [("x-forwarded-for", address), ("content-type", media_type)];
    app.anonymous().send(Method::POST, path, Some(body.to_owned()), &headers).await
}

#[tokio::test]
async fn the_issuer_is_asked_so_often_by_one_address() {
    let app = behind_a_proxy(2).await;
    let redeem =
        async |address| post_from(&app, address, "/oauth/token", "x=1", "application/x-www-form-urlencoded").await;
    for _ in 0..300 {
        redeem("198.51.100.1").await.expect(400);
    }
    let refused = redeem("198.51.100.1").await.expect(429);
    assert_eq!(refused.json["error"], "temporarily_unavailable");
    assert!(refused.json["error_description"].is_string());
    assert_eq!((refused.header("retry-after"), refused.header("access-control-allow-origin")), ("1", "*"));
    let page = get_from(&app, "198.51.100.1", "/oauth/authorize").await.expect(429);
    assert_eq!((page.header("retry-after"), page.code()), ("1", "rate_limited"));
    redeem("198.51.100.2").await.expect(400);
    for open in ["/oauth/jwks", "/.well-known/openid-configuration", "/.well-known/oauth-protected-resource", "/docs"] {
        get_from(&app, "198.51.100.1", open).await.expect(200);
    }
    app.hand.advance(TimeDelta::minutes(1));
    redeem("198.51.100.1").await.expect(400);
}

#[tokio::test]
async fn browser_sign_in_is_counted_by_address() {
    let app = behind_a_proxy(2).await;
    for path in ["/auth/login", "/auth/callback"] {
        assert_ne!(get_from(&app, "198.51.100.1", path).await.status.as_u16(), 429);
    }
    for path in ["/auth/login", "/auth/callback?code=x&state=x"] {
        assert_eq!(get_from(&app, "198.51.100.1", path).await.expect(429).header("retry-after"), "1");
    }
    assert_ne!(get_from(&app, "198.51.100.2", "/auth/login").await.status.as_u16(), 429);
}

#[tokio::test]
async fn one_address_registers_so_many_clients_an_hour_and_keeps_nobody_else_from_it() {
    let app = behind_a_proxy(2).await;
    let register = async |address: &str, uri: &str| {
        let metadata = json!({ "redirect_uris": [uri] }).to_string();
        post_from(&app, address, "/oauth/register", &metadata, "application/json").await
    };
    let good = "https://client.example/callback";
    register("198.51.100.1", "nonsense").await.expect(400);
    for _ in 0..20 {
        register("198.51.100.1", good).await.expect(201);
    }
    let refused = register("198.51.100.1", good).await.expect(429);
    assert_eq!(refused.json["error"], "temporarily_unavailable");
    assert_eq!(refused.header("retry-after"), "180");
    register("198.51.100.2", good).await.expect(201);
    app.hand.advance(TimeDelta::minutes(3));
    register("198.51.100.1", good).await.expect(201);
}
