//! Tests with an issuer that hangs, fails or withdraws a key, and of the delay for callers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use common::clock::{Clock, Hand};
use identity::{
    issuer::Issuer,
    jwks::{Jwks, KeyError},
};
use poem::{
    EndpointExt, Response, Route, Server, get, handler,
    http::StatusCode,
    listener::{Acceptor, Listener, TcpListener},
    web::Data,
};
use serde_json::json;

use super::{client, start_time};

/// Longer than any single step here, and shorter than two waits in sequence.
const GUARD: Duration = Duration::from_secs(9);

/// A stub of an issuer, and the keys that a resource server fetches from it.
#[derive(Clone)]
struct Stub {
    base: String,
    documents: Arc<AtomicUsize>,
    key_sets: Arc<AtomicUsize>,
    hangs: Arc<AtomicBool>,
    fails: Arc<AtomicBool>,
    withdrawn: Arc<AtomicBool>,
}

impl Stub {
    async fn answer(&self, body: serde_json::Value) -> Response {
        if self.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.fails.load(Ordering::SeqCst) {
            return StatusCode::INTERNAL_SERVER_ERROR.into();
        }
        Response::builder().body(body.to_string())
    }
}

#[handler]
async fn document(Data(stub): Data<&Stub>) -> Response {
    stub.documents.fetch_add(1, Ordering::SeqCst);
    let base = &stub.base;
    let document = json!({
        "issuer": base, "authorization_endpoint": format!("{base}/a"), "jwks_uri": format!("{base}/jwks"),
        "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
    });
    stub.answer(document).await
}

#[handler]
async fn key_set(Data(stub): Data<&Stub>) -> Response {
    stub.key_sets.fetch_add(1, Ordering::SeqCst);
    let id = if stub.withdrawn.load(Ordering::SeqCst) { "next" } else { "good" };
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "kid": id, "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" });
    stub.answer(json!({ "keys": [key] })).await
}

struct Outage {
    stub: Stub,
    issuer: Issuer,
    keys: Jwks,
    hand: Hand,
}

impl Outage {
    async fn start() -> Self {
        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let stub = Stub {
            base: base.clone(),
            documents: Arc::default(),
            key_sets: Arc::default(),
            hangs: Arc::default(),
            fails: Arc::default(),
            withdrawn: Arc::default(),
        };
        let routes = Route::new().at("/.well-known/openid-configuration", get(document)).at("/jwks", get(key_set));
        tokio::spawn(Server::new_with_acceptor(acceptor).run(routes.data(stub.clone())));
        let (clock, hand) = Clock::manual(start_time());
        let issuer = Issuer::new(&base, client(), clock.clone()).unwrap();
        Self { stub, keys: Jwks::new(issuer.clone(), clock), issuer, hand }
    }

    /// A stub with keys that were fetched before the outage begins.
    async fn with_keys() -> Self {
        let outage = Self::start().await;
        assert!(outage.keys.key(Some("good")).await.is_ok());
        outage
    }

    fn hang(&self) {
        self.stub.hangs.store(true, Ordering::SeqCst);
    }

    fn key_sets(&self) -> usize {
        self.stub.key_sets.load(Ordering::SeqCst)
    }

    async fn is_unknown(&self, kid: &str) -> bool {
        matches!(self.keys.key(Some(kid)).await, Err(KeyError::Unknown))
    }

