//! Settings of the log.

use serde::{Deserialize, Serialize};
use telemetry::logs::LogFormat;

/// The log on stderr.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// The format of its lines.
    pub format: LogFormat,
}
