//! Settings of the connections to the service.

use serde::{Deserialize, Serialize};

use crate::server::Deadlines;

/// Limits on open connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Connections {
    /// In total.
    pub max: usize,
    /// From one address, or one IPv6 /48. Proxies in `rate_limit.trusted_proxies` may open more.
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
