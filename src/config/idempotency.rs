//! Settings of idempotent replays.

use serde::{Deserialize, Serialize};

use super::Bytes;

/// Replays of writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Idempotency {
    /// The storage of responses for replay.
    pub store: ReplayStore,
    /// Maximum size of the stored responses of one user in total.
    pub max_bytes_per_user: Bytes,
}

/// The storage of responses for replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayStore {
    /// In the service's database, in the write's own transaction.
    #[default]
    Database,
    /// No storage. Only the form of keys is checked.
    None,
}

impl Default for Idempotency {
    fn default() -> Self {
        Self { store: ReplayStore::default(), max_bytes_per_user: Bytes(64 * 1024 * 1024) }
    }
}
