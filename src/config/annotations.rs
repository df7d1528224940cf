//! Settings of annotations.

use serde::{Deserialize, Serialize};

/// Annotations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Annotations {
    /// A CSV file of more system annotations, in the form of `src/services/system_annotations/known.csv`.
    pub system_file: Option<String>,
}
