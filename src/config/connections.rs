//! Settings of the connections to the service.

use serde::{Deserialize, Serialize};

use crate::server::Deadlines;

/// Connections that may be open at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Connections {
    /// In all.
    pub max: usize,
    /// From one address; proxies in `rate_limit.trusted_proxies` may open more.
    pub max_per_address: usize,
    /// How long each step may take. Not a setting: code that starts a service, such as a test, may shorten it.
    #[serde(skip)]
    pub deadlines: Deadlines,
}

impl Default for Connections {
    fn default() -> Self {
        // Below the 1,024 files that a process may usually have open.
        Self { max: 800, max_per_address: 256, deadlines: Deadlines::default() }
    }
}
