//! The rows that the search engine lists for one window.

use std::hash::Hash;

use common::metrics::Metrics;

/// The name of a row: the value of its dimension, or the values of its dimensions.
pub trait Key: Copy + Default + Ord + Hash {}

impl<K: Copy + Default + Ord + Hash> Key for K {}

/// The search engine's list for one window: rows sorted by clicks, impressions and key.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a, K = &'a str> {
    /// Key and metrics, best first.
    pub rows: &'a [(K, Metrics)],
    /// True if more rows may exist.
    pub capped: bool,
}
