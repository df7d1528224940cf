//! Settings of the rate limits.

use common::addresses::TrustedProxies;
use serde::{Deserialize, Serialize};

/// The rate of requests per caller, and the address under which callers without credentials are counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimit {
    /// True if requests are counted.
    pub enabled: bool,
    /// Sustained requests per minute.
    pub per_minute: u32,
    /// Maximum burst of requests (`X-RateLimit-Limit`).
    pub burst: u32,
    /// Maximum requests in flight; 0 means no limit. Applies even if requests are not counted.
    pub max_in_flight: u32,
    /// Proxies whose client address header is trusted.
    pub trusted_proxies: TrustedProxies,
    /// The header with the client's address.
    pub client_address_header: String,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            enabled: true,
            per_minute: 120,
            burst: 60,
            max_in_flight: 64,
            trusted_proxies: TrustedProxies::default(),
            client_address_header: "X-Forwarded-For".to_owned(),
        }
    }
}
