//! Settings of metrics.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Metrics for operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Metrics {
    /// Address that serves [metrics](METRICS.md) at `/metrics`. Everybody who reaches it can read them. Without it they are not served.
    #[schemars(extend("x-allowed" = "an IP address and a port, such as `127.0.0.1:9464`"))]
    pub listen: Option<SocketAddr>,
}
