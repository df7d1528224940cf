//! Tests of operators' commands: the key of stored secrets, the signing key, clients, and who may register one.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use common::{clock::Clock, random::Random};
use serde_json::{Value, json};
use sightline::{
    app::{self, Service},
    config::{Config, Registration},
};
use tempfile::TempDir;

use crate::{
    commands::{Running, sightline},
    support::{
        actor::{Actor, Answer},
        app::{Socket, TestApp, settings, start_of_test},
    },
};

const ANY_PORT: (&str, &str) = ("LISTEN", "127.0.0.1:0");

async fn start(socket: &Socket, config: &Config) -> Service {
    let (clock, _) = Clock::manual(start_of_test());
    Box::pin(app::start_on(socket.listener(), config.clone(), clock, Random::system())).await.unwrap()
}

async fn keyed(actor: &Actor, path: &str, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
    actor.send(poem::http::Method::POST, path, Some(body.to_string()), &headers).await.expect(201)
}

#[tokio::test]
async fn everything_that_is_sealed_outlives_a_new_key() {
    let (folder, database) = (TempDir::new().unwrap(), test_data::postgres::fresh().await);
    let mut config = settings();
    config.data_dir = folder.path().join("data").display().to_string();
    config.database.url = database.as_ref().map(|fresh| fresh.url.clone());
    let socket = Socket::bind();
    let first = start(&socket, &config).await;
    let owner = Actor::signed_in(&first.base_url, "owner").await;
    let property = owner.property("northmoor").await;
    let links = format!("/api/properties/{property}/share-links");
    let made = keyed(&owner, &links, &json!({ "name": "Board" })).await;
    let question = format!("/api/properties/{property}/performance");
    let performance = owner.get(&question).await.expect(200).json["data"].clone();

    let refused = app::rotate_secrets(&config, &Random::system()).await.unwrap_err().to_string();
    assert!(refused.contains("another process"), "{refused}");
    first.shutdown().await;
    let rotated = app::rotate_secrets(&config, &Random::system()).await.unwrap();
    assert!(rotated.count >= 4, "a signing key, search accounts, a link, a replay: {rotated:?}");

    let second = start(&socket, &config).await;
    let again = keyed(&owner, &links, &json!({ "name": "Board" })).await;
    assert_eq!((again.header("idempotency-replayed"), &again.bytes), ("true", &made.bytes), "the replay and the token");
    let token = &made.json["data"]["token"];
    assert!(token.is_string() && owner.listed(&links).await[0]["token"] == *token, "the link is shown again");
    assert_eq!(owner.get(&question).await.expect(200).json["data"], performance, "the grant of the search account");
    second.shutdown().await;
}

fn key_file(folder: &Path) -> PathBuf {
    folder.join("data/secrets.key")
}

/// The moments of the kills are spread over the time that the command takes.
#[tokio::test]
async fn the_command_may_be_killed_at_any_time() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    Actor::signed_in(&server.url, "owner").await;
    drop(server);
    let first = fs::read_to_string(key_file(folder.path())).unwrap();
    for delay in [0, 20, 40, 60, 80, 110, 150, 200] {
        let mut command = sightline(folder.path(), &["secrets", "rotate"], &[]).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(delay)).await;
        let _ = command.kill();
        command.wait().unwrap();
    }
    let done = sightline(folder.path(), &["secrets", "rotate"], &[]).output().unwrap();
    let (said, problem) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    assert!(done.status.success() && said.starts_with("resealed: "), "{said}{problem}");
    let last = fs::read_to_string(key_file(folder.path())).unwrap();
    assert!(last.len() == 64 && last != first);

    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    let owner = Actor::signed_in(&server.url, "owner").await;
    let health = owner.get("/api/accounts/health").await.expect(200);
    assert_eq!(health.json["data"][0]["status"], "connected");
    let refused = sightline(folder.path(), &["secrets", "rotate"], &[]).output().unwrap();
    assert!(!refused.status.success() && String::from_utf8(refused.stderr).unwrap().contains("another process"));
}

