//! Settings of the rate limits.

use serde::{Deserialize, Serialize};

use crate::addresses::TrustedProxies;

/// How many requests a caller may send, and by which address callers without credentials are told apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimit {
    /// Whether requests are counted at all.
    pub enabled: bool,
    /// Sustained requests per minute.
    pub per_minute: u32,
    /// Requests that may come at once (`X-RateLimit-Limit`).
    pub burst: u32,
    /// Requests that may be under way at once; 0 sets no bound. It holds where requests are not counted, too.
    pub max_in_flight: u32,
    /// Proxies whose word about a caller's address is believed.
    pub trusted_proxies: TrustedProxies,
    /// The header in which they say it.
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
