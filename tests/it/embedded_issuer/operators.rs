//! Tests of clients that operators add and remove.

use chrono::TimeDelta;
use common::{clock::Clock, random::Random};
use issuer::{
    client_metadata::Metadata,
    clients::{DOCS, host_of},
    registry::{self, Origin},
};
use sightline::{
    app::migrate,
    cli::client::{ClientCommand, client},
    config::Config,
};
use url::Url;

use super::{Answer, REDIRECT_URI, TestIssuer, text};

async fn added(issuer: &TestIssuer) -> String {
    added_with(issuer, None).await
}

async fn added_with(issuer: &TestIssuer, secret: Option<&str>) -> String {
    let metadata = Metadata {
        redirect_uris: Some(serde_json::json!([REDIRECT_URI])),
        grant_types: Some(vec!["authorization_code".into(), "refresh_token".into()]),
        ..Metadata::default()
    };
    let (client, random) = (metadata.check().unwrap(), Random::seeded(4));
    registry::insert(&issuer.db, &client, Origin::Operator, secret, &random, issuer.clock.now()).await.unwrap()
}

#[tokio::test]
async fn a_client_that_an_operator_removes_loses_all_access_at_once() {
    let issuer = TestIssuer::start().await;
    let id = added(&issuer).await;
    let tokens = async || {
        let code = issuer.code(&id, &[]).await;
        issuer.redeem(&id, &code, &[]).await.json()
    };
    let (first, second, waiting) = (tokens().await, tokens().await, issuer.code(&id, &[]).await);
    let (other, others) = issuer.tokens().await;
    let listed = registry::list(&issuer.db, issuer.clock.now()).await.unwrap();
    let given: Vec<_> = listed.iter().map(|client| (client.id.as_str(), client.origin, client.grants)).collect();
    assert!(
        given.contains(&(&id, Origin::Operator, 3)) && given.contains(&(&other, Origin::Registration, 1)),
        "{given:?}"
    );

    assert_eq!(registry::remove(&issuer.db, &id, issuer.clock.now()).await.unwrap(), 3);
    for token in [&first, &second] {
        assert_eq!(issuer.api(text(token, "access_token")).await.status, 401);
        issuer.refresh(&id, text(token, "refresh_token")).await.refused("invalid_client");
    }
    issuer.redeem(&id, &waiting, &[]).await.refused("invalid_client");
    assert_eq!(issuer.authorize(&id, &[]).await.status, 400);
    assert_eq!(issuer.api(text(&others, "access_token")).await.status, 200);
    assert!(registry::remove(&issuer.db, &id, issuer.clock.now()).await.is_err(), "it is gone");
    assert!(registry::remove(&issuer.db, DOCS, issuer.clock.now()).await.is_err(), "it is built in");
}

#[tokio::test]
async fn a_client_with_a_secret_needs_it_wherever_it_names_itself() {
    let issuer = TestIssuer::start().await;
    let id = added_with(&issuer, Some("s3cret")).await;
    let (basic, wrong) = (issuer.basic(&id, "s3cret"), issuer.basic(&id, "other"));
    let code = issuer.code(&id, &[]).await;
    issuer.redeem(&id, &code, &[]).await.refused("invalid_client");
    issuer.redeem(&id, &code, &[("client_secret", "other")]).await.refused("invalid_client");
    let tokens = issuer.redeem(&id, &code, &[("client_secret", "s3cret")]).await.json();
    let form = [("grant_type", "refresh_token"), ("refresh_token", text(&tokens, "refresh_token"))];
    Answer::of(wrong("/oauth/token").form(&form)).await.refused("invalid_client");
    let renewed = Answer::of(basic("/oauth/token").form(&form)).await.json();
    let form = [("token", text(&renewed, "refresh_token"))];
    Answer::of(wrong("/oauth/revoke").form(&form)).await.refused("invalid_client");
    assert_eq!(issuer.api(text(&renewed, "access_token")).await.status, 200);
    assert_eq!(Answer::of(basic("/oauth/revoke").form(&form)).await.status, 200);
    assert_eq!(issuer.api(text(&renewed, "access_token")).await.status, 401);
}

