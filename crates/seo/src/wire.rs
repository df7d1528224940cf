//! Requests to a provider: time limits, and repetition where nothing is paid twice.

use std::time::Duration;

use chrono::{DateTime, Utc};
use common::{
    bounded::{self, Unread},
    clock::Clock,
    waiting,
};
use reqwest::{RequestBuilder, header::HeaderMap};
use serde_json::Value;
use telemetry::{providers::ProviderMeter, traces::Span, upstream::UpstreamOutcome};
use tokio::time::Instant;

use super::error::SeoError;

/// The number of times that a request is sent at most.
const ATTEMPTS: u32 = 3;

/// The most bytes of an answer: a thousand rows with every field have a few million.
const MOST_BYTES: usize = 16 << 20;

/// Time limits and the delay of repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The time limit of a question about the account.
    pub account: Duration,
    /// The time limit of a question that costs money. It continues when nobody waits for it, because it may be charged.
    pub question: Duration,
    /// The time for which a person waits for an answer.
    pub wait: Duration,
    /// The delay before the first repetition. It doubles with each.
    pub backoff: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            account: Duration::from_secs(8),
            question: Duration::from_secs(55),
            wait: Duration::from_secs(25),
            backoff: Duration::from_millis(200),
        }
    }
}

/// A provider's root URL and the client of its requests.
#[derive(Clone)]
pub struct Wire {
    /// The root before `/v3`, without a slash at the end.
    pub root: String,
    http: reqwest::Client,
    patience: Patience,
    meter: ProviderMeter,
    clock: Clock,
}

/// The possible cost of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Price {
    /// Nothing. It can always be repeated.
    Free,
    /// Money. It is repeated only if nothing was charged.
    Money,
}

/// A response.
#[derive(Debug)]
pub(super) struct Reply {
    /// The time at which it came.
    pub at: DateTime<Utc>,
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, null if it is not JSON.
    pub body: Value,
}

impl Reply {
    /// A number in a header.
    pub fn number(&self, header: &str) -> Option<u64> {
        self.headers.get(header)?.to_str().ok()?.trim().parse().ok()
    }

    /// The seconds of `Retry-After`, or `otherwise`.
    pub fn retry_after(&self, otherwise: u64) -> u64 {
        waiting::time(&self.headers, self.at).map_or(otherwise, |wait| wait.as_secs().max(1))
    }
}

/// A failed attempt.
pub(super) struct Failure {
    /// The reason.
    pub error: SeoError,
    /// True if it is certain that nothing was charged.
    pub unpaid: bool,
}

impl Wire {
    /// Requests to the provider below `root`.
    #[must_use]
    pub fn new(root: &str, http: reqwest::Client, patience: Patience, meter: ProviderMeter, clock: Clock) -> Self {
        Self { root: root.trim_end_matches('/').to_owned(), http, patience, meter, clock }
    }

    /// The client of requests.
    pub(super) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Sends a request and reads its response with `read`. Sends it again after a failure that may pass at once, if it is free or
    /// nothing was charged.
    pub(super) async fn ask<T>(
        &self,
        price: Price,
        request: impl Fn() -> RequestBuilder + Send + Sync,
        read: impl Fn(&Reply) -> Result<T, Failure> + Send + Sync,
    ) -> Result<T, SeoError> {
        let mut backoff = self.patience.backoff;
        for attempt in 1.. {
            let start = Instant::now();
            let span = Span::attempt(if price == Price::Free { "seo account" } else { "seo question" }, attempt - 1);
            span.set("sightline.provider", self.meter.provider());
            let reply = span.around(self.send(price, request())).await;
            let took = start.elapsed();
            // The body says what happened, since a provider may refuse with status 200.
            let outcome = reply.and_then(|reply| {
                span.status(reply.status);
                read(&reply)
            });
            let meant = outcome.as_ref().map_or_else(|failure| failure.error.outcome(), |_| UpstreamOutcome::Ok);
            self.meter.note(meant, took);
            span.ended(meant.name(), meant == UpstreamOutcome::Ok);
            drop(span);
            let Failure { error, unpaid } = match outcome {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let passes = matches!(error, SeoError::Unavailable(_)) && (unpaid || price == Price::Free);
            if !passes || attempt >= ATTEMPTS {
                return Err(error);
            }
            tokio::time::sleep(backoff).await;
            backoff *= 2;
        }
        Err(SeoError::Unavailable("not asked".to_owned()))
    }

    async fn send(&self, price: Price, request: RequestBuilder) -> Result<Reply, Failure> {
        let limit = if price == Price::Free { self.patience.account } else { self.patience.question };
        let lost = |error: reqwest::Error| Failure {
            // A request that never reached the provider costs nothing.
            unpaid: error.is_connect(),
            error: SeoError::Unavailable(error.without_url().to_string()),
        };
        let answer = request.timeout(limit).send().await.map_err(lost)?;
        let (at, status, headers) = (self.clock.now(), answer.status().as_u16(), answer.headers().clone());
        // Where the answer has begun, it may be charged.
        let unread = |error: Unread| Failure { unpaid: false, error: SeoError::Unavailable(error.to_string()) };
        let body = bounded::bytes(answer, MOST_BYTES).await.map_err(unread)?;
        Ok(Reply { at, status, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
    }
}
