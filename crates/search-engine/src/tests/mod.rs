//! Tests of the client and the reader against a small scripted server.

mod another;
mod answers;
mod breaker;
mod caching;
mod oauth;
mod pace;
mod recent;
mod requests;
mod texts;
mod tokens;
mod totals;
mod wider;

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use api::models::SearchType;
use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, TimeZone, Utc};
use common::{
    clock::{Clock, Hand},
    random::Random,
};
use poem::{Endpoint, IntoResponse, Request, Response, listener::Acceptor as _};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;

/// A scripted response to a query. Each is used once, in order. Afterwards every query returns one row.
enum Reply {
    Refuse(u16, Option<&'static str>),
    Rows(usize),
    Said(Value),
    Fail(u16, Value),
    Text(u16, String),
    /// Waits for a permit, then returns one row.
    Held(Arc<tokio::sync::Semaphore>),
}

#[expect(clippy::disallowed_methods, reason = "tests make their own client")]
fn http_client() -> reqwest::Client {
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Reply>,
    /// Responses of the token endpoint, in turn. Afterwards a new token each time.
    tokens: VecDeque<(u16, Value)>,
    /// Responses of every endpoint but queries, in turn, before those of `tokens`.
    others: VecDeque<(u16, String)>,
    /// The paths of the received requests but queries.
    paths: Vec<String>,
    /// Bodies of the received queries.
    queries: Vec<Value>,
    /// Access tokens of the received queries.
    bearers: Vec<String>,
    /// Refresh tokens that were sent.
    refreshed: Vec<String>,
}

/// The scripted server.
#[derive(Clone, Default)]
struct Upstream(Arc<Mutex<Script>>);

impl Upstream {
    fn with<T>(&self, act: impl FnOnce(&mut Script) -> T) -> T {
        act(&mut self.0.lock().unwrap())
    }

    fn queries(&self) -> usize {
        self.with(|script| script.queries.len())
    }

    /// The number of received requests to an endpoint other than queries.
    fn asked(&self, path: &str) -> usize {
        self.with(|script| script.paths.iter().filter(|asked| asked.ends_with(path)).count())
    }

    /// Sets the next responses of endpoints other than queries.
    fn say<'a>(&self, bodies: impl IntoIterator<Item = (u16, &'a str)>) {
        let bodies = bodies.into_iter().map(|(status, body)| (status, body.to_owned()));
        self.with(|script| script.others.extend(bodies));
    }

    fn refreshed(&self) -> Vec<String> {
        self.with(|script| script.refreshed.clone())
    }

    fn reply(&self, replies: impl IntoIterator<Item = Reply>) {
        self.with(|script| script.replies.extend(replies));
    }
}

/// The answer to a query with `count` rows, which have a key for each dimension.
fn rows(query: &Value, first: usize, count: usize) -> Value {
    let key = |dimension: &Value, n: usize| match dimension.as_str().unwrap() {
        "date" => query["startDate"].clone(),
        _ => json!(format!("q{:06}", first + n)),
    };
    let dimensions = query["dimensions"].as_array().map_or(&[][..], Vec::as_slice);
    let row = |n: usize| {
        let keys: Vec<Value> = dimensions.iter().map(|dimension| key(dimension, n)).collect();
        json!({ "keys": keys, "clicks": 1, "impressions": 2, "position": 3.5 })
    };
    let aggregation = query["aggregationType"].as_str().unwrap_or("byProperty");
    json!({ "rows": (0..count).map(row).collect::<Vec<_>>(), "responseAggregationType": aggregation })
}

fn answer(status: u16, body: &Value) -> Response {
    text(status, body.to_string())
}

fn text(status: u16, body: String) -> Response {
    Response::builder().status(status.try_into().unwrap()).content_type("application/json").body(body)
}

impl Endpoint for Upstream {
    type Output = Response;

    async fn call(&self, mut request: Request) -> poem::Result<Response> {
        let body = request.take_body().into_string().await?;
        let path = request.uri().path().to_owned();
        if !path.ends_with("/query") {
            let other = self.with(|script| {
                script.paths.push(path);
                script.others.pop_front()
            });
            if let Some((status, body)) = other {
                return Ok(text(status, body));
            }
        }
        if request.uri().path() == "/token" {
            let form: std::collections::HashMap<_, _> =
                url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
            let (status, said) = self.with(|script| {
                script.refreshed.push(form["refresh_token"].clone());
                let count = script.refreshed.len();
                let fresh = || (200, json!({ "access_token": format!("token-{count}"), "expires_in": 3600 }));
                script.tokens.pop_front().unwrap_or_else(fresh)
            });
            return Ok(answer(status, &said));
        }
        // The lists of sites and the profiles have no body.
        let query: Value = serde_json::from_str(&body).unwrap_or_else(|_| json!({ "startRow": 0 }));
        let start = usize::try_from(query["startRow"].as_u64().unwrap()).unwrap();
        let bearer = request.header("authorization").unwrap().trim_start_matches("Bearer ").to_owned();
        let reply = self.with(|script| {
            script.queries.push(query.clone());
            script.bearers.push(bearer);
            script.replies.pop_front().unwrap_or(Reply::Rows(1))
        });
        Ok(match reply {
            Reply::Rows(count) => answer(200, &rows(&query, start, count)),
            Reply::Said(body) => answer(200, &body),
            Reply::Fail(status, body) => answer(status, &body),
            Reply::Text(status, body) => text(status, body),
            Reply::Held(turn) => {
                turn.acquire().await.unwrap().forget();
                answer(200, &rows(&query, start, 1))
            }
            Reply::Refuse(status, retry_after) => {
                let refusal = answer(status, &json!({ "error": { "code": status, "message": "as told" } }));
                match retry_after {
                    Some(seconds) => refusal.with_header("retry-after", seconds).into_response(),
                    None => refusal,
                }
            }
        })
    }
}

