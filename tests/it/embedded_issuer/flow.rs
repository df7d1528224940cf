//! Tests of the whole flow: tokens, refresh, revocation, browser sessions, the `login` command.

use chrono::TimeDelta;
use common::random::Random;
use sightline::cli::remote::login::{EVERYTHING, login};

use super::{Answer, REDIRECT_URI, TestIssuer, client, text};
use crate::support::cookies::set_cookie;

/// The scopes that a client gets that asks for none of them.
pub const EVERY_RIGHT: &str = "search:read records:write account";

#[tokio::test]
async fn a_client_gets_tokens_that_both_surfaces_accept() {
    let issuer = TestIssuer::start().await;
    let (_, tokens) = issuer.tokens().await;
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["expires_in"], 3600);
    assert_eq!(tokens["scope"], format!("openid profile email offline_access {EVERY_RIGHT}"));
    let access = text(&tokens, "access_token");
    let api = issuer.api(access).await;
    assert_eq!(api.status, 200);
    assert!(api.body.contains("owner@demo.test"), "{}", api.body);
    let mcp = Answer::of(issuer.http.get(format!("{}/mcp", issuer.base)).bearer_auth(access)).await;
    assert_eq!(mcp.status, 200);
    let user = Answer::of(issuer.http.get(format!("{}/oauth/userinfo", issuer.base)).bearer_auth(access)).await.json();
    assert_eq!((text(&user, "sub"), text(&user, "email")), ("demo-owner", "owner@demo.test"));
    // An ID token is not an access token.
    assert_eq!(issuer.api(text(&tokens, "id_token")).await.status, 401);
}

#[tokio::test]
async fn a_resource_is_the_same_in_capitals() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    for resource in [format!("{}/mcp", issuer.base.replace("http:", "HTTP:")), format!("{}/mcp/", issuer.base)] {
        let code = issuer.code(&client, &[("resource", &resource)]).await;
        assert!(!code.is_empty(), "{resource}");
    }
}

/// Some clients merge the header of their requests with the one of the form.
#[tokio::test]
async fn a_client_with_a_merged_content_type_gets_its_tokens() {
    let issuer = TestIssuer::start().await;
    let (client, tokens) = issuer.tokens().await;
    let form = format!("grant_type=refresh_token&client_id={client}&refresh_token={}", text(&tokens, "refresh_token"));
    let merged = "application/json, application/x-www-form-urlencoded";
    let request = issuer.http.post(format!("{}/oauth/token", issuer.base)).header("content-type", merged).body(form);
    assert_eq!(Answer::of(request).await.status, 200);
}

/// Some assistants send the root of the host of `/mcp`, whatever its metadata names.
#[tokio::test]
async fn the_root_of_a_host_means_every_resource_there() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    for root in [issuer.base.clone(), format!("{}/", issuer.base), issuer.base.replace("http:", "HTTP:")] {
        let code = issuer.code(&client, &[("resource", &root)]).await;
        let tokens = issuer.redeem(&client, &code, &[("resource", &root)]).await.json();
        let access = text(&tokens, "access_token");
        assert_eq!(issuer.api(access).await.status, 200, "{root}");
        let mcp = issuer.http.get(format!("{}/mcp", issuer.base)).bearer_auth(access);
        assert_eq!(Answer::of(mcp).await.status, 200, "{root}");
    }
    for other in [format!("{}/?a=b", issuer.base), format!("{}/api", issuer.base)] {
        let refused = issuer.authorize(&client, &[("resource", &other)]).await.redirect();
        assert_eq!(refused["error"], "invalid_target", "{other}");
    }
}

#[tokio::test]
async fn a_narrowed_token_works_on_its_own_surface_only() {
    let issuer = TestIssuer::start().await;
    let (client, mcp) = (issuer.client().await, format!("{}/mcp", issuer.base));
    let code = issuer.code(&client, &[("resource", &issuer.base)]).await;
    issuer.redeem(&client, &code, &[("resource", "https://elsewhere.example")]).await.refused("invalid_target");
    // The root means every resource of the grant, and widens nothing.
    for again in [&[][..], &[("resource", issuer.base.as_str())]] {
        let code = issuer.code(&client, &[("resource", &mcp)]).await;
        let tokens = issuer.redeem(&client, &code, again).await.json();
        let access = text(&tokens, "access_token");
        assert_eq!(Answer::of(issuer.http.get(&mcp).bearer_auth(access)).await.status, 200);
        assert_eq!(issuer.api(access).await.status, 401);
    }
    let code = issuer.code(&client, &[("resource", &mcp)]).await;
    let tokens = issuer.redeem(&client, &code, &[]).await.json();
    let api = issuer.api(text(&tokens, "access_token")).await;
    let metadata = format!("{}/.well-known/oauth-protected-resource", issuer.base);
    assert_eq!(
        api.header("www-authenticate"),
        format!("Bearer error=\"invalid_token\", resource_metadata=\"{metadata}\"")
    );
}

