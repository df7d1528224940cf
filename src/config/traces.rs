//! Settings of traces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::urls::CollectorUrl;

/// Traces for operators.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Traces {
    /// Root of a collector that takes [traces](OPERATING.md#traces) by OTLP over HTTP. `/v1/traces` is appended. Without it no span is made.
    pub otlp_endpoint: Option<CollectorUrl>,
}

impl CollectorUrl {
    /// The address that takes spans.
    #[must_use]
    pub fn of_traces(&self) -> String {
        format!("{}/v1/traces", self.as_str().trim_end_matches('/'))
    }
}