#[derive(Default)]
struct Others {
    accounts: Vec<Account>,
    /// The number of look-ups.
    asked: usize,
    /// Those whose grant was refused.
    refused: Vec<Uuid>,
}

/// The stored grant of the one account, and other accounts that may read its sites.
struct Kept(Mutex<Account>, Mutex<Others>);

impl Kept {
    fn account(&self) -> Account {
        self.0.lock().unwrap().clone()
    }

    /// The account with this id.
    fn with_id(&self, id: Uuid) -> Account {
        let other = self.1.lock().unwrap().accounts.iter().find(|other| other.id == id).cloned();
        other.unwrap_or_else(|| self.account())
    }

    fn token(&self) -> String {
        self.account().refresh_token.expose_secret().to_owned()
    }

    fn replace(&self, token: &str) {
        self.0.lock().unwrap().refresh_token = token.into();
    }
}

struct LockedKept(Arc<Kept>, Account);

/// One client needs no lock.
#[async_trait]
impl Grants for Arc<Kept> {
    async fn lock(&self, account: Uuid) -> Result<Box<dyn LockedGrant>, SearchEngineError> {
        Ok(Box::new(LockedKept(self.clone(), self.with_id(account))))
    }

    async fn others(&self, _account: Uuid, _site: &SiteUrl) -> Vec<Account> {
        let mut others = self.1.lock().unwrap();
        others.asked += 1;
        others.accounts.clone()
    }

    async fn refused(&self, other: &Account, _error: &SearchEngineError) {
        let mut others = self.1.lock().unwrap();
        others.refused.push(other.id);
        others.accounts.retain(|account| account.id != other.id);
    }
}

#[async_trait]
impl LockedGrant for LockedKept {
    fn account(&self) -> &Account {
        &self.1
    }

    async fn replace(self: Box<Self>, refresh_token: SecretString) {
        self.0.replace(refresh_token.expose_secret());
    }
}

/// A reader with its own server.
struct Bench {
    upstream: Upstream,
    reader: Reader,
    hand: Hand,
    kept: Arc<Kept>,
}

fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 20, 0, 0).unwrap()
}

fn quick() -> Patience {
    Patience {
        attempt: Duration::from_secs(5),
        deadline: Duration::from_secs(10),
        first_backoff: Duration::from_millis(1),
        longest_backoff: Duration::from_millis(2),
        // A busy machine may take long to answer.
        probe: Duration::from_secs(10),
    }
}

impl Bench {
    async fn new() -> Self {
        Self::with(quick()).await
    }

    async fn with(patience: Patience) -> Self {
        Self::paced(
            Pace { max_in_flight: 16, bucket: 1_000_000, refill_per_second: 1_000_000, ..Pace::default() },
            patience,
        )
        .await
    }

    async fn paced(pace: Pace, patience: Patience) -> Self {
        let upstream = Upstream::default();
        let socket = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let root = format!("http://{}", socket.local_addr().unwrap());
        let acceptor = poem::listener::TcpAcceptor::from_tokio(socket).unwrap();
        assert_eq!(acceptor.local_addr().len(), 1);
        tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(upstream.clone()));
        let (clock, hand) = Clock::manual(noon());
        let settings = Settings {
            api_url: root.clone(),
            oauth: OauthSettings {
                authorize_url: root.clone(),
                token_url: format!("{root}/token"),
                revoke_url: format!("{root}/revoke"),
                userinfo_url: format!("{root}/userinfo"),
                client_id: "client".to_owned(),
                client_secret: "secret".into(),
            },
            pace,
            patience,
        };
        let kept = Arc::new(Kept(Mutex::new(account("grant")), Mutex::default()));
        let grants = Arc::new(kept.clone());
        let engine = SearchEngine::new(settings, http_client(), clock.clone(), Random::seeded(1), grants, None);
        let reader = Reader::new(Arc::new(engine), clock, 1 << 24, chrono::TimeDelta::hours(6), None);
        Self { upstream, reader, hand, kept }
    }

    async fn read(&self, part: &Part) -> Result<Arc<Reading>, ReadError> {
        self.read_as(&self.kept.account(), part).await
    }

    /// Reads as a request that found `account` stored when it began.
    async fn read_as(&self, account: &Account, part: &Part) -> Result<Arc<Reading>, ReadError> {
        self.reader.read(account, &site(), part, &Plan::everything()).await
    }

    /// The owner consents again.
    fn connect_again(&self, token: &str) {
        let mut kept = self.kept.0.lock().unwrap();
        kept.connected_at += chrono::TimeDelta::seconds(1);
        kept.refresh_token = token.into();
    }
}

fn site() -> SiteUrl {
    SiteUrl("sc-domain:example.test".to_owned())
}

fn account(grant: &str) -> Account {
    Account { id: Uuid::nil(), refresh_token: grant.into(), connected_at: DateTime::UNIX_EPOCH }
}

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// Queries of one final day, at most `cap`.
fn part(cap: usize) -> Part {
    Part {
        dimensions: vec![Dimension::Query],
        start: date("2026-10-01"),
        end: date("2026-10-01"),
        search_type: SearchType::Web,
        aggregation: None,
        data_state: DataState::Final,
        cap,
        among: None,
    }
}
