//! Settings of annotations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Annotations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Annotations {
    /// CSV file of [more events](design/analyses.md#warnings-and-system-annotations) that annotations show with `includeSystem=true`:
    /// `start,end,category,text,source`, where `end` may be empty. It is read at start.
    #[schemars(extend("x-allowed" = "the path of a file"))]
    pub system_file: Option<String>,
}
