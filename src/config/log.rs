//! Settings of the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use telemetry::logs::LogFormat;

/// The log on stderr.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// Format of the log on stderr. `json` writes one JSON object per line.
    #[schemars(with = "String", extend("x-allowed" = "`text` or `json`"))]
    pub format: LogFormat,
}
