//! Settings of metrics.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Metrics for operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// The address that serves them. Everybody who reaches it can read them. Without it they are not served.
    pub listen: Option<SocketAddr>,
}
