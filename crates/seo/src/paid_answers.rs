//! Asks each question once: answers are cached for each holder of credentials, identical questions in flight are made once, and a
//! provider that limits the rate is left alone. Replicas that share Redis ask once for all.

use std::{sync::Arc, time::Duration};

use api::integrations::Provider as Name;
use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use common::{
    byte_cache::{ByteCache, CacheUse},
    clock::Clock,
    single_flight::SingleFlight,
};
use replicas::{Found, Readings, Shared, Urgency, Wanted};
use serde::{Deserialize, Serialize};
use telemetry::traces::Current;
use uuid::Uuid;

use super::{Amount, Credentials, Findings, Paid, Provider, Question, SeoError, pauses::Pauses};

/// The time for which another replica that asks may be missing before this one asks, too. The answer may have been charged.
const TIMEOUT: Duration = Duration::from_mins(1);

/// An answer of a provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The answer.
    pub found: Findings,
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

    /// The prefix of the keys of answers that replicas share.
    fn scope(&self) -> String {
        format!("{}:{}", scopes_of(self.connection), self.version)
    }
}

/// The prefix of the keys of all answers to a connection.
fn scopes_of(connection: Uuid) -> String {
    format!("p:{connection}")
}

/// Keeps account of charges, and of the state of the credentials that a question showed.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Notes the outcome of a question: its charge, or the reason why there is no answer.
    async fn note(&self, holder: &Holder, outcome: Result<Option<Amount>, &SeoError>);
}

/// An answer, and whether the provider was asked for it just now.
type Came = (Arc<Reading>, bool);

/// Both providers behind one cache.
#[derive(Clone)]
pub struct PaidAnswers {
    a: Arc<dyn Provider>,
    b: Arc<dyn Provider>,
    ledger: Arc<dyn Ledger>,
    cache: Arc<ByteCache<Arc<Reading>>>,
    /// The questions under way. Each may have been charged, so its answer is kept although nobody waits for it any more.
    questions: SingleFlight<String, Came, SeoError>,
    /// The answers of all replicas, if they share any.
    shared: Option<Readings>,
    pauses: Pauses,
    clock: Clock,
    ttl: TimeDelta,
    wait: Duration,
}

impl PaidAnswers {
    /// Caches answers of at most `max_bytes` in total for `ttl`. A caller waits for at most `wait`.
    #[must_use]
    pub fn new(
        [a, b]: [Arc<dyn Provider>; 2],
        ledger: Arc<dyn Ledger>,
        clock: Clock,
        (max_bytes, ttl): (usize, TimeDelta),
        wait: Duration,
        shared: Option<&Shared>,
    ) -> Self {
        let cache = Arc::new(ByteCache::new(max_bytes));
        let pauses = Pauses::sharing(shared.map(|shared| shared.notices("providers")), clock.clone());
        let (questions, shared) = (SingleFlight::lasting(), shared.map(Shared::readings));
        Self { a, b, ledger, cache, questions, shared, pauses, clock, ttl, wait }
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
        if let Some(shared) = self.shared.clone() {
            tokio::spawn(async move { shared.forget(&scopes_of(connection)).await });
        }
        let start = format!("{connection} ");
        self.questions.lock().forget(|key| key.starts_with(&start));
        self.cache.remove_all(|key| key.starts_with(&start));
        self.pauses.forget(&start);
    }

    /// Returns the answer from the cache, from an identical question under way, or from the provider.
    pub async fn ask(
        &self,
        provider: Name,
        holder: &Holder,
        credentials: &Credentials,
        question: Question,
    ) -> Result<Given, SeoError> {
        let json = serde_json::to_string(&question).map_err(|error| SeoError::Fault(error.to_string()))?;
        let key = format!("{}{json}", holder.prefix());
        let now = self.clock.moment();
        let (outcome, is_first) = {
            let mut questions = self.questions.lock();
            if let Some(outcome) = questions.get(&key) {
                (outcome, false)
            } else if let Some(reading) = self.cache.get(&key, now) {
                return Ok(Given { reading, is_fresh: false });
            } else {
                self.pauses.check(&holder.prefix())?;
                let (paid_answers, holder, credentials) = (self.clone(), holder.clone(), credentials.clone());
                let trace = Current::get();
                let outcome = questions.start(key.clone(), move |running| {
                    trace.around(async move {
                        let ask = async || {
                            let answer = paid_answers.provider(provider).answer(&credentials, &question).await;
                            paid_answers.settle(&holder, answer).await
                        };
                        let (reading, asked) = paid_answers.once(&holder, &json, ask).await?;
                        let expires_at = paid_answers.clock.moment().end_of(reading.read_at, paid_answers.ttl);
                        running
                            .keep(|| paid_answers.cache.put(key, reading.clone(), reading.found.bytes(), expires_at));
                        Ok((reading, asked))
                    })
                });
                (outcome, true)
            }
        };
        let answer = tokio::time::timeout(self.wait, outcome).await;
        let answer = answer.unwrap_or_else(|_| Err(SeoError::Unavailable("it takes too long".to_owned())));
        answer.map(|(reading, asked)| Given { reading, is_fresh: is_first && asked })
    }

    /// Returns the answer that another replica has or waits for, or asks for all.
    async fn once(
        &self,
        holder: &Holder,
        question: &str,
        ask: impl AsyncFnOnce() -> Result<Arc<Reading>, SeoError>,
    ) -> Result<Came, SeoError> {
        let Some(shared) = &self.shared else { return Ok((ask().await?, true)) };
        let scope = holder.scope();
        let wanted = Wanted { scope: &scope, request: question, urgency: Urgency::Later, patience: TIMEOUT };
        let claim = match shared.find(&wanted).await {
            Found::Reading(bytes) => match serde_json::from_slice(&bytes) {
                Ok(reading) => return Ok((Arc::new(reading), false)),
                Err(_) => return Ok((ask().await?, true)),
            },
            Found::Mine(claim) => claim,
            Found::Alone => return Ok((ask().await?, true)),
            Found::Failed => {
                return Err(SeoError::Unavailable("it did not answer another replica a moment ago".to_owned()));
            }
        };
        let reading = match ask().await {
            Ok(reading) => reading,
            Err(error) => {
                claim.fail();
                return Err(error);
            }
        };
        if let Ok(bytes) = serde_json::to_vec(&*reading) {
            claim.put(bytes, reading.read_at + self.ttl);
        }
        Ok((reading, true))
    }

    /// Keeps account of what an answer cost, and of a limited rate.
    async fn settle(&self, holder: &Holder, answer: Result<Paid, SeoError>) -> Result<Arc<Reading>, SeoError> {
        let now = self.clock.now();
        self.ledger.note(holder, answer.as_ref().map(|paid| paid.cost)).await;
        if let Err(SeoError::RateLimited { retry_after }) = answer {
            self.pauses.begin(holder.prefix(), TimeDelta::seconds(i64::try_from(retry_after).unwrap_or(60)));
        }
        let Paid { found, cost } = answer?;
        Ok(Arc::new(Reading { found, cost, read_at: now }))
    }
}
