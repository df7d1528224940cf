//! Search types.

use poem_openapi::Enum;
use serde::{Deserialize, Serialize};

use super::Dimension;

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

impl SearchType {
    /// Its name in parameters and answers, and at the search engine.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Discover => "discover",
            Self::GoogleNews => "googleNews",
            Self::Image => "image",
            Self::Video => "video",
        }
    }

    /// Returns whether rows can be grouped by the dimension, and filtered.
    #[must_use]
    pub fn has(self, dimension: Dimension) -> bool {
        match dimension {
            Dimension::Query => !matches!(self, Self::Discover | Self::GoogleNews),
            Dimension::Device => self != Self::Discover,
            Dimension::Page | Dimension::Country | Dimension::SearchAppearance => true,
        }
    }

    /// Returns whether results pages can be counted once per property.
    #[must_use]
    pub fn has_by_property(self) -> bool {
        !matches!(self, Self::Discover | Self::GoogleNews)
    }
}