#[tokio::test]
async fn tokens_expire_and_a_refresh_token_renews_them_once() {
    let issuer = TestIssuer::start().await;
    let (client, tokens) = issuer.tokens().await;
    issuer.hand.advance(TimeDelta::seconds(3_604));
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200, "within the leeway");
    issuer.hand.advance(TimeDelta::seconds(1));
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 401);
    let first = text(&tokens, "refresh_token");
    let renewed = issuer.refresh(&client, first).await.json();
    assert_ne!(text(&renewed, "refresh_token"), first);
    assert_eq!(issuer.api(text(&renewed, "access_token")).await.status, 200);
    // The used token comes back later: somebody else has it, and the whole grant ends.
    issuer.hand.advance(TimeDelta::seconds(31));
    issuer.refresh(&client, first).await.refused("invalid_grant");
    issuer.refresh(&client, text(&renewed, "refresh_token")).await.refused("invalid_grant");
    assert_eq!(issuer.api(text(&renewed, "access_token")).await.status, 401);
}

#[tokio::test]
async fn a_spent_refresh_token_ends_the_grant_for_any_request() {
    let issuer = TestIssuer::start().await;
    for (name, value) in [("scope", "openid admin"), ("resource", "https://elsewhere.example"), ("scope", "email")] {
        let (client, tokens) = issuer.tokens().await;
        let spent = text(&tokens, "refresh_token");
        let renewed = issuer.refresh(&client, spent).await.json();
        issuer.hand.advance(TimeDelta::seconds(31));
        let form = [("grant_type", "refresh_token"), ("client_id", &client), ("refresh_token", spent), (name, value)];
        issuer.post("/oauth/token", &form).await.refused("invalid_grant");
        issuer.refresh(&client, text(&renewed, "refresh_token")).await.refused("invalid_grant");
        assert_eq!(issuer.api(text(&renewed, "access_token")).await.status, 401, "{name} {value}");
    }
}

#[tokio::test]
async fn a_refresh_may_ask_for_less_and_later_for_the_whole_again() {
    let issuer = TestIssuer::start().await;
    let (client, tokens) = issuer.tokens().await;
    let refresh = async |token: &str, scope: &str| {
        let form =
            [("grant_type", "refresh_token"), ("client_id", &client), ("refresh_token", token), ("scope", scope)];
        issuer.post("/oauth/token", &form).await
    };
    let userinfo = async |tokens: &serde_json::Value| {
        let request = issuer.http.get(format!("{}/oauth/userinfo", issuer.base));
        Answer::of(request.bearer_auth(text(tokens, "access_token"))).await
    };
    let narrow = refresh(text(&tokens, "refresh_token"), "profile openid openid").await.json();
    assert_eq!(narrow["scope"], format!("openid profile {EVERY_RIGHT}"));
    let access = text(&narrow, "access_token").split('.').nth(1).unwrap().to_owned();
    let claims = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, access).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!((&claims["scope"], claims.get("email")), (&serde_json::json!("openid profile"), None));
    assert!(userinfo(&narrow).await.json().get("email").is_none());
    let narrower = refresh(text(&narrow, "refresh_token"), "email").await.json();
    assert_eq!(narrower["scope"], format!("email {EVERY_RIGHT}"));
    assert!(narrower.get("id_token").is_none());
    assert_eq!(userinfo(&narrower).await.status, 403);
    let wide = refresh(text(&narrower, "refresh_token"), "openid search:write").await;
    wide.refused("invalid_scope");
    let whole = issuer.refresh(&client, text(&narrower, "refresh_token")).await.json();
    assert_eq!(whole["scope"], format!("openid profile email offline_access {EVERY_RIGHT}"));
    assert_eq!(userinfo(&whole).await.json()["email"], "owner@demo.test");
}