#[tokio::test]
async fn a_service_that_runs_publishes_the_key_that_a_command_made() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    let owner = Actor::signed_in(&server.url, "owner").await;
    let rotated = sightline(folder.path(), &["keys", "rotate"], &[]).output().unwrap();
    let said = String::from_utf8(rotated.stdout).unwrap();
    assert!(rotated.status.success(), "{}", String::from_utf8(rotated.stderr).unwrap());
    let new = said.lines().next().unwrap().strip_prefix("new key: ").unwrap();
    let keys = Actor::anonymous(&server.url).get("/oauth/jwks").await.expect(200).json["keys"].clone();
    assert_eq!((keys.as_array().unwrap().len(), &keys[0]["kid"]), (2, &json!(new)));
    owner.get("/api/properties").await.expect(200);
    Actor::signed_in(&server.url, "owner").await.get("/api/properties").await.expect(200);
}

#[tokio::test]
async fn with_registration_closed_only_operators_add_clients() {
    let open = TestApp::start(|_| {}).await;
    let closed = TestApp::start(|config| config.identity.registration = Registration::Closed).await;
    let client = json!({ "redirect_uris": ["https://app.example/cb"] });
    for (app, status) in [(&open, 201), (&closed, 404)] {
        let anonymous = app.anonymous();
        anonymous.post("/oauth/register", &client).await.expect(status);
        for path in ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] {
            let metadata = anonymous.get(path).await.expect(200).json;
            assert_eq!(metadata.get("registration_endpoint").is_some(), status == 201, "{metadata}");
            assert_eq!(metadata["client_id_metadata_document_supported"], true);
        }
        app.actor("owner").await.get("/api/properties").await.expect(200);
    }
}

#[tokio::test]
async fn a_client_that_a_command_removes_is_refused_by_the_running_service() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    let run = |arguments: &[&str]| {
        let output = sightline(folder.path(), arguments, &[]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8(output.stderr).unwrap());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let id = run(&["client", "add", "--name", "Board", "--redirect-uri", "http://127.0.0.1/cb"]);
    let verifier = "v".repeat(43);
    let query = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("response_type", "code")
        .append_pair("client_id", &id)
        .append_pair("redirect_uri", "http://127.0.0.1/cb")
        .append_pair("login_hint", "owner")
        .append_pair("code_challenge_method", "S256")
        .append_pair("code_challenge", &common::digest::pkce_challenge(&verifier))
        .finish();
    let anonymous = Actor::anonymous(&server.url);
    let answer = anonymous.get(&format!("/oauth/authorize?{query}")).await.expect(303);
    let location: url::Url = answer.header("location").parse().unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let form = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "authorization_code")
        .append_pair("client_id", &id)
        .append_pair("redirect_uri", "http://127.0.0.1/cb")
        .append_pair("code", &code)
        .append_pair("code_verifier", &verifier)
        .finish();
    let typed = [("content-type", "application/x-www-form-urlencoded")];
    let tokens = anonymous.send(poem::http::Method::POST, "/oauth/token", Some(form), &typed).await.expect(200);
    let person = Actor::with_token(&server.url, tokens.json["access_token"].as_str().unwrap());
    person.get("/api/properties").await.expect(200);
    let listed = run(&["client", "list"]);
    assert!(listed.contains(&id) && listed.contains("current access: 1"), "{listed}");
    assert_eq!(run(&["client", "remove", &id]), "removed; access ended: 1");
    person.until("/api/properties", 401).await;
    anonymous.get(&format!("/oauth/authorize?{query}")).await.expect(400);
}

#[tokio::test]
async fn health_says_whether_the_service_of_the_settings_is_ready() {
    let folder = TempDir::new().unwrap();
    let server = Running::start(sightline(folder.path(), &["serve"], &[ANY_PORT]));
    let address = server.url.strip_prefix("http://").unwrap().to_owned();
    let health = || {
        let mut command = sightline(folder.path(), &["health"], &[("LISTEN", &address)]);
        // A proxy does not know this machine's loopback address.
        let output = command.env("HTTP_PROXY", "http://127.0.0.1:1").output().unwrap();
        (output.status.code(), [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap()))
    };
    let (code, [said, _]) = health();
    assert_eq!((code, said.as_str()), (Some(0), "ok\n"));
    server.terminate();
    let (code, [said, refusal]) = health();
    assert_eq!((code, said.as_str()), (Some(1), ""));
    assert!(refusal.contains(&format!("listen: no service answers at {address}")), "{refusal}");
}

#[test]
fn the_version_has_the_day_of_the_build() {
    let folder = TempDir::new().unwrap();
    let output = sightline(folder.path(), &["--version"], &[]).output().unwrap();
    let day = option_env!("SIGHTLINE_BUILD_DATE").unwrap_or("dev");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("sightline {} ({day})\n", env!("CARGO_PKG_VERSION")));
}
