//! Settings of idempotent replays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Bytes;

/// Replays of writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Idempotency {
    /// Storage of answers to keyed writes. `database` stores them for 24 hours, encrypted. With `none` such writes run each time and
    /// return `Idempotency-Storage: unavailable`.
    pub store: ReplayStore,
    /// Maximum size of the stored answers of one user. Beyond it, or beyond 5,000 answers, keyed writes run, are not stored, and return
    /// `Idempotency-Storage: unavailable`.
    pub max_bytes_per_user: Bytes,
}

/// The storage of responses for replay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