#[tokio::test]
async fn a_code_works_once_for_its_client_address_and_verifier() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let code = issuer.code(&client, &[]).await;
    let tokens = issuer.redeem(&client, &code, &[]).await.json();
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200);
    issuer.hand.advance(TimeDelta::seconds(31));
    issuer.redeem(&client, &code, &[]).await.refused("invalid_grant");
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 401, "a replayed code ends the grant");
    issuer.refresh(&client, text(&tokens, "refresh_token")).await.refused("invalid_grant");
    let other = issuer.client().await;
    let wrong_verifier = "x".repeat(43);
    let near = format!("{REDIRECT_URI}/");
    for change in [
        ("client_id", other.as_str()),
        ("redirect_uri", &near),
        ("code_verifier", &wrong_verifier),
        ("code", "unknown"),
    ] {
        let code = issuer.code(&client, &[]).await;
        issuer.redeem(&client, &code, &[change]).await.refused("invalid_grant");
        if change.0 != "code" {
            issuer.redeem(&client, &code, &[]).await.refused("invalid_grant");
        }
    }
    let code = issuer.code(&client, &[]).await;
    issuer.hand.advance(TimeDelta::seconds(60));
    issuer.redeem(&client, &code, &[]).await.refused("invalid_grant");
}

/// OAuth 2.1 has no `redirect_uri` in a token request. The verifier binds the code to the client that asked for it.
#[tokio::test]
async fn a_code_is_redeemed_without_its_address_by_the_holder_of_the_verifier_alone() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client_at(&[REDIRECT_URI, "https://app.example/cb"]).await;
    let other = issuer.client().await;
    let redeem = async |code: &str, more: &[(&'static str, &str)]| {
        let more: Vec<_> = [("redirect_uri", "")].into_iter().chain(more.iter().copied()).collect();
        issuer.redeem(&client, code, &more).await
    };
    let code = issuer.code(&client, &[]).await;
    let redeemed = redeem(&code, &[]).await;
    assert_eq!(redeemed.status, 200, "{}", redeemed.body);
    assert_eq!(issuer.api(text(&redeemed.json(), "access_token")).await.status, 200);

    // A thief has the code, and not the verifier.
    let wrong = "x".repeat(43);
    for change in [("code_verifier", wrong.as_str()), ("client_id", &other), ("redirect_uri", "https://app.example/cb")]
    {
        let code = issuer.code(&client, &[]).await;
        redeem(&code, &[change]).await.refused("invalid_grant");
        redeem(&code, &[]).await.refused("invalid_grant");
    }
    let code = issuer.code(&client, &[]).await;
    redeem(&code, &[("code_verifier", "")]).await.refused("invalid_request");
    assert_eq!(redeem(&code, &[]).await.status, 200);
}

#[tokio::test]
async fn the_token_endpoint_refuses_malformed_requests() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let code = issuer.code(&client, &[]).await;
    for (change, error) in [
        (("grant_type", ""), "invalid_request"),
        (("grant_type", "password"), "unsupported_grant_type"),
        (("grant_type", "client_credentials"), "unsupported_grant_type"),
        (("client_id", ""), "invalid_request"),
        (("client_id", "nobody"), "invalid_client"),
        (("client_secret", "x"), "invalid_client"),
        (("code", ""), "invalid_request"),
        (("code_verifier", ""), "invalid_request"),
        (("code_verifier", "short"), "invalid_request"),
    ] {
        issuer.redeem(&client, &code, &[change]).await.refused(error);
    }
    let twice =
        [("grant_type", "refresh_token"), ("client_id", &client), ("refresh_token", "a"), ("refresh_token", "b")];
    issuer.post("/oauth/token", &twice).await.refused("invalid_request");
    let json = issuer.http.post(format!("{}/oauth/token", issuer.base)).json(&serde_json::json!({"grant_type": "x"}));
    Answer::of(json).await.refused("invalid_request");
    assert_eq!(issuer.get("/oauth/token").await.status, 405);
    let answer = issuer.redeem(&client, &code, &[]).await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"));
    assert_eq!(answer.header("access-control-allow-origin"), "*");
}

