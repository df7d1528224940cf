//! Metrics of requests to other services.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::Registry,
};

use super::requests::histogram;

/// The outcome of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpstreamOutcome {
    /// A successful answer.
    Ok,
    /// A refusal because the quota is used up.
    Quota,
    /// Another refusal of the request.
    Refused,
    /// A failure of the other service, or no answer in time.
    Failed,
}

impl UpstreamOutcome {
    /// Its name in metrics and spans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Quota => "quota",
            Self::Refused => "refused",
            Self::Failed => "failed",
        }
    }
}

/// The outcome of one refresh of an access token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenOutcome {
    /// A token.
    Ok,
    /// The grant has ended.
    GrantEnded,
    /// The service's client is refused, or its request is.
    ClientRefused,
    /// A failure of the token endpoint, or no answer in time.
    Failed,
}

impl TokenOutcome {
    /// Its name in metrics and spans.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::GrantEnded => "grant_ended",
            Self::ClientRefused => "client_refused",
            Self::Failed => "failed",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempt {
    outcome: &'static str,
}

/// Counts and times attempts of requests to the search engine's API. Waiting for the pace is not part of an attempt.
#[derive(Debug, Clone)]
pub struct UpstreamMeter {
    attempts: Family<Attempt, Counter>,
    seconds: Histogram,
    tokens: Family<Attempt, Counter>,
    others: Family<Attempt, Counter>,
}

impl Default for UpstreamMeter {
    fn default() -> Self {
        let others = Family::default();
        for outcome in ["ok", "passed_over", "failed"] {
            drop(Family::<Attempt, Counter>::get_or_create(&others, &Attempt { outcome }));
        }
        Self { attempts: Family::default(), seconds: histogram(), tokens: Family::default(), others }
    }
}

impl UpstreamMeter {
    /// Adds the metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "search_engine_requests",
            "Attempts of requests to the search engine, by outcome",
            self.attempts.clone(),
        );
        registry.register(
            "search_engine_request_duration_seconds",
            "Time from an attempt to the end of the search engine's answer",
            self.seconds.clone(),
        );
        registry.register(
            "search_engine_token_requests",
            "Refreshes of access tokens at the search engine, by outcome",
            self.tokens.clone(),
        );
        registry.register(
            "search_engine_other_accounts",
            "Requests by another account than the property's own, which was busy, by outcome",
            self.others.clone(),
        );
    }

    /// Counts one request by another account than the property's own.
    pub fn note_other(&self, outcome: &'static str) {
        self.others.get_or_create(&Attempt { outcome }).inc();
    }

    /// Counts one refresh of an access token.
    pub fn note_token(&self, outcome: TokenOutcome) {
        self.tokens.get_or_create(&Attempt { outcome: outcome.name() }).inc();
    }

    /// Counts one attempt.
    pub fn note(&self, outcome: UpstreamOutcome, took: Duration) {
        self.attempts.get_or_create(&Attempt { outcome: outcome.name() }).inc();
        self.seconds.observe(took.as_secs_f64());
    }
}
