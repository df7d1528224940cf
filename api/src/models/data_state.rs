//! The days that numbers may count.

use poem_openapi::Enum;
use serde::{Deserialize, Serialize};

/// The days that an answer counts: final ones, or all, with those whose numbers still change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum DataState {
    /// Final days only.
    #[default]
    Final,
    /// All days, up to today.
    All,
}

crate::enum_param!(DataState);
