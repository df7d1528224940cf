//! The fixed axes of search data: search types, devices, countries, hours and search appearances.

use serde::{Deserialize, Serialize};

/// The kind of search result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SearchType {
    /// Ordinary results.
    Web,
    /// The image tab.
    Image,
    /// The video tab.
    Video,
    /// The news tab of search.
    News,
    /// The Discover feed: pages only, no query, no position, no device.
    Discover,
    /// The Google News application: pages only, no query, no position.
    GoogleNews,
}

impl SearchType {
    /// All search types.
    pub const ALL: [Self; 6] = [Self::Web, Self::Image, Self::Video, Self::News, Self::Discover, Self::GoogleNews];

    /// Returns whether rows of this type come from a feed instead of a query.
    #[must_use]
    pub fn is_feed(self) -> bool {
        matches!(self, Self::Discover | Self::GoogleNews)
    }

    /// The name in the search engine's messages.
    #[must_use]
    pub fn wire_name(self) -> &'static str {
        match self {
            Self::Web => "WEB",
            Self::Image => "IMAGE",
            Self::Video => "VIDEO",
            Self::News => "NEWS",
            Self::Discover => "DISCOVER",
            Self::GoogleNews => "GOOGLE_NEWS",
        }
    }
}

/// Devices in alphabetical order.
pub(crate) const DEVICES: [&str; 3] = ["DESKTOP", "MOBILE", "TABLET"];

/// Countries (ISO 3166-1 alpha-3, lower case; `zzz` = unknown) in alphabetical order.
pub(crate) const COUNTRIES: [&str; 34] = [
    "arg", "aus", "aut", "bel", "bgd", "bra", "can", "che", "chl", "cze", "deu", "dnk", "egy", "esp", "fra", "gbr",
    "idn", "ind", "irl", "ita", "jpn", "mex", "nga", "nld", "phl", "pol", "prt", "rou", "swe", "tur", "usa", "vnm",
    "zaf", "zzz",
];

/// Countries by usual traffic, descending. A site's home country is not moved to the front.
pub(crate) const BY_TRAFFIC: [&str; 34] = [
    "usa", "gbr", "can", "ind", "deu", "aus", "fra", "bra", "mex", "phl", "tur", "rou", "nld", "esp", "ita", "pol",
    "idn", "swe", "zaf", "jpn", "irl", "bel", "che", "aut", "arg", "prt", "dnk", "nga", "vnm", "cze", "chl", "egy",
    "bgd", "zzz",
];

/// Search appearances that simulated pages can have, in alphabetical order.
pub(crate) const APPEARANCES: [&str; 7] = [
    "MERCHANT_LISTINGS",
    "NEWS_SHOWCASE",
    "PRODUCT_SNIPPETS",
    "REVIEW_SNIPPET",
    "TPF_FAQ",
    "TRANSLATED_RESULT",
    "VIDEO",
];

/// Relative traffic of each hour of the Pacific day: lowest from 3 to 5, highest from 10 to 20.
pub(crate) const HOURS: [f64; 24] = [
    0.6, 0.45, 0.33, 0.25, 0.25, 0.3, 0.5, 0.75, 1.0, 1.2, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3, 1.3, 1.15,
    1.0, 0.8,
];

/// Encodes a (device, country) pair as a small number.
pub(crate) const fn slot(device: usize, country: usize) -> usize {
    device * COUNTRIES.len() + country
}

/// The number of slots.
pub(crate) const SLOTS: usize = DEVICES.len() * COUNTRIES.len();

/// The device of a slot.
pub(crate) const fn device_of(slot: u8) -> usize {
    slot as usize / COUNTRIES.len()
}

/// The country of a slot.
pub(crate) const fn country_of(slot: u8) -> usize {
    slot as usize % COUNTRIES.len()
}

/// A table of `size` entries for random draws by one look-up. Index `i` fills a part in proportion to `shares[i]`.
#[expect(clippy::cast_possible_truncation, reason = "every axis has fewer than 256 values")]
pub(crate) fn draw_table(shares: &[f64], size: usize) -> Vec<u8> {
    let total: f64 = shares.iter().sum();
    let mut table = Vec::with_capacity(size);
    let mut sum = 0.0;
    for (index, share) in shares.iter().enumerate() {
        sum += share;
        let end = super::rng::count(sum / total * size as f64) as usize;
        table.resize(end.max(table.len()), index as u8);
    }
    table
}
