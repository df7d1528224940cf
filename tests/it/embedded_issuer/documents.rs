//! Tests of clients that a metadata document describes, against a real server of documents on loopback.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use common::{addresses::ClientAddress, clock::Clock};
use issuer::{
    client_documents::{ClientDocuments, Unreadable, reach::SystemNames},
    registry,
};
use poem::{
    EndpointExt, Response, Route, Server, get, handler,
    http::StatusCode,
    listener::{Acceptor, Listener},
    web::Data,
};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde_json::{Value, json};

use super::{
    REDIRECT_URI, TestIssuer,
    browser::{ANN, Browser, PASSWORD, authorize_path},
    client_builder, start_time, text,
};

use crate::support::endless::{CODINGS, Endless};

/// A server of one document, and what it answers.
#[derive(Clone, Default)]
struct Publisher {
    base: String,
    served: Arc<AtomicUsize>,
    answer: Arc<Mutex<Answer>>,
    endless: Endless,
}

#[derive(Clone, Default)]
struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    delay: Duration,
}

type Change = Box<dyn FnOnce(&mut Answer)>;

#[handler]
async fn publish(Data(publisher): Data<&Publisher>) -> Response {
    publisher.served.fetch_add(1, Ordering::SeqCst);
    let answer = publisher.answer.lock().unwrap().clone();
    tokio::time::sleep(answer.delay).await;
    let mut response = Response::builder().status(StatusCode::from_u16(answer.status).unwrap());
    for (name, value) in &answer.headers {
        response = response.header(*name, value);
    }
    response.body(answer.body)
}

impl Publisher {
    async fn start() -> Self {
        let acceptor = poem::listener::TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let base = format!("http://{}", acceptor.local_addr()[0].as_socket_addr().unwrap());
        let publisher = Self { base, ..Self::default() };
        publisher.says(|_| ());
        let routes = Route::new().at("/*path", get(publish)).data(publisher.clone());
        tokio::spawn(Server::new_with_acceptor(acceptor).run(routes.with(publisher.endless.clone())));
        publisher
    }

    fn id(&self) -> String {
        format!("{}/client.json", self.base)
    }

    fn document(&self) -> Value {
        json!({
            "client_id": self.id(), "client_name": "Assistant", "redirect_uris": [REDIRECT_URI],
            "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
        })
    }

    /// Answers with a valid document, kept for five minutes, and with `change`.
    fn says(&self, change: impl FnOnce(&mut Answer)) {
        let headers =
            vec![("content-type", "application/json".to_owned()), ("cache-control", "max-age=300".to_owned())];
        let body = self.document().to_string().into_bytes();
        let mut answer = Answer { status: 200, headers, body, delay: Duration::ZERO };
        change(&mut answer);
        *self.answer.lock().unwrap() = answer;
    }

    fn served(&self) -> usize {
        self.served.load(Ordering::SeqCst)
    }
}

fn documents(base_url: &str, names: impl Resolve + 'static) -> (ClientDocuments, common::clock::Hand) {
    let (clock, hand) = Clock::manual(start_time());
    (ClientDocuments::new(client_builder(), Arc::new(names), &base_url.parse().unwrap(), clock).unwrap(), hand)
}

