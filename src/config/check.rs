//! Validation of settings beyond their types.

use common::urls::is_secure;
use lettre::message::Mailbox;
use url::Url;

use super::{Config, ConfigError, Secret};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const SIX_HOURS: u64 = 6 * HOUR;
const NINETY_DAYS: u64 = 90 * 24 * HOUR;
const TEN_YEARS: u64 = 3_650 * 24 * HOUR;

impl Config {
    /// Refuses settings that make no sense.
    ///
    /// # Errors
    /// Names the first such setting and the allowed values.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_urls()?;
        self.cors.check()?;
        self.check_mail()?;
        let named_elsewhere = self.identity.issuer.is_some() || self.identity.mcp_audience.is_none();
        allow(
            named_elsewhere,
            "identity.mcp_audience",
            "left out without identity.issuer: the embedded issuer names the tool endpoint",
        )?;
        self.identity.sign_in.check(self.identity.issuer.as_deref())?;
        self.identity.introspection.check(self.identity.issuer.as_deref())?;
        self.check_numbers()?;
        self.billing.check()?;
        self.plans.check()?;
        self.check_keys()?;
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

    fn check_keys(&self) -> Result<(), ConfigError> {
        let keys = &self.secrets;
        for (name, key) in [("secrets.key", &keys.key), ("secrets.previous_key", &keys.previous_key)] {
            let Some(Secret(key)) = key else { continue };
            let hex = key.len() == 64 && key.chars().all(|c| c.is_ascii_hexdigit());
            allow(hex, name, "64 hex digits")?;
        }
        let Some(Secret(previous)) = &keys.previous_key else { return Ok(()) };
        let differs = keys.key.as_ref().is_some_and(|Secret(key)| !key.eq_ignore_ascii_case(previous));
        allow(differs, "secrets.previous_key", "the key before secrets.key, beside a new secrets.key")
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
            let is_root = matches!(name, "base_url" | "mcp.url");
            allow(!is_root || !url.ends_with('/'), name, "a URL without a slash at the end")?;
            let secure = !is_root || Url::parse(url).is_ok_and(|url| is_secure(&url));
            allow(
                secure,
                name,
                "an https URL, or an http one on a loopback address: passwords, cookies and tokens travel to it",
            )?;
        }
        self.check_upstream()
    }

    fn check_mail(&self) -> Result<(), ConfigError> {
        let Some(Secret(smtp_url)) = &self.mail.smtp_url else { return Ok(()) };
        let known = Url::parse(smtp_url).is_ok_and(|url| {
            matches!(url.scheme(), "smtp" | "smtps") && url.host_str().is_some_and(|host| !host.is_empty())
        });
        allow(
            known,
            "mail.smtp_url",
            "smtps://USER:PASSWORD@HOST, or smtp://… for a server with STARTTLS or on this machine",
        )?;
        let from = self.mail.from.as_deref().is_some_and(|from| from.parse::<Mailbox>().is_ok());
        allow(
            from,
            "mail.from",
            "the address that mail comes from, because mail.smtp_url is set: sightline@example.org",
        )
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
        for (name, url) in providers {
            let Some(url) = url else { continue };
            let plain = Url::parse(url).is_ok_and(|url| has_no_user(&url) && url.query().is_none());
            allow(plain, name, "an https URL without a user, a password and a query")?;
        }
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
        allow(self.connections.max_per_address > 0, "connections.max_per_address", "a whole number from 1")?;
        allow(self.rate_limit.per_minute > 0, "rate_limit.per_minute", "a whole number from 1")?;
        allow(self.rate_limit.burst > 0, "rate_limit.burst", "a whole number from 1")?;
        let age = self.identity.key_max_age().0;
        allow((HOUR..=TEN_YEARS).contains(&age), "identity.key_max_age", "1h to 3650d")?;
        let age = self.identity.max_token_age().0;
        allow((MINUTE..=NINETY_DAYS).contains(&age), "identity.max_token_age", "1m to 90d")?;
        let header = http::HeaderName::from_bytes(self.rate_limit.client_address_header.as_bytes());
        allow(header.is_ok(), "rate_limit.client_address_header", "the name of a header, such as X-Forwarded-For")?;
        allow((1..=SIX_HOURS).contains(&self.cache.ttl.0), "cache.ttl", "1s to 6h")?;
        allow(engine.max_in_flight > 0, "search_engine.max_in_flight", "a whole number from 1")?;
        allow(engine.bucket > 0, "search_engine.bucket", "a whole number from 1")?;
        allow(engine.refill_per_second > 0, "search_engine.refill_per_second", "a whole number from 1")
    }
}

/// Returns whether a URL holds neither a user nor a password. One that does would show them.
pub(super) fn has_no_user(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}

pub(super) fn is_http_url(text: &str) -> bool {
    Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.fragment().is_none())
}

pub(super) fn allow(holds: bool, setting: &str, allowed: &str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError(format!("setting `{setting}`: allowed is {allowed}"))) }
}
