//! Asks each question once: answers are cached for each holder of credentials, identical questions in flight are made once, and a
//! provider that limits the rate is left alone.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use api::integrations::Provider as Name;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use common::{
    byte_cache::{ByteCache, CacheUse},
    clock::Clock,
};
use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use uuid::Uuid;

use super::{Amount, Credentials, Found, Paid, Provider, Question, SeoError};

/// An answer of a provider.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The answer.
    pub found: Found,
    /// The charge. `None` if the provider did not say.
    pub cost: Option<Amount>,
    /// The time at which the provider was asked.
    pub read_at: DateTime<Utc>,
}

/// An answer as it was given to one caller.
#[derive(Debug, Clone)]
pub struct Given {
    /// The answer.
    pub reading: Arc<Reading>,
    /// True if the provider was asked for this caller, and not before or for somebody else.
    pub is_fresh: bool,
}

/// The holder of credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The stored connection.
    pub connection: Uuid,
    /// Distinguishes the connection's credentials from earlier ones.
    pub version: String,
}

impl Holder {
    fn prefix(&self) -> String {
        format!("{} {} ", self.connection, self.version)
    }
}

/// Keeps account of charges, and of the state of the credentials that a question showed.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Notes the outcome of a question: its charge, or the reason why there is no answer.
    async fn note(&self, holder: &Holder, outcome: Result<Option<Amount>, &SeoError>);
}

type Running = Shared<BoxFuture<'static, Result<Arc<Reading>, SeoError>>>;

/// Both providers behind one cache.
#[derive(Clone)]
pub struct Desk {
    a: Arc<dyn Provider>,
    b: Arc<dyn Provider>,
    ledger: Arc<dyn Ledger>,
    cache: Arc<ByteCache<Arc<Reading>>>,
    in_flight: Arc<Mutex<HashMap<String, Running>>>,
    /// The number of times that the answers of each connection were dropped.
    drops: Arc<Mutex<HashMap<Uuid, u64>>>,
    /// Holders whose requests a provider refused for their rate, until when.
    paused: Arc<Mutex<HashMap<String, DateTime<Utc>>>>,
    clock: Clock,
    ttl: TimeDelta,
    wait: Duration,
}

/// Removes a question from the map when it ends in any way.
struct Landing {
    key: String,
    in_flight: Arc<Mutex<HashMap<String, Running>>>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        lock(&self.in_flight).remove(&self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    /// Caches answers of at most `max_bytes` in total for `ttl`. A caller waits for at most `wait`.
    #[must_use]
    pub fn new(
        [a, b]: [Arc<dyn Provider>; 2],
        ledger: Arc<dyn Ledger>,
        clock: Clock,
        (max_bytes, ttl): (usize, TimeDelta),
        wait: Duration,
    ) -> Self {
        let cache = Arc::new(ByteCache::new(max_bytes));
        let (in_flight, drops, paused) = (Arc::default(), Arc::default(), Arc::default());
        Self { a, b, ledger, cache, in_flight, drops, paused, clock, ttl, wait }
    }

    /// A provider.
    #[must_use]
    pub fn provider(&self, name: Name) -> &Arc<dyn Provider> {
        match name {
            Name::A => &self.a,
            Name::B => &self.b,
        }
    }

    /// The current use of the cache.
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        self.cache.usage()
    }

    /// Drops all answers given to a connection, also answers under way when they arrive.
    pub fn forget(&self, connection: Uuid) {
        *lock(&self.drops).entry(connection).or_default() += 1;
        let start = format!("{connection} ");
        self.cache.remove_all(|key| key.starts_with(&start));
        lock(&self.paused).retain(|key, _| !key.starts_with(&start));
    }

    fn drops_of(&self, connection: Uuid) -> u64 {
        lock(&self.drops).get(&connection).copied().unwrap_or_default()
    }

    /// Returns the answer from the cache, from an identical question in flight, or from the provider. The question runs in a task
    /// of its own: it may have been charged, so its answer is kept although nobody waits for it.
    pub async fn ask(
        &self,
        provider: Name,
        holder: &Holder,
        credentials: &Credentials,
        question: Question,
    ) -> Result<Given, SeoError> {
        let json = serde_json::to_string(&question).map_err(|error| SeoError::Fault(error.to_string()))?;
        let key = format!("{}{json}", holder.prefix());
        let now = self.clock.now();
        let (running, is_fresh) = {
            let mut in_flight = lock(&self.in_flight);
            if let Some(running) = in_flight.get(&key) {
                (running.clone(), false)
            } else if let Some(reading) = self.cache.get(&key, now) {
                return Ok(Given { reading, is_fresh: false });
            } else {
                self.check_pause(holder, now)?;
                let running = self.start(provider, holder, credentials, question, &key);
                in_flight.insert(key, running.clone());
                (running, true)
            }
        };
        let answer = tokio::time::timeout(self.wait, running).await;
        let answer = answer.unwrap_or_else(|_| Err(SeoError::Unavailable("it takes too long".to_owned())));
        answer.map(|reading| Given { reading, is_fresh })
    }

    fn start(
        &self,
        provider: Name,
        holder: &Holder,
        credentials: &Credentials,
        question: Question,
        key: &str,
    ) -> Running {
        let (desk, holder, credentials) = (self.clone(), holder.clone(), credentials.clone());
        let landing = Landing { key: key.to_owned(), in_flight: self.in_flight.clone() };
        let drops = self.drops_of(holder.connection);
        let task = tokio::spawn(async move {
            let landing = landing;
            let answer = desk.provider(provider).answer(&credentials, &question).await;
            desk.settle(&holder, &landing.key, drops, answer).await
        });
        let joined = |outcome: Result<_, tokio::task::JoinError>| {
            outcome.unwrap_or_else(|error| Err(SeoError::Unavailable(format!("a question died: {error}"))))
        };
        task.map(joined).boxed().shared()
    }

    /// Keeps an answer, unless the connection's answers were dropped since there were `drops`, and account of its cost.
    async fn settle(
        &self,
        holder: &Holder,
        key: &str,
        drops: u64,
        answer: Result<Paid, SeoError>,
    ) -> Result<Arc<Reading>, SeoError> {
        let now = self.clock.now();
        self.ledger.note(holder, answer.as_ref().map(|paid| paid.cost)).await;
        match answer {
            Ok(Paid { found, cost }) => {
                let bytes = found.bytes();
                let reading = Arc::new(Reading { found, cost, read_at: now });
                if self.drops_of(holder.connection) == drops {
                    self.cache.put(key.to_owned(), reading.clone(), bytes, now + self.ttl);
                }
                Ok(reading)
            }
            Err(error) => {
                if let SeoError::RateLimited { retry_after } = error {
                    let until = now + TimeDelta::seconds(i64::try_from(retry_after).unwrap_or(60));
                    let mut paused = lock(&self.paused);
                    paused.retain(|_, end| *end > now);
                    paused.insert(holder.prefix(), until);
                }
                Err(error)
            }
        }
    }

    /// Fails while the provider is left alone.
    fn check_pause(&self, holder: &Holder, now: DateTime<Utc>) -> Result<(), SeoError> {
        let until = lock(&self.paused).get(&holder.prefix()).copied();
        match until.map(|until| (until - now).num_seconds()) {
            Some(seconds) if seconds > 0 => {
                Err(SeoError::RateLimited { retry_after: u64::try_from(seconds).unwrap_or(1) })
            }
            _ => Ok(()),
        }
    }
}
