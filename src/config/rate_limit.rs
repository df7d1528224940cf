//! Settings of the rate limits.

use common::addresses::TrustedProxies;
use http::HeaderName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rate of requests per caller, and the address under which callers without credentials are counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimit {
    /// Switches rate limits on.
    pub enabled: bool,
    /// Sustained requests per user and minute. A plan may have its own rate.
    #[schemars(range(min = 1))]
    pub per_minute: u32,
    /// Maximum number of requests that may come at once (`X-RateLimit-Limit`).
    #[schemars(range(min = 1))]
    pub burst: u32,
    /// Maximum number of requests under way at once in one process, for each person, share link and anonymous address. It holds even if
    /// `rate_limit.enabled` is `false`. 0 means no limit.
    pub max_in_flight: u32,
    /// [Proxies](SELF-HOSTING.md#behind-a-proxy) whose headers about a client's address are trusted.
    #[schemars(with = "Vec<String>", extend("x-allowed" = "addresses and networks such as `10.0.0.1`, `192.168.0.0/16` or `fd00::/8`"))]
    pub trusted_proxies: TrustedProxies,
    /// Header with the client's address: `X-Forwarded-For`, `Forwarded`, or one that holds a single address.
    #[serde(with = "header_name")]
    #[schemars(with = "String", extend("x-allowed" = "the name of a header, such as `X-Forwarded-For`"))]
    pub client_address_header: HeaderName,
}

impl Default for RateLimit {
    fn default() -> Self {
        Self {
            enabled: true,
            per_minute: 120,
            burst: 60,
            max_in_flight: 64,
            trusted_proxies: TrustedProxies::default(),
            client_address_header: HeaderName::from_static("x-forwarded-for"),
        }
    }
}

/// Writes and reads the name of a header.
mod header_name {
    use http::HeaderName;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(name: &HeaderName, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(name.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<HeaderName, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}