#[tokio::test]
async fn revoking_any_token_ends_the_grant_at_once() {
    let issuer = TestIssuer::start().await;
    for (kind, hint) in [("refresh_token", "access_token"), ("access_token", "nonsense"), ("access_token", "")] {
        let (client, tokens) = issuer.tokens().await;
        let access = text(&tokens, "access_token");
        let stranger = issuer.client().await;
        let revoke = |client: String| {
            let token = text(&tokens, kind).to_owned();
            let issuer = &issuer;
            async move {
                let form = [("token", token.as_str()), ("client_id", &client), ("token_type_hint", hint)];
                issuer.post("/oauth/revoke", &form).await.status
            }
        };
        assert_eq!(revoke(stranger).await, 200);
        assert_eq!(issuer.api(access).await.status, 200, "another client's token is not revoked");
        assert_eq!(revoke(client.clone()).await, 200);
        assert_eq!(issuer.api(access).await.status, 401);
        issuer.refresh(&client, text(&tokens, "refresh_token")).await.refused("invalid_grant");
        assert_eq!(revoke(client).await, 200, "again");
    }
    let client = issuer.client().await;
    assert_eq!(issuer.post("/oauth/revoke", &[("token", "unknown"), ("client_id", &client)]).await.status, 200);
    issuer.post("/oauth/revoke", &[("client_id", &client)]).await.refused("invalid_request");
    issuer.post("/oauth/revoke", &[("token", "x")]).await.refused("invalid_request");
    assert_eq!(issuer.get("/oauth/revoke").await.status, 405);
}

#[tokio::test]
async fn everything_of_a_person_can_be_revoked() {
    let issuer = TestIssuer::start().await;
    let (_, tokens) = issuer.tokens().await;
    issuer::grants::end_all(&issuer.db, "demo-owner", issuer.clock.now()).await.unwrap();
    identity::revocation::revoke_subject(&issuer.db, &issuer.base, "demo-owner", issuer.clock.now()).await.unwrap();
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 401);
    let (_, tokens) = issuer.tokens().await;
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200, "a new sign-in in the same second works");
}

#[tokio::test]
async fn the_login_command_signs_in() {
    let issuer = TestIssuer::start().await;
    let token = login(&issuer.base, "viewer", EVERYTHING, client(), &Random::seeded(3)).await.unwrap();
    assert!(issuer.api(&token).await.body.contains("viewer@demo.test"));
    assert!(login(&issuer.base, "nobody", EVERYTHING, client(), &Random::seeded(3)).await.is_err());
}

#[tokio::test]
async fn a_browser_signs_in_writes_from_its_own_origin_and_signs_out() {
    let issuer = TestIssuer::start().await;
    let cookie = |answer: &Answer, name: &str| {
        let line = set_cookie(&answer.headers, name);
        assert!(line.contains("HttpOnly") && line.contains("SameSite=Lax"), "{line}");
        line.split(';').next().unwrap().to_owned()
    };
    let leaving = issuer.get("/auth/login?login_hint=editor&return_to=/properties").await;
    let attempt = cookie(&leaving, "sightline_attempt");
    let back = Answer::of(issuer.http.get(leaving.header("location"))).await;
    let forged = Answer::of(issuer.http.get(back.header("location"))).await;
    assert_eq!(forged.status, 400, "another browser's answer is refused");
    let signed_in = Answer::of(issuer.http.get(back.header("location")).header("cookie", attempt)).await;
    assert_eq!((signed_in.status, signed_in.header("location")), (303, "/properties"), "{}", signed_in.body);
    let session = cookie(&signed_in, "sightline_session");
    let address = format!("{}/api", issuer.base);
    let read = Answer::of(issuer.http.get(&address).header("cookie", &session)).await;
    assert!(read.body.contains("editor@demo.test"), "{} {}", read.status, read.body);
    for (origin, status) in [("", 403), ("https://evil.example", 403), ("null", 403), (issuer.base.as_str(), 200)] {
        let mut write = issuer.http.post(&address).header("cookie", &session);
        if !origin.is_empty() {
            write = write.header("origin", origin);
        }
        assert_eq!(Answer::of(write).await.status, status, "{origin}");
    }
    let rescued = issuer.http.get(&address).header("cookie", &session).bearer_auth("bad");
    assert_eq!(Answer::of(rescued).await.status, 401, "a cookie never rescues a bad token");
    let leave = issuer.http.post(format!("{}/auth/logout", issuer.base)).header("cookie", &session);
    assert_eq!(Answer::of(leave.header("origin", &issuer.base)).await.status, 204);
    assert_eq!(Answer::of(issuer.http.get(&address).header("cookie", &session)).await.status, 401);
}

#[tokio::test]
async fn what_has_expired_is_swept() {
    let issuer = TestIssuer::start().await;
    issuer.tokens().await;
    assert_eq!(issuer.provider.sweep().await.unwrap(), 0);
    issuer.hand.advance(TimeDelta::days(32));
    assert_eq!(issuer.provider.sweep().await.unwrap(), 5, "code, exchange, refresh token, grant, client");
}
