//! Kinds of search, and the dimensions that each has.

use api::models::FilterDimension;
use search_engine::{Dimension, SearchType};

/// Each kind with its value of `searchType` and its name.
pub const KINDS: [(SearchType, &str, &str); 5] = [
    (SearchType::Web, "web", "Web"),
    (SearchType::Image, "image", "Images"),
    (SearchType::Video, "video", "Videos"),
    (SearchType::Discover, "discover", "Discover"),
    (SearchType::GoogleNews, "googleNews", "Google News"),
];

/// The name of a kind.
pub fn name(kind: SearchType) -> &'static str {
    KINDS.iter().find(|(known, ..)| *known == kind).map_or("", |(.., name)| name)
}

/// Returns whether a kind has rows by a dimension.
pub fn has(kind: SearchType, dimension: FilterDimension) -> bool {
    match dimension {
        FilterDimension::Query => kind.has(Dimension::Query),
        FilterDimension::Device => kind.has(Dimension::Device),
        FilterDimension::Page | FilterDimension::Country | FilterDimension::SearchAppearance => true,
    }
}

/// Returns whether a kind can tell a part of the traffic. All but segments are told by queries.
pub fn has_class(kind: SearchType, class: &str) -> bool {
    class.starts_with("segment:") || has(kind, FilterDimension::Query)
}
