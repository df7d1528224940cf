//! Search types.

use poem_openapi::Enum;
use serde::{Deserialize, Serialize};

/// The kind of search that the data covers. `discover` and `googleNews` have no queries and no positions; `discover`
/// has no devices either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub enum SearchType {
    /// Web search.
    Web,
    /// Discover.
    Discover,
    /// Google News.
    GoogleNews,
    /// Image search.
    Image,
    /// Video search.
    Video,
}

crate::enum_param!(SearchType);
