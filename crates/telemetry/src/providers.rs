//! Metrics of requests to the SEO providers.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::Registry,
};

use super::{requests::histogram, upstream::UpstreamOutcome};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempt {
    provider: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Named {
    provider: &'static str,
}

/// Counts and times attempts of requests to all providers.
#[derive(Debug, Clone)]
pub struct ProviderMeters {
    attempts: Family<Attempt, Counter>,
    seconds: Family<Named, Histogram, fn() -> Histogram>,
}

/// The meter of one provider.
#[derive(Debug, Clone)]
pub struct ProviderMeter {
    all: ProviderMeters,
    provider: &'static str,
}

impl Default for ProviderMeters {
    fn default() -> Self {
        Self { attempts: Family::default(), seconds: Family::new_with_constructor(histogram as fn() -> Histogram) }
    }
}

impl ProviderMeters {
    /// Returns the meter of the provider with this name.
    #[must_use]
    pub fn of(&self, provider: &'static str) -> ProviderMeter {
        drop(self.seconds.get_or_create(&Named { provider }));
        ProviderMeter { all: self.clone(), provider }
    }

    /// Adds the metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "seo_provider_requests",
            "Attempts of requests to an SEO provider, by outcome",
            self.attempts.clone(),
        );
        registry.register(
            "seo_provider_request_duration_seconds",
            "Time from an attempt to the end of an SEO provider's answer",
            self.seconds.clone(),
        );
    }
}

impl ProviderMeter {
    /// The name of the provider.
    #[must_use]
    pub fn provider(&self) -> &'static str {
        self.provider
    }

    /// Counts one attempt.
    pub fn note(&self, outcome: UpstreamOutcome, took: Duration) {
        let (provider, outcome) = (self.provider, outcome.name());
        self.all.attempts.get_or_create(&Attempt { provider, outcome }).inc();
        self.all.seconds.get_or_create(&Named { provider }).observe(took.as_secs_f64());
    }
}
