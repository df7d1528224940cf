//! The rows that the search engine lists for one window.

use super::metrics::Metrics;

/// The search engine's list for one window: rows sorted by clicks, impressions and key.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// Key and metrics, best first.
    pub rows: &'a [(&'a str, Metrics)],
    /// True if more rows may exist.
    pub capped: bool,
}