#[tokio::test]
async fn a_public_client_may_name_itself_by_basic_without_a_secret() {
    let issuer = TestIssuer::start().await;
    let (client, tokens) = issuer.tokens().await;
    let form = [("grant_type", "refresh_token"), ("refresh_token", text(&tokens, "refresh_token"))];
    Answer::of(issuer.basic(&client, "made up")("/oauth/token").form(&form)).await.refused("invalid_client");
    assert_eq!(Answer::of(issuer.basic(&client, "")("/oauth/token").form(&form)).await.status, 200);
    let form = [("token", text(&tokens, "access_token"))];
    assert_eq!(Answer::of(issuer.basic(&client, "")("/oauth/revoke").form(&form)).await.status, 200);
}

#[tokio::test]
async fn unused_clients_are_deleted_unless_an_operator_added_them() {
    let issuer = TestIssuer::start().await;
    let (id, registered) = (added(&issuer).await, issuer.client().await);
    issuer.hand.advance(TimeDelta::days(400));
    issuer.provider.sweep().await.unwrap();
    assert_eq!(issuer.authorize(&id, &[]).await.status, 303);
    assert_eq!(issuer.authorize(&registered, &[]).await.status, 400);
}

#[tokio::test]
async fn ids_that_are_made_here_are_never_addresses() {
    let issuer = TestIssuer::start().await;
    for id in [added(&issuer).await, issuer.client().await] {
        assert!(Url::parse(&id).is_err() && host_of(&id).is_none(), "{id}");
    }
}

#[tokio::test]
async fn the_command_holds_clients_to_the_rules_of_registration() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().join("data").to_string_lossy().into_owned();
    let config = Config { data_dir, ..Config::default() };
    migrate(&config).await.unwrap();
    let (clock, random) = (Clock::manual(super::start_time()).0, Random::seeded(1));
    let run = async |command: ClientCommand, config: &Config| {
        client(&command, config, &clock, &random).await.map(|text| text.to_string())
    };
    let add = |name: &str, uris: &[&str], no_refresh| {
        let redirect_uri = uris.iter().map(|uri| (*uri).to_owned()).collect();
        ClientCommand::Add { name: name.to_owned(), redirect_uri, no_refresh, secret: false }
    };
    for (name, uri, named) in [
        ("Board", "http://board.example/cb", "redirect_uris"),
        ("Board", "javascript:alert(1)", "redirect_uris"),
        (" ", "https://board.example/cb", "client_name"),
        ("Bank\u{202e}gpj", "https://board.example/cb", "client_name"),
        ("Cla\u{200b}ude", "https://board.example/cb", "client_name"),
    ] {
        let error = run(add(name, &[uri], false), &config).await.unwrap_err().to_string();
        assert!(error.contains(named), "{error}");
    }
    assert_eq!(run(ClientCommand::List, &config).await.unwrap(), "no clients");
    let id = run(add("Board", &["https://board.example/cb", "http://127.0.0.1/cb"], true), &config).await.unwrap();
    assert_eq!(
        run(ClientCommand::List, &config).await.unwrap(),
        format!(
            "id: {id}\nname: \"Board\"\nredirect URIs: [\"https://board.example/cb\", \"http://127.0.0.1/cb\"]\n\
             refresh tokens: no\nsecret: no\norigin: added by an operator on 2026-09-14\ncurrent access: 0"
        )
    );
    assert_eq!(run(ClientCommand::Remove { id: id.clone() }, &config).await.unwrap(), "removed; access ended: 0");
    let redirect_uri = vec!["https://board.example/cb".to_owned()];
    let insistent = ClientCommand::Add { name: "Board".to_owned(), redirect_uri, no_refresh: false, secret: true };
    let printed = run(insistent, &config).await.unwrap();
    let (id, secret) = printed.split_once('\n').unwrap();
    let listed = run(ClientCommand::List, &config).await.unwrap();
    assert!(listed.contains(&format!("id: {id}")) && listed.contains("secret: yes") && !listed.contains(secret));
    let error = run(ClientCommand::Remove { id: "nobody".into() }, &config).await.unwrap_err().to_string();
    assert!(error.contains("nobody"), "{error}");

    let mut external = config.clone();
    external.identity.issuer = "https://id.example".parse().ok();
    let error = run(ClientCommand::List, &external).await.unwrap_err().to_string();
    assert!(error.contains("identity.issuer"), "{error}");
}
