//! Kinds of search.

use api::models::{Dimension, SearchType};

/// Each kind with its name.
pub const KINDS: [(SearchType, &str); 5] = [
    (SearchType::Web, "Web"),
    (SearchType::Image, "Images"),
    (SearchType::Video, "Videos"),
    (SearchType::Discover, "Discover"),
    (SearchType::GoogleNews, "Google News"),
];

/// The name of a kind.
pub fn name(kind: SearchType) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name)
}

/// Returns whether a kind can tell a part of the traffic. All but segments are told by queries.
pub fn has_class(kind: SearchType, class: &str) -> bool {
    class.starts_with("segment:") || kind.has(Dimension::Query)
}