#[tokio::test]
async fn a_client_signs_people_in_without_registration() {
    let (issuer, publisher) = (TestIssuer::start().await, Publisher::start().await);
    let metadata = issuer.get("/.well-known/oauth-authorization-server").await.json();
    assert_eq!(metadata["client_id_metadata_document_supported"], true);

    let id = publisher.id();
    let code = issuer.code(&id, &[]).await;
    let answer = issuer.redeem(&id, &code, &[]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let tokens = answer.json();
    let token = issuer.verifier.verify(text(&tokens, "access_token"), &issuer.base).await.unwrap();
    assert_eq!(token.client_id, id);
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200);
    assert_eq!(issuer.refresh(&id, text(&tokens, "refresh_token")).await.status, 200);
    assert_eq!(publisher.served(), 1, "codes and refresh tokens are exchanged without another fetch");

    issuer.account(ANN).await;
    let browser = Browser::new(&issuer);
    let page = browser.get(browser.enter(&id, ANN, PASSWORD).await.header("location")).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let host = publisher.base.strip_prefix("http://").unwrap();
    assert!(
        page.body.contains("Assistant") && page.body.contains(&format!("<strong>{host}</strong>")),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn a_document_vouches_for_its_own_addresses_and_codes_only() {
    let (issuer, publisher) = (TestIssuer::start().await, Publisher::start().await);
    let id = publisher.id();
    for uri in ["http://127.0.0.1:7777/other", "https://evil.example/cb", "http://localhost:7777/cb"] {
        assert_eq!(issuer.authorize(&id, &[("redirect_uri", uri)]).await.status, 400, "{uri}");
    }
    let port = issuer.authorize(&id, &[("redirect_uri", "http://127.0.0.1:7778/cb")]).await;
    assert_eq!(port.status, 303, "the port of a loopback address may differ");

    let other = format!("{}/other.json", publisher.base);
    assert_eq!(issuer.authorize(&other, &[]).await.status, 400, "the document names another client_id");
    let code = issuer.code(&id, &[]).await;
    issuer.redeem(&other, &code, &[]).await.refused("invalid_grant");
}

#[tokio::test]
async fn people_are_asked_again_after_an_operator_removed_the_client_of_a_document() {
    let (issuer, publisher) = (TestIssuer::without_demo_people().await, Publisher::start().await);
    issuer.account(ANN).await;
    let (browser, id) = (Browser::new(&issuer), publisher.id());
    browser.enter(&id, ANN, PASSWORD).await;
    browser.allow(&id, &[]).await;
    assert_eq!(browser.get(&authorize_path(&id, &[])).await.status, 303);
    assert_eq!(registry::remove(&issuer.db, &id, issuer.clock.now()).await.unwrap(), 2);
    let page = browser.get(&authorize_path(&id, &[])).await;
    assert!(page.status == 200 && !page.body.contains("before"), "{}", page.body);
    assert!(registry::remove(&issuer.db, &id, issuer.clock.now()).await.is_err(), "nothing is left of it");
}

#[tokio::test]
async fn an_answer_other_than_a_document_is_refused_and_not_cached() {
    let (issuer, publisher) = (TestIssuer::start().await, Publisher::start().await);
    let id = publisher.id();
    let typed = |value: &'static str| move |answer: &mut Answer| answer.headers[0].1 = value.to_owned();
    let status = |status: u16| move |answer: &mut Answer| answer.status = status;
    let at_limit = |extra: usize| {
        let document = publisher.document().to_string();
        move |answer: &mut Answer| answer.body = format!("{document:<width$}", width = 5_120 + extra).into_bytes()
    };
    let elsewhere = publisher.base.clone();
    let changes: Vec<Change> = vec![
        Box::new(status(404)),
        Box::new(status(500)),
        Box::new(status(204)),
        Box::new(status(203)),
        Box::new(move |answer| {
            answer.status = 302;
            answer.headers.push(("location", format!("{elsewhere}/client.json")));
        }),
        Box::new(typed("text/html")),
        Box::new(typed("application/javascript")),
        Box::new(typed("application/+json")),
        Box::new(|answer| drop(answer.headers.remove(0))),
        Box::new(at_limit(1)),
        Box::new(|answer| answer.body = vec![b'x'; 10_000_000]),
        Box::new(|answer| answer.body = b"{}".to_vec()),
        Box::new(|answer| {
            let body = String::from_utf8(std::mem::take(&mut answer.body)).unwrap();
            answer.body = body.replace("Assistant", "S\u{ed}ghtline command line").into_bytes();
        }),
        Box::new(|answer| answer.headers.push(("content-encoding", "gzip".to_owned()))),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        publisher.says(change);
        let refused = issuer.authorize(&id, &[]).await;
        // A body that only claims to be compressed is read as it is.
        let expected = if number == 13 { 303 } else { 400 };
        assert_eq!(refused.status, expected, "{number}: {}", refused.body);
        issuer.hand.advance(TimeDelta::minutes(6));
    }
    assert_eq!(publisher.served(), 14, "no redirect was followed");
    for good in ["application/json; charset=utf-8", "application/client-metadata+json"] {
        publisher.says(typed(good));
        assert_eq!(issuer.authorize(&id, &[]).await.status, 303, "{good}");
        issuer.hand.advance(TimeDelta::minutes(6));
    }
    publisher.says(at_limit(0));
    assert_eq!(issuer.authorize(&id, &[]).await.status, 303, "5 KiB exactly, and no failure was remembered");
}

#[tokio::test]
async fn a_document_without_an_end_is_read_to_its_limit() {
    let publisher = Publisher::start().await;
    let (documents, _) = documents(&publisher.base, SystemNames);
    for coding in CODINGS {
        publisher.endless.at("/client.json", coding);
        let refused = documents.client(&publisher.id(), None).await.unwrap_err();
        assert!(refused.0.contains("larger than 5 KiB"), "{}", refused.0);
        publisher.endless.assert_read_to(5 << 10);
    }
    publisher.endless.nowhere();
    assert!(documents.client(&publisher.id(), None).await.is_ok());
}

#[tokio::test]
async fn a_document_is_kept_as_its_headers_say() {
    let publisher = Publisher::start().await;
    let (documents, hand) = documents(&publisher.base, SystemNames);
    let id = publisher.id();
    let ask = async || documents.client(&id, None).await.unwrap();
    let first = ask().await;
    hand.advance(TimeDelta::seconds(299));
    assert_eq!((ask().await, publisher.served()), (first, 1));
    hand.advance(TimeDelta::seconds(1));
    ask().await;
    assert_eq!(publisher.served(), 2);

    publisher.says(|answer| answer.headers[1].1 = "no-store".to_owned());
    hand.advance(TimeDelta::minutes(5));
    ask().await;
    hand.advance(TimeDelta::seconds(59));
    ask().await;
    assert_eq!(publisher.served(), 3, "the form of the page finds it again");
    hand.advance(TimeDelta::seconds(1));
    ask().await;
    assert_eq!(publisher.served(), 4);
}

#[tokio::test]
async fn concurrent_requests_for_a_document_make_one_fetch() {
    let publisher = Publisher::start().await;
    let (documents, _) = documents(&publisher.base, SystemNames);
    publisher.says(|answer| answer.delay = Duration::from_millis(200));
    let id = publisher.id();
    let answers = futures_util::future::join_all((0..50).map(|_| documents.client(&id, None))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(publisher.served(), 1);
}

#[tokio::test]
async fn one_address_has_so_many_documents_fetched_and_others_theirs() {
    let publisher = Publisher::start().await;
    publisher.says(|answer| answer.status = 404);
    let (documents, hand) = documents(&publisher.base, SystemNames);
    let at = |address: &str| ClientAddress::new(address.parse().unwrap());
    let (attacker, other) = (at("192.0.2.1"), at("192.0.2.2"));
    let mut kinds = Vec::new();
    for number in 0..25 {
        let id = format!("{}/{number}", publisher.base);
        kinds.push(documents.client(&id, Some(&attacker)).await.unwrap_err());
    }
    assert_eq!(publisher.served(), 20);
    assert_ne!(kinds[19], kinds[20]);
    publisher.says(|_| ());
    assert!(documents.client(&publisher.id(), Some(&other)).await.is_ok());
    assert!(documents.client(&publisher.id(), Some(&attacker)).await.is_ok(), "what is kept is not counted");
    hand.advance(TimeDelta::minutes(6));
    assert!(documents.client(&publisher.id(), Some(&attacker)).await.is_ok());
}

#[tokio::test]
async fn one_network_has_four_fetches_under_way_and_others_are_served() {
    let publisher = Publisher::start().await;
    let (documents, _) = documents(&publisher.base, SystemNames);
    publisher.says(|answer| answer.delay = Duration::from_millis(500));
    let at = |address: &str| ClientAddress::new(address.parse().unwrap());
    // The addresses of one /48 count together.
    let ask = |number: usize| {
        let (documents, id) = (documents.clone(), format!("{}/{number}", publisher.base));
        let from = at(&format!("2001:db8:1:{number}::1"));
        async move { documents.client(&id, Some(&from)).await.unwrap_err() }
    };
    let refused = futures_util::future::join_all((0..10).map(ask)).await;
    assert_eq!(publisher.served(), 4, "{refused:?}");
    assert_eq!(refused.iter().filter(|reason| reason.0.contains("Too many")).count(), 6);
    assert!(documents.client(&publisher.id(), Some(&at("2001:db8:1::1"))).await.is_ok(), "they have ended");
    assert_eq!(publisher.served(), 5);
}

#[tokio::test]
async fn a_server_that_does_not_end_its_answer_is_given_up() {
    let publisher = Publisher::start().await;
    let (documents, _) = documents(&publisher.base, SystemNames);
    publisher.says(|answer| answer.delay = Duration::from_mins(1));
    let began = tokio::time::Instant::now();
    assert!(documents.client(&publisher.id(), None).await.is_err());
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

/// Names that lead to any given addresses.
struct Leading(Vec<SocketAddr>);

impl Resolve for Leading {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(async move { Ok(addresses) })
    }
}

/// No connection is made: the listener behind each address would see it.
#[tokio::test]
async fn inner_addresses_are_never_fetched() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let public = "https://search.example";
    let (plain, _) = documents(public, SystemNames);
    for id in [
        format!("https://127.0.0.1:{port}/c"),
        format!("https://[::1]:{port}/c"),
        format!("https://[::ffff:7f00:1]:{port}/c"),
        format!("http://127.0.0.1:{port}/c"),
        format!("https://localhost:{port}/c"),
        format!("https://2130706433:{port}/c"),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://10.0.0.1/c".to_owned(),
    ] {
        assert!(plain.client(&id, None).await.is_err(), "{id}");
    }
    for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "169.254.169.254", "fd00::1", "0.0.0.0"] {
        let (documents, _) = documents(public, Leading(vec![SocketAddr::new(address.parse().unwrap(), 0)]));
        let id = format!("https://inner.example:{port}/c");
        let Err(Unreadable(reason)) = documents.client(&id, None).await else { panic!("{address}") };
        assert!(reason.contains("could not be fetched"), "{address}: {reason}");
    }
    let silence = tokio::time::timeout(Duration::from_millis(200), listener.accept()).await;
    assert!(silence.is_err(), "something connected");
}

#[tokio::test]
async fn a_name_with_inner_and_allowed_addresses_leads_to_the_allowed_ones() {
    let publisher = Publisher::start().await;
    let id = publisher.id().replace("127.0.0.1", "localhost");
    publisher.says(|answer| {
        let document = String::from_utf8(answer.body.clone()).unwrap().replace(&publisher.id(), &id);
        answer.body = document.into_bytes();
    });
    let both = ["10.255.255.1:0", "127.0.0.1:0"].map(|address| address.parse().unwrap()).to_vec();
    let (documents, _) = documents(&publisher.base, Leading(both));
    assert_eq!(
        documents.client(&id, None).await.unwrap().host(),
        id.strip_prefix("http://").unwrap().split('/').next()
    );
}
