//! Roles on a property.

use poem_openapi::Enum;
use serde::{Deserialize, Serialize};

/// Role of a user on a property, lowest first. `viewer` reads; `editor` also writes annotations, segments, topic
/// clusters and branded keywords; `admin` also manages share links; `owner` also tracks, syncs and grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also writes annotations, segments, topic clusters and branded keywords.
    Editor,
    /// Also manages share links.
    Admin,
    /// The user who connected the search account.
    Owner,
}

crate::enum_param!(Role);
