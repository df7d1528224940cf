//! Tests of fetching the issuer's keys, and of the issuer's key storage.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use chrono::TimeDelta;
use common::{clock::Clock, random::Random, secrets::Secrets};
use identity::{
    issuer::Issuer,
    jwks::{Jwks, KeyError},
    token::{TokenError, Verifier},
};
use issuer::{IdentityProvider, Settings};
use poem::{
    EndpointExt, Route, Server, get, handler,
    listener::{Acceptor, Listener, TcpListener},
    web::Data,
};
use serde_json::json;

use super::{TestIssuer, client, start_time, text};

#[derive(Clone, Default)]
struct Counting {
    base: String,
    reads: Arc<AtomicUsize>,
}

#[handler]
fn discovery(Data(counting): Data<&Counting>) -> String {
    let base = &counting.base;
    json!({
        "issuer": base, "authorization_endpoint": format!("{base}/a"), "jwks_uri": format!("{base}/jwks"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    })
    .to_string()
}

#[handler]
fn jwks(Data(counting): Data<&Counting>) -> String {
    counting.reads.fetch_add(1, Ordering::SeqCst);
    // A symmetric key and one of an unknown type beside a usable one.
    json!({ "keys": [
        { "kty": "oct", "kid": "secret", "k": "AAAA", "alg": "HS256" },
        { "kty": "future", "kid": "new" },
        { "kty": "OKP", "crv": "Ed25519", "kid": "good", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" },
    ]})
    .to_string()
}

#[tokio::test]
async fn unknown_keys_ask_the_issuer_once_per_interval() {
    let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
    let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
    let counting = Counting { base: base.clone(), ..Counting::default() };
    let routes = Route::new().at("/.well-known/openid-configuration", get(discovery)).at("/jwks", get(jwks));
    tokio::spawn(Server::new_with_acceptor(acceptor).run(routes.data(counting.clone())));
    let (clock, hand) = Clock::manual(start_time());
    let keys = Jwks::new(Issuer::new(&base, client(), clock.clone()).unwrap(), clock);
    let reads = || counting.reads.load(Ordering::SeqCst);
    let (first, second) = tokio::join!(keys.key(Some("good")), keys.key(Some("good")));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(reads(), 1, "two requests at once make one call");
    for kid in ["secret", "new", "unknown"] {
        assert!(matches!(keys.key(Some(kid)).await, Err(KeyError::Unknown)), "{kid}");
    }
    assert_eq!(reads(), 1);
    hand.advance(TimeDelta::seconds(31));
    assert!(keys.key(Some("unknown")).await.is_err());
    assert!(keys.key(Some("unknown")).await.is_err());
    assert_eq!(reads(), 2);
    assert!(keys.key(None).await.is_ok(), "the only usable key serves tokens without a key id");
}

#[tokio::test]
async fn an_issuer_that_is_away_makes_no_token_invalid() {
    let issuer = TestIssuer::start().await;
    let (_, tokens) = issuer.tokens().await;
    let nowhere = Issuer::new("http://127.0.0.1:1", client(), issuer.clock.clone()).unwrap();
    let keys = Jwks::new(nowhere, issuer.clock.clone());
    let verifier = Verifier::new(keys, issuer.clock.clone());
    let sent = text(&tokens, "access_token");
    let answer = verifier.verify(sent, &issuer.base).await;
    assert!(matches!(answer, Err(TokenError::IssuerUnavailable(_))), "{answer:?}");
    let token = issuer.verifier.verify(sent, &issuer.base).await.unwrap();
    identity::revocation::revoke_token(&issuer.db, &token.id, token.expires_at, start_time()).await.unwrap();
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 401, "one token can be revoked by its id");
}

#[test]
fn issuers_are_https_except_on_this_machine() {
    for (url, good) in [
        ("https://id.example", true),
        ("http://localhost:8080", true),
        ("http://[::1]:8080", true),
        ("http://id.example", false),
        ("https://id.example?x", false),
        ("ftp://id.example", false),
        ("id.example", false),
    ] {
        assert_eq!(Issuer::new(url, client(), Clock::manual(start_time()).0).is_ok(), good, "{url}");
    }
}

#[tokio::test]
async fn the_signing_key_outlives_the_process_and_is_stored_sealed() {
    let issuer = TestIssuer::start().await;
    let first = issuer.provider.keys.public().await.unwrap();
    let settings = Settings {
        base_url: issuer.base.parse().unwrap(),
        audiences: Vec::new(),
        demo_people: &[],
        demo_sign_in: false,
    };
    let again = |key| {
        let (clock, random) = (issuer.clock.clone(), Random::seeded(9));
        let secrets = Secrets::new(key, random.clone());
        IdentityProvider::new(settings.clone(), issuer.db.clone(), secrets, clock, random)
    };
    assert_eq!(again([7; 32]).keys.public().await.unwrap(), first);
    assert!(again([8; 32]).keys.public().await.is_err(), "another secrets key cannot open it");
}