    async fn is_unavailable(&self, kid: &str) -> bool {
        matches!(self.keys.key(Some(kid)).await, Err(KeyError::Unavailable(_)))
    }
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    while !holds().await {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

async fn guarded(test: impl Future<Output = ()>) {
    tokio::time::timeout(GUARD, test).await.unwrap();
}

#[tokio::test]
async fn known_keys_go_on_verifying_while_the_issuer_hangs() {
    let outage = Outage::with_keys().await;
    outage.hang();
    outage.hand.advance(TimeDelta::minutes(16));
    guarded(async {
        for _ in 0..6 {
            assert!(outage.keys.key(Some("good")).await.is_ok());
        }
        until(async || outage.key_sets() == 2).await;
        assert!(outage.keys.key(Some("good")).await.is_ok());
        assert_eq!(outage.key_sets(), 2, "one refresh for all");
    })
    .await;
}

#[tokio::test]
async fn a_long_unused_key_is_read_again_before_it_counts() {
    let outage = Outage::with_keys().await;
    outage.stub.withdrawn.store(true, Ordering::SeqCst);
    outage.hand.advance(TimeDelta::hours(10));
    assert!(outage.is_unknown("good").await);
    assert!(outage.keys.key(Some("next")).await.is_ok());
    assert_eq!(outage.key_sets(), 2);
}

#[tokio::test]
async fn a_withdrawn_key_dies_with_the_refresh_that_its_use_begins() {
    let outage = Outage::with_keys().await;
    outage.stub.withdrawn.store(true, Ordering::SeqCst);
    outage.hand.advance(TimeDelta::minutes(14));
    assert!(outage.keys.key(Some("good")).await.is_ok(), "still fresh");
    outage.hand.advance(TimeDelta::minutes(1));
    guarded(until(async || outage.is_unknown("good").await)).await;
    assert_eq!(outage.key_sets(), 2);
}

#[tokio::test]
async fn known_keys_count_for_a_day_without_the_issuer() {
    let outage = Outage::with_keys().await;
    outage.stub.fails.store(true, Ordering::SeqCst);
    outage.hand.advance(TimeDelta::hours(24) - TimeDelta::seconds(1));
    assert!(outage.keys.key(Some("good")).await.is_ok());
    outage.hand.advance(TimeDelta::seconds(1));
    assert!(outage.is_unavailable("good").await);
    outage.stub.fails.store(false, Ordering::SeqCst);
    outage.hand.advance(TimeDelta::seconds(10));
    assert!(outage.keys.key(Some("good")).await.is_ok(), "the issuer is back");
}

#[tokio::test]
async fn an_unknown_key_waits_for_nobody_elses_question() {
    let outage = Outage::with_keys().await;
    outage.hang();
    outage.hand.advance(TimeDelta::minutes(1));
    guarded(async {
        let keys = outage.keys.clone();
        let first = tokio::spawn(async move { keys.key(Some("first")).await.is_err() });
        until(async || outage.key_sets() == 2).await;
        for _ in 0..20 {
            assert!(outage.is_unknown("junk").await);
        }
        assert!(!first.is_finished(), "the others were answered before it");
        assert!(outage.keys.key(Some("good")).await.is_ok());
        assert!(first.await.unwrap(), "and it ends, too");
        assert!(outage.is_unknown("junk").await, "the failure is remembered");
        assert_eq!(outage.key_sets(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_failure_is_remembered_from_its_end() {
    let outage = Outage::start().await;
    outage.hang();
    guarded(async {
        let asking = (0..5).map(|number| {
            let keys = outage.keys.clone();
            tokio::spawn(
                async move { matches!(keys.key(Some(&number.to_string())).await, Err(KeyError::Unavailable(_))) },
            )
        });
        let asking: Vec<_> = asking.collect();
        until(async || outage.stub.documents.load(Ordering::SeqCst) == 1).await;
        outage.hand.advance(TimeDelta::minutes(1));
        for unavailable in asking {
            assert!(unavailable.await.unwrap());
        }
        assert!(outage.is_unavailable("good").await);
        assert!(outage.issuer.metadata().await.is_err());
        assert_eq!(outage.stub.documents.load(Ordering::SeqCst), 1, "one question for all of them");
    })
    .await;
    outage.stub.hangs.store(false, Ordering::SeqCst);
    outage.hand.advance(TimeDelta::minutes(1));
    assert!(outage.keys.key(Some("good")).await.is_ok(), "the issuer is back");
}

#[tokio::test]
async fn a_known_document_serves_while_the_issuer_hangs() {
    let outage = Outage::with_keys().await;
    outage.hang();
    outage.hand.advance(TimeDelta::hours(2));
    guarded(async {
        for _ in 0..3 {
            assert!(outage.issuer.metadata().await.is_ok());
        }
    })
    .await;
}
