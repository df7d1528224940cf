//! The clients of SEO providers.

use std::sync::Arc;

use chrono::TimeDelta;
use common::rate_limit::RateLimits;
use replicas::Shared;
use seo::{PaidAnswers, Provider, ProviderA, ProviderB, Wire};
use telemetry::providers::ProviderMeters;

use crate::{
    config::{Config, IdentifierUrl},
    services::{
        analyses::search_data::SearchData,
        integrations::{Books, Integrations},
    },
};

/// The roots of the vendors' own servers, of provider A and of provider B.
pub const REAL: [&str; 2] = ["https://api.dataforseo.com", "https://api.ahrefs.com"];

/// The divisor of the cache's budget for answers of providers.
const SHARE: u64 = 16;
/// The least budget for answers of providers, in bytes. An answer without a place in the cache would be paid for again.
const FLOOR: u64 = 16 * 1024 * 1024;

/// Builds the connections to providers. `simulated` is the root URL of the simulated search engine.
pub fn integrations(
    config: &Config,
    search: &SearchData,
    simulated: Option<&str>,
    http: &reqwest::Client,
    shared: Option<&Shared>,
) -> Integrations {
    let patience = config.seo.patience;
    let meters = ProviderMeters::default();
    let wire = |name, setting: &Option<IdentifierUrl>, path: &str, real: &str| {
        Wire::new(
            &root(setting.as_ref(), simulated, path, real),
            http.clone(),
            patience,
            meters.of(name),
            search.clock.clone(),
        )
    };
    let [real_a, real_b] = REAL;
    let a = wire("a", &config.seo.provider_a.url, "/provider-a", real_a);
    let b = wire("b", &config.seo.provider_b.url, "/provider-b", real_b);
    let providers: [Arc<dyn Provider>; 2] = [Arc::new(ProviderA(a)), Arc::new(ProviderB(b))];
    let books = Books { db: search.writer.clone(), secrets: search.secrets.clone(), clock: search.clock.clone() };
    let ttl = TimeDelta::from_std(config.cache.ttl.duration()).unwrap_or(TimeDelta::hours(6));
    let budget = (budget(config.cache.max_bytes.0), ttl);
    let paid_answers =
        PaidAnswers::new(providers, Arc::new(books), search.clock.clone(), budget, patience.wait, shared);
    let failures = Arc::new(RateLimits::new(search.clock.clone()));
    Integrations { paid_answers, search: search.clone(), meters, failures }
}

/// The budget for paid answers, of the bytes that all caches may take.
fn budget(max_bytes: u64) -> usize {
    usize::try_from((max_bytes / SHARE).max(FLOOR)).unwrap_or(usize::MAX)
}

/// The root before `/v3`: as set, beside the simulated search engine, or the vendor's own.
fn root(setting: Option<&IdentifierUrl>, simulated: Option<&str>, path: &str, real: &str) -> String {
    match (setting, simulated) {
        (Some(url), _) => url.to_string(),
        (None, Some(root)) => format!("{root}{path}"),
        (None, None) => real.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paid_answers_have_a_place_however_small_the_cache_is() {
        for (all, paid) in [(0, 16 << 20), (1 << 20, 16 << 20), (256 << 20, 16 << 20), (1 << 30, 64 << 20)] {
            assert_eq!(budget(all), paid, "{all}");
        }
    }

    #[test]
    fn a_provider_is_real_where_the_search_engine_is_unless_it_is_set() {
        let of = |url: Option<&str>, simulated| {
            root(url.map(|url| url.parse().unwrap()).as_ref(), simulated, "/provider-a", "https://real.test")
        };
        assert_eq!(of(None, Some("http://127.0.0.1:9")), "http://127.0.0.1:9/provider-a");
        assert_eq!(of(None, None), "https://real.test");
        assert_eq!(of(Some("https://set.test"), Some("http://127.0.0.1:9")), "https://set.test");
    }
}
