//! Tests of the authorization code grant with PKCE, as clients run it.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::{Server, read, whole};
use crate::Settings;

const BACK: &str = "http://127.0.0.1:9/callback";
const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-allowed-by-the-rules";
const SCOPE: &str = "openid email https://www.googleapis.com/auth/webmasters.readonly";

/// The URL of a valid authorization request with the parameters of `more`.
fn address(server: &Server, more: &[(&str, &str)]) -> Url {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let fixed = [
        ("response_type", "code"),
        ("client_id", "me"),
        ("redirect_uri", BACK),
        ("scope", SCOPE),
        ("state", "s t&te"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("access_type", "offline"),
        ("prompt", "consent"),
    ];
    let kept = fixed.into_iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    Url::parse_with_params(&server.url("/o/oauth2/v2/auth"), kept.chain(more.iter().copied())).unwrap()
}

/// The parameters of the redirect.
async fn returned(server: &Server, more: &[(&str, &str)]) -> Value {
    let response = server.client.get(address(server, more)).send().await.unwrap();
    assert_eq!(response.status(), 302);
    let location = Url::parse(response.headers()["location"].to_str().unwrap()).unwrap();
    assert!(location.as_str().starts_with(BACK));
    location.query_pairs().into_owned().map(|(name, value)| (name, Value::String(value))).collect()
}

async fn code(server: &Server, more: &[(&str, &str)]) -> String {
    let mut with_hint = more.to_vec();
    with_hint.push(("login_hint", "owner@demo.test"));
    returned(server, &with_hint).await["code"].as_str().unwrap().to_owned()
}

async fn exchange(server: &Server, code: &str) -> (u16, Value) {
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", "me"),
        ("client_secret", "any"),
        ("code", code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    server.form("/token", &form).await
}

async fn refresh(server: &Server, token: &str) -> (u16, Value) {
    let form =
        [("grant_type", "refresh_token"), ("client_id", "me"), ("client_secret", "any"), ("refresh_token", token)];
    server.form("/token", &form).await
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[tokio::test]
async fn a_code_becomes_tokens_that_work_expire_and_are_renewed() {
    let server = Server::start().await;
    let back = returned(&server, &[("login_hint", "owner")]).await;
    assert_eq!(back["state"], "s t&te");
    let (status, tokens) = exchange(&server, text(&back["code"])).await;
    assert_eq!(status, 200, "{tokens}");
    assert_eq!((&tokens["expires_in"], &tokens["token_type"]), (&json!(3599), &json!("Bearer")));
    assert_eq!((text(&tokens["scope"]), text(&tokens["id_token"]).split('.').count()), (SCOPE, 3));
    let access = text(&tokens["access_token"]);
    assert_eq!(server.get("/webmasters/v3/sites", access).await.1["siteEntry"].as_array().unwrap().len(), 6);
    let (_, person) = server.get("/userinfo", access).await;
    assert_eq!((&person["email"], &person["email_verified"]), (&json!("owner@demo.test"), &json!(true)));

    server.hand.advance(TimeDelta::seconds(3598));
    assert_eq!(server.get("/webmasters/v3/sites", access).await.0, 200);
    server.hand.advance(TimeDelta::seconds(1));
    assert_eq!(server.get("/webmasters/v3/sites", access).await.0, 401);
    let (status, renewed) = refresh(&server, text(&tokens["refresh_token"])).await;
    assert_eq!((status, renewed.get("refresh_token")), (200, None));
    assert_eq!(server.get("/webmasters/v3/sites", text(&renewed["access_token"])).await.0, 200);
}

#[tokio::test]
async fn basic_credentials_are_accepted() {
    let server = Server::start().await;
    let code = code(&server, &[]).await;
    let form =
        [("grant_type", "authorization_code"), ("code", &code), ("redirect_uri", BACK), ("code_verifier", VERIFIER)];
    let send = server.client.post(server.url("/token")).basic_auth("me", Some("any")).form(&form).send();
    assert_eq!(read(send.await.unwrap()).await.0, 200);
    let (status, answer) = server.form("/token", &form).await;
    assert_eq!((status, &answer["error"]), (401, &json!("invalid_client")));
}

#[tokio::test]
async fn a_code_works_once_in_time_and_only_for_its_client_address_and_verifier() {
    let server = Server::start().await;
    let good = code(&server, &[]).await;
    let wrong = [
        ("client_id", "other"),
        ("redirect_uri", "http://127.0.0.1:9/other"),
        ("code_verifier", "guess"),
        ("code", "4/0Anonsense.x"),
    ];
    for (name, value) in wrong {
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("client_id", "me"),
            ("client_secret", "any"),
            ("code", &*good),
            ("redirect_uri", BACK),
            ("code_verifier", VERIFIER),
        ];
        form.retain(|(other, _)| *other != name);
        form.push((name, value));
        assert_eq!(server.form("/token", &form).await.0, 400, "{name}");
    }
    assert_eq!(exchange(&server, &good).await.0, 200);
    let again = exchange(&server, &good).await;
    assert_eq!((again.0, &again.1["error"]), (400, &json!("invalid_grant")));
    let late = code(&server, &[]).await;
    server.hand.advance(TimeDelta::minutes(11));
    assert_eq!(exchange(&server, &late).await.1["error"], "invalid_grant");
}

#[tokio::test]
async fn refresh_tokens_need_offline_access_and_consent() {
    let server = Server::start().await;
    for more in [("access_type", "online"), ("prompt", "select_account")] {
        let code = code(&server, &[more]).await;
        let (status, tokens) = exchange(&server, &code).await;
        assert_eq!((status, tokens.get("refresh_token")), (200, None));
    }
    let lasting = async |more: &[(&str, &str)]| {
        let tokens = exchange(&server, &code(&server, more).await).await.1;
        (tokens.get("refresh_token").is_some(), text(&tokens["access_token"]).to_owned())
    };
    let (agency, quiet) = (("login_hint", "agency"), ("prompt", "none"));
    let first = lasting(&[agency, quiet]).await;
    assert!(first.0, "the first consent of this account");
    assert!(!lasting(&[agency, quiet]).await.0);
    assert!(lasting(&[agency, ("prompt", "consent")]).await.0);
    assert_eq!(server.form("/revoke", &[("token", &first.1)]).await.0, 200);
    assert!(lasting(&[agency, quiet]).await.0, "the first consent after the end of the former");
}

#[tokio::test]
async fn grants_survive_a_restart_but_not_another_seed() {
    let first = Server::start().await;
    let tokens = exchange(&first, &code(&first, &[]).await).await.1;
    first.simulator.shutdown().await;
    let second = Server::start().await;
    assert_eq!(second.get("/webmasters/v3/sites", text(&tokens["access_token"])).await.0, 200);
    assert_eq!(refresh(&second, text(&tokens["refresh_token"])).await.0, 200);
    let other = Server::with(Settings { seed: 8, ..Settings::default() }).await;
    assert_eq!(refresh(&other, text(&tokens["refresh_token"])).await.1["error"], "invalid_grant");
}

#[tokio::test]
async fn revoking_any_token_ends_the_grant() {
    let server = Server::start().await;
    let tokens = exchange(&server, &code(&server, &[]).await).await.1;
    let access = text(&tokens["access_token"]);
    assert_eq!(server.form("/revoke", &[("token", access)]).await.0, 200);
    assert_eq!(server.get("/webmasters/v3/sites", access).await.0, 401);
    let dead = refresh(&server, text(&tokens["refresh_token"])).await;
    let description = "Token has been expired or revoked.";
    assert_eq!(dead, (400, json!({ "error": "invalid_grant", "error_description": description })));
    assert_eq!(server.form("/revoke", &[("token", access)]).await.1["error"], "invalid_token");
    let fresh = exchange(&server, &code(&server, &[]).await).await;
    assert_eq!(fresh.0, 200);
}

#[tokio::test]
async fn a_person_can_remove_the_access_of_a_client_outside_of_it() {
    let server = Server::start().await;
    let tokens = exchange(&server, &code(&server, &[]).await).await.1;
    let page = async || {
        let page = server.client.get(server.url("/o/oauth2/v2/permissions")).send().await.unwrap();
        whole(page).await.unwrap()
    };
    assert!(page().await.contains("owner@demo.test: me"));
    let form = [("client_id", "me"), ("account", "owner")];
    let sent = server.client.post(server.url("/o/oauth2/v2/permissions")).form(&form).send().await.unwrap();
    assert_eq!(sent.status(), 200);
    assert!(!page().await.contains("owner@demo.test: me"));
    assert_eq!(refresh(&server, text(&tokens["refresh_token"])).await.1["error"], "invalid_grant");
}

#[tokio::test]
async fn a_browser_shows_the_page_and_its_form_comes_from_there() {
    let server = Server::start().await;
    let hinted = address(&server, &[("login_hint", "owner@demo.test")]);
    let send =
        async |site: &str| server.client.get(hinted.clone()).header("sec-fetch-site", site).send().await.unwrap();
    let page = send("cross-site").await;
    assert_eq!(page.status(), 200);
    let html = whole(page).await.unwrap();
    assert!(html.contains("owner@demo.test") && !html.contains("stranger@demo.test"), "the hinted account only");
    assert_eq!(send("same-origin").await.status(), 302);
}

#[tokio::test]
async fn a_grant_can_be_refused_or_narrowed() {
    let server = Server::start().await;
    let back = returned(&server, &[("deny", "1")]).await;
    assert_eq!(back, json!({ "state": "s t&te", "error": "access_denied" }));
    let code_of_narrow = code(&server, &[("granted_scope", "openid")]).await;
    let narrow = exchange(&server, &code_of_narrow).await.1;
    assert_eq!(narrow["scope"], "openid");
    let (status, answer) = server.get("/webmasters/v3/sites", text(&narrow["access_token"])).await;
    assert_eq!((status, &answer["error"]["errors"][0]["reason"]), (403, &json!("insufficientPermissions")));
    assert_eq!(answer["error"]["details"][0]["reason"], "ACCESS_TOKEN_SCOPE_INSUFFICIENT");
    assert!(server.get("/userinfo", text(&narrow["access_token"])).await.1.get("email").is_none());
    server.simulator.controls().withhold_scopes(vec!["email".to_owned()]);
    let withheld = exchange(&server, &code(&server, &[]).await).await.1;
    assert!(!text(&withheld["scope"]).contains("email"));
}

#[tokio::test]
async fn without_a_hint_a_page_lists_the_accounts() {
    let server = Server::start().await;
    let page = server.client.get(address(&server, &[("state", "\"><script>")])).send().await.unwrap();
    assert_eq!(page.status(), 200);
    let html = whole(page).await.unwrap();
    assert!(html.contains("owner@demo.test") && html.contains("lapsed@demo.test"));
    assert!(!html.contains("<script>") && html.contains("&quot;&gt;&lt;script&gt;"));
}

#[tokio::test]
async fn faulty_authorization_requests_are_refused() {
    let server = Server::start().await;
    for more in [("client_id", ""), ("redirect_uri", "javascript:alert(1)"), ("redirect_uri", "/relative")] {
        assert_eq!(server.client.get(address(&server, &[more])).send().await.unwrap().status(), 400, "{more:?}");
    }
    let error = async |more: &[(&str, &str)]| returned(&server, more).await["error"].clone();
    assert_eq!(error(&[("response_type", "token")]).await, "unsupported_response_type");
    assert_eq!(error(&[("code_challenge_method", "plain")]).await, "invalid_request");
    assert_eq!(error(&[("scope", "")]).await, "invalid_request");
}

#[tokio::test]
async fn dead_grants_can_be_simulated() {
    let faults = vec!["invalid_grant:1".parse().unwrap()];
    let server = Server::with(Settings { faults, ..Settings::default() }).await;
    let tokens = exchange(&server, &code(&server, &[]).await).await;
    assert_eq!(tokens.0, 200);
    assert_eq!(refresh(&server, text(&tokens.1["refresh_token"])).await.1["error"], "invalid_grant");
}
