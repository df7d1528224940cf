//! An entry of a stream.

/// One query, anonymised pseudo-query or story.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The key of all its random numbers.
    pub key: u64,
    /// The query text. Empty for anonymised queries and stories.
    pub text: String,
    /// Position of `text` in alphabetical order.
    pub rank: u32,
    /// True if the query is withheld for privacy.
    pub anonymised: bool,
    /// True if the query contains a brand term.
    pub brand: bool,
    /// Mean impressions on an average day.
    pub mean: f64,
    /// Usual topmost position, at least 1.
    pub position: f64,
    /// Indices of the pages shown. The first is always shown.
    pub pages: Vec<u16>,
}
