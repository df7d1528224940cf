//! Validation of settings beyond their types.

use url::Url;

use super::{Config, ConfigError, PlanTerms, Secret};
use crate::urls::is_secure;

const SIX_HOURS: u64 = 6 * 60 * 60;

impl Config {
    /// Refuses settings that make no sense.
    ///
    /// # Errors
    /// Names the first such setting and the allowed values.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_urls()?;
        self.check_numbers()?;
        if let Some(Secret(key)) = &self.secrets.key {
            let hex = key.len() == 64 && key.chars().all(|c| c.is_ascii_hexdigit());
            allow(hex, "secrets.key", "64 hex digits")?;
        }
        if let Some(url) = &self.database.url {
            let known = ["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
            allow(known, "database.url", "a URL that starts with sqlite: or postgres://")?;
        }
        if let Some(url) = &self.redis.url {
            let known = ["redis://", "rediss://"].iter().any(|scheme| url.starts_with(scheme));
            allow(known, "redis.url", "a URL that starts with redis:// or rediss://")?;
        }
        allow(!self.data_dir.is_empty(), "data_dir", "the path of a folder")
    }

    fn check_urls(&self) -> Result<(), ConfigError> {
        let own = [
            ("base_url", &self.base_url),
            ("subscribe_url", &self.subscribe_url),
            ("mcp.url", &self.mcp.url),
            ("identity.issuer", &self.identity.issuer),
        ];
        for (name, url) in own {
            let Some(url) = url else { continue };
            allow(is_http_url(url), name, "an absolute http or https URL without a fragment")?;
            allow(!name.ends_with("base_url") || !url.ends_with('/'), name, "a URL without a slash at the end")?;
        }
        self.check_upstream()
    }

    /// Checks URLs to which passwords, secrets and refresh tokens are sent.
    fn check_upstream(&self) -> Result<(), ConfigError> {
        let engine = &self.search_engine;
        let endpoints = [
            ("search_engine.api_url", &engine.api_url),
            ("search_engine.authorize_url", &engine.authorize_url),
            ("search_engine.token_url", &engine.token_url),
            ("search_engine.revoke_url", &engine.revoke_url),
            ("search_engine.userinfo_url", &engine.userinfo_url),
        ];
        let providers =
            [("seo.provider_a.url", &self.seo.provider_a.url), ("seo.provider_b.url", &self.seo.provider_b.url)];
        for (name, url) in endpoints.into_iter().chain(providers) {
            let Some(url) = url else { continue };
            let secure = is_http_url(url) && Url::parse(url).is_ok_and(|url| is_secure(&url));
            allow(secure, name, "an absolute https URL without a fragment, or an http one on a loopback address")?;
        }
        let given = endpoints.map(|(_, url)| url.is_some());
        let whole = given.iter().all(|set| *set) || given.iter().all(|set| !set);
        allow(
            whole,
            "search_engine",
            "api_url, authorize_url, token_url, revoke_url and userinfo_url together, or none of them",
        )
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        let engine = &self.search_engine;
        allow(self.database.max_connections > 0, "database.max_connections", "a whole number from 1")?;
        allow((1..=1_000_000).contains(&self.connections.max), "connections.max", "1 to 1,000,000")?;
        allow(self.billing.trial_days <= 36_500, "billing.trial_days", "0 to 36,500")?;
        allow(self.connections.max_per_address > 0, "connections.max_per_address", "a whole number from 1")?;
        allow(self.rate_limit.per_minute > 0, "rate_limit.per_minute", "a whole number from 1")?;
        allow(self.rate_limit.burst > 0, "rate_limit.burst", "a whole number from 1")?;
        let header = http::HeaderName::from_bytes(self.rate_limit.client_address_header.as_bytes());
        allow(header.is_ok(), "rate_limit.client_address_header", "the name of a header, such as X-Forwarded-For")?;
        allow((1..=SIX_HOURS).contains(&self.cache.ttl.0), "cache.ttl", "1s to 6h")?;
        allow(engine.max_in_flight > 0, "search_engine.max_in_flight", "a whole number from 1")?;
        allow(engine.bucket > 0, "search_engine.bucket", "a whole number from 1")?;
        allow(engine.refill_per_second > 0, "search_engine.refill_per_second", "a whole number from 1")?;
        for (name, plan) in [("free", &self.plans.free), ("pro", &self.plans.pro), ("agency", &self.plans.agency)] {
            check_plan(name, plan)?;
        }
        Ok(())
    }
}

fn check_plan(name: &str, plan: &PlanTerms) -> Result<(), ConfigError> {
    allow(plan.per_minute != Some(0), &format!("plans.{name}.per_minute"), "a whole number from 1")?;
    allow(plan.burst != Some(0), &format!("plans.{name}.burst"), "a whole number from 1")
}

fn is_http_url(text: &str) -> bool {
    Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.fragment().is_none())
}

fn allow(holds: bool, setting: &str, allowed: &str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError(format!("setting `{setting}`: allowed is {allowed}"))) }
}
