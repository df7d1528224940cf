//! Tests of the clients and of paid answers against a small scripted server.

mod paid_answers;
mod shapes;
mod unlike;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use common::clock::Clock;
use poem::{Endpoint, Request, Response, listener::Acceptor as _};
use serde_json::{Value, json};
use telemetry::providers::ProviderMeters;
use tokio::sync::Semaphore;

use super::*;

/// A scripted response.
enum Reply {
    /// A status, headers and a body.
    Said(u16, Vec<(&'static str, &'static str)>, Value),
    /// A body with status 200 that may be no JSON.
    Text(String),
    /// Waits for a permit before the response after it is used.
    Held(Arc<Semaphore>),
}

#[expect(clippy::disallowed_methods, reason = "tests make their own client")]
fn http_client() -> reqwest::Client {
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq)]
struct Arrived {
    path: String,
    query: Vec<(String, String)>,
    authorization: String,
    body: Value,
}

impl Arrived {
    /// A parameter of the query.
    fn param(&self, name: &str) -> &str {
        self.query.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    arrived: Vec<Arrived>,
}

/// The scripted server. Without a script it answers 500.
#[derive(Clone, Default)]
struct Upstream(Arc<Mutex<Script>>);

impl Upstream {
    fn say(&self, status: u16, body: Value) {
        self.reply(Reply::Said(status, Vec::new(), body));
    }

    fn reply(&self, reply: Reply) {
        self.0.lock().unwrap().replies.push_back(reply);
    }

    fn arrived(&self) -> Vec<Arrived> {
        self.0.lock().unwrap().arrived.clone()
    }

    fn next(&self) -> Option<Reply> {
        self.0.lock().unwrap().replies.pop_front()
    }
}

impl Endpoint for Upstream {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let body = request.take_body().into_string().await?;
        let query = request.uri().query().unwrap_or_default().to_owned();
        let arrived = Arrived {
            path: request.uri().path().to_owned(),
            query: url::form_urlencoded::parse(query.as_bytes()).into_owned().collect(),
            authorization: request.header("authorization").unwrap_or_default().to_owned(),
            body: serde_json::from_str(&body).unwrap_or_default(),
        };
        self.0.lock().unwrap().arrived.push(arrived);
        let mut reply = self.next();
        if let Some(Reply::Held(turn)) = reply {
            turn.acquire().await.unwrap().forget();
            reply = self.next();
        }
        if let Some(Reply::Text(text)) = reply {
            return Ok(Response::builder().body(text));
        }
        let Some(Reply::Said(status, headers, body)) = reply else {
            return Ok(Response::builder().status(poem::http::StatusCode::INTERNAL_SERVER_ERROR).finish());
        };
        let mut response = Response::builder().status(status.try_into().unwrap()).content_type("application/json");
        for (name, value) in headers {
            response = response.header(name, value);
        }
        Ok(response.body(body.to_string()))
    }
}

fn quick() -> Patience {
    Patience {
        account: Duration::from_secs(20),
        question: Duration::from_secs(20),
        wait: Duration::from_secs(20),
        backoff: Duration::from_millis(1),
    }
}

/// Both clients with the scripted server behind them.
async fn providers() -> (Upstream, ProviderA, ProviderB) {
    let upstream = Upstream::default();
    let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let root = format!("http://{}", socket.local_addr().unwrap());
    let acceptor = poem::listener::TcpAcceptor::from_tokio(socket).unwrap();
    assert_eq!(acceptor.local_addr().len(), 1);
    tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(upstream.clone()));
    let meters = ProviderMeters::default();
    let wire = |path: &'static str| {
        Wire::new(&format!("{root}{path}/"), http_client(), quick(), meters.of(path), Clock::system())
    };
    (upstream.clone(), ProviderA(wire("/a")), ProviderB(wire("/b")))
}

fn login() -> Credentials {
    Credentials::Login { login: "ann@a.test".to_owned(), password: "pass:word".into() }
}

fn key() -> Credentials {
    Credentials::Key("the-key".into())
}

/// A task's answer of provider A.
fn done(cost: f64, result: &Value) -> Value {
    let task = json!({ "id": "x", "status_code": 20000, "status_message": "Ok.", "cost": cost, "result": result });
    json!({ "status_code": 20000, "cost": cost, "tasks_error": 0, "tasks": [task] })
}

/// A refusal of provider A.
fn refused(code: u64) -> Value {
    json!({ "status_code": code, "status_message": "as told", "cost": 0, "tasks": null })
}

fn place() -> Locale {
    Locale { country: Country::of("usa").unwrap(), language: Some("en".to_owned()) }
}

