//! What is kept of writes, to be replayed.

use serde::{Deserialize, Serialize};

use super::Bytes;

/// Replays of writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Idempotency {
    /// Where answers are kept for replay.
    pub store: ReplayStore,
    /// What the kept answers of one user may take together.
    pub max_bytes_per_user: Bytes,
}

/// Where answers are kept for replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayStore {
    /// In the service's database, in the write's own transaction.
    #[default]
    Database,
    /// Nowhere: keys are checked for form only.
    None,
}

impl Default for Idempotency {
    fn default() -> Self {
        Self { store: ReplayStore::default(), max_bytes_per_user: Bytes(64 * 1024 * 1024) }
    }
}
