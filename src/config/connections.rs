//! Settings of the connections to the service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::server::Deadlines;

/// Limits on open connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Connections {
    /// Maximum number of open connections. The process accepts fewer where it may not open as many files. When there are as many, the
    /// one that is idle longest gives way to a new one: of the address with most connections, and of trusted proxies last.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max: usize,
    /// Maximum number of connections from one address, or one IPv6 /48. A further one is answered with 429 and closed. Proxies in
    /// `rate_limit.trusted_proxies` may open more.
    #[schemars(range(min = 1))]
    pub max_per_address: usize,
    /// Time limits for each step. Not a setting. Code that starts a service, such as a test, may shorten them.
    #[serde(skip)]
    pub deadlines: Deadlines,
}

impl Default for Connections {
    fn default() -> Self {
        // Below 1,024, the usual limit of open files per process.
        Self { max: 800, max_per_address: 100, deadlines: Deadlines::default() }
    }
}