fn figures(keywords: &[&str]) -> Question {
    let keywords = keywords.iter().map(|keyword| (*keyword).to_owned()).collect();
    Question::Figures { keywords, place: place(), trend: None }
}

#[tokio::test]
async fn a_free_question_is_repeated_and_a_paid_one_only_if_nothing_was_charged() {
    let (upstream, a, b) = providers().await;
    upstream.say(502, Value::Null);
    upstream.say(200, refused(50_000));
    upstream.say(200, done(0.0, &json!([{ "money": { "balance": 41.87 } }])));
    let standing = a.account(&login()).await.unwrap();
    assert_eq!((standing.balance, upstream.arrived().len()), (Some(Amount(41_870_000)), 3));
    assert_eq!(upstream.arrived()[0].authorization, "Basic YW5uQGEudGVzdDpwYXNzOndvcmQ=");

    upstream.say(500, refused(50_301));
    upstream.say(200, done(0.01, &json!([{ "items": null }])));
    assert!(a.answer(&login(), &figures(&["x"])).await.is_ok(), "it said that nothing was charged");
    assert_eq!(upstream.arrived().len(), 5);
    upstream.say(502, Value::Null);
    assert!(matches!(a.answer(&login(), &figures(&["x"])).await, Err(SeoError::Unavailable(_))));
    assert_eq!(upstream.arrived().len(), 6, "it may have been charged");
    upstream.say(503, json!({ "error": "busy" }));
    assert!(matches!(b.answer(&key(), &figures(&["x"])).await, Err(SeoError::Unavailable(_))));
    assert_eq!(upstream.arrived().len(), 7);
    upstream.say(429, json!({ "error": "wait" }));
    assert_eq!(b.account(&key()).await, Err(SeoError::RateLimited { retry_after: 60 }));
    assert_eq!(upstream.arrived().len(), 8, "a limit does not pass at once");
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_unavailable() {
    let meter = ProviderMeters::default().of("a");
    let wire = Wire::new("http://127.0.0.1:1", http_client(), quick(), meter, Clock::system());
    let (a, b) = (ProviderA(wire.clone()), ProviderB(wire));
    assert!(matches!(a.answer(&login(), &figures(&["x"])).await, Err(SeoError::Unavailable(_))));
    assert!(matches!(b.account(&key()).await, Err(SeoError::Unavailable(_))));
}

#[tokio::test]
async fn the_free_endpoint_of_provider_b_tells_an_empty_account_from_a_small_plan() {
    let (upstream, _, b) = providers().await;
    let usage = |limit: Value, used: u64| {
        json!({ "limits_and_usage": { "units_limit_workspace": limit, "units_usage_workspace": used,
            "units_limit_api_key": null, "units_usage_api_key": null, "subscription": null } })
    };
    let cases = [
        (403, 200, usage(json!(100), 100), SeoError::OutOfCredit(Exhausted::Balance)),
        (429, 200, usage(json!(100), 120), SeoError::OutOfCredit(Exhausted::Balance)),
        (403, 200, usage(json!(100), 3), SeoError::Refused(AccountRefusal::WithoutPlan)),
        (403, 200, usage(Value::Null, 3), SeoError::Refused(AccountRefusal::WithoutPlan)),
        (429, 200, usage(json!(100), 3), SeoError::RateLimited { retry_after: 60 }),
        (403, 401, json!(["Error", "Unauthorized"]), SeoError::Refused(AccountRefusal::Wrong)),
        (403, 403, json!(["Error", "Forbidden"]), SeoError::Refused(AccountRefusal::WithoutPlan)),
    ];
    for (status, free_status, free, error) in cases {
        upstream.say(status, json!({ "error": "no" }));
        upstream.say(free_status, free);
        assert_eq!(b.answer(&key(), &figures(&["x"])).await, Err(error), "{status} {free_status}");
    }
    upstream.say(200, usage(Value::Null, 3));
    assert_eq!(b.account(&key()).await, Ok(AccountState { balance: None }), "without a limit");
}

#[tokio::test]
async fn what_is_not_provider_b_says_nothing_about_an_account() {
    let (upstream, _, b) = providers().await;
    for (status, body) in [
        (200, json!({})),
        (200, json!({ "limits_and_usage": null })),
        (404, json!({ "error": "Not found" })),
        (404, Value::Null),
    ] {
        for _ in 0..3 {
            upstream.say(status, body.clone());
        }
        let refused = b.account(&key()).await;
        assert!(matches!(refused, Err(SeoError::Unavailable(_))), "{status} {body}: {refused:?}");
        while upstream.next().is_some() {}
    }
}
