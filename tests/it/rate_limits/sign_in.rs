//! Tests of the limits of the sign-in endpoints, by address.

use chrono::TimeDelta;
use entity::oauth_client::{ActiveModel, Entity};
use futures_util::{StreamExt as _, future::join_all, stream};
use poem::http::Method;
use sea_orm::{ActiveValue::Set, EntityTrait as _};
use serde_json::json;

use super::{behind_a_proxy, get_from};
use crate::support::{actor::Answer, app::TestApp, browser::Browser};

async fn post_from(app: &TestApp, address: &str, path: &str, body: &str, media_type: &str) -> Answer {
    let headers = [("x-forwarded-for", address), ("content-type", media_type)];
    app.anonymous().send(Method::POST, path, Some(body.to_owned()), &headers).await
}

#[tokio::test]
async fn the_issuer_is_asked_so_often_by_one_address() {
    let app = behind_a_proxy(2).await;
    let redeem =
        async |address| post_from(&app, address, "/oauth/token", "x=1", "application/x-www-form-urlencoded").await;
    let redeemed = join_all((0..600).map(|_| redeem("198.51.100.1"))).await;
    assert!(redeemed.iter().all(|answer| answer.status == 400));
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
    let begun = join_all((0..600).map(|_| get_from(&app, "198.51.100.1", "/auth/callback"))).await;
    assert!(begun.iter().all(|answer| answer.status != 429));
    for path in ["/auth/login", "/auth/callback?code=x&state=x", "/oauth/authorize", "/account/search/callback"] {
        assert_eq!(get_from(&app, "198.51.100.1", path).await.expect(429).header("retry-after"), "1");
    }
    assert_ne!(get_from(&app, "198.51.100.2", "/auth/login").await.status.as_u16(), 429);
}

/// The clock stands still, so that all come at the same instant.
#[tokio::test]
async fn an_office_of_a_hundred_people_behind_one_address_signs_in_at_once() {
    let app = TestApp::start(|config| config.rate_limit.enabled = true).await;
    let opened = stream::iter(0..100).map(async |number: usize| {
        let browser = Browser::new(&app.service.base_url);
        let form = browser.get("/auth/login?return_to=/account").await;
        browser.get(&form.location).await.expect(200, &["Sign in"]);
        browser.sign_in(["owner", "editor", "viewer", "stranger", "lapsed"][number % 5]).await;
        browser.get("/account").await.expect(200, &[]);
    });
    opened.buffer_unordered(20).collect::<Vec<()>>().await;
}

#[tokio::test]
async fn one_address_cannot_close_registration_for_others() {
    let app = behind_a_proxy(2).await;
    let register = async |address: &str, uri: &str| {
        let metadata = json!({ "redirect_uris": [uri] }).to_string();
        post_from(&app, address, "/oauth/register", &metadata, "application/json").await
    };
    let good = "http://127.0.0.1/callback";
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

async fn register_from(app: &TestApp, address: &str) -> Answer {
    let metadata = json!({ "redirect_uris": ["http://127.0.0.1/callback"] }).to_string();
    post_from(app, address, "/oauth/register", &metadata, "application/json").await
}

#[tokio::test]
async fn one_network_shuts_registration_for_nobody_else() {
    let app = behind_a_proxy(2).await;
    for site in 0..40 {
        register_from(&app, &format!("2001:db8:1:{site:x}::1")).await.expect(201);
    }
    let refused = register_from(&app, "2001:db8:1:ffff::1").await.expect(429);
    assert_eq!(
        (refused.json["error"].as_str(), refused.header("retry-after")),
        (Some("temporarily_unavailable"), "90")
    );
    register_from(&app, "2001:db8:2::1").await.expect(201);
    app.hand.advance(TimeDelta::seconds(90));
    register_from(&app, "2001:db8:1:ffff::1").await.expect(201);
}

#[tokio::test]
async fn each_network_can_always_register_one_client_an_hour() {
    let app = behind_a_proxy(2).await;
    let row = |number: u64| ActiveModel {
        id: Set(format!("flood-{number}")),
        name: Set(None),
        redirect_uris: Set(json!(["https://client.example/callback"]).to_string()),
        refreshes: Set(false),
        uses_device_codes: Set(false),
        created_at: Set(crate::support::app::start_of_test()),
        added_by_operator: Set(false),
        secret_hash: Set(None),
    };
    Entity::insert_many((0..1_000).map(row)).exec_without_returning(&app.service.db).await.unwrap();
    for honest in ["198.51.100.1", "2001:db8:1::1", "2001:db8:2::1"] {
        register_from(&app, honest).await.expect(201);
        register_from(&app, honest).await.expect(429);
    }
    register_from(&app, "2001:db8:1:ffff::1").await.expect(429);
    app.hand.advance(TimeDelta::hours(1) + TimeDelta::seconds(1));
    for _ in 0..3 {
        register_from(&app, "198.51.100.1").await.expect(201);
    }
}

/// Each authorization leaves a grant and a code for a day, and needs no page once a client is allowed.
#[tokio::test]
async fn a_person_is_authorized_so_often_in_an_hour() {
    let app = behind_a_proxy(2).await;
    let query = |name: &str| {
        format!(
            "/oauth/authorize?response_type=code&client_id=sightline-cli&redirect_uri=http://127.0.0.1/callback&code_challenge={}\
             &code_challenge_method=S256&login_hint={name}",
            common::digest::pkce_challenge(&"v".repeat(64))
        )
    };
    let (owner, editor) = (query("owner"), query("editor"));
    let location =
        async |query: &str| get_from(&app, "198.51.100.1", query).await.expect(303).header("location").to_owned();
    for _ in 0..120 {
        assert!(location(&owner).await.contains("code="));
    }
    assert!(location(&owner).await.contains("error=temporarily_unavailable"));
    assert!(location(&editor).await.contains("code="));
    app.hand.advance(TimeDelta::seconds(30));
    assert!(location(&owner).await.contains("code="));
}
