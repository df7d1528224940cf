//! An entry of a stream.

/// One query, hidden pseudo-query or story.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Key of all its random numbers.
    pub key: u64,
    /// What was typed; empty for hidden queries and stories.
    pub text: String,
    /// Place of `text` in alphabetical order.
    pub rank: u32,
    /// Whether the query is withheld for privacy.
    pub anonymised: bool,
    /// Whether the query names the brand.
    pub brand: bool,
    /// Mean impressions on an ordinary day.
    pub mean: f64,
    /// Usual topmost position, at least 1.
    pub position: f64,
    /// Indices of the pages shown; the first always is.
    pub pages: Vec<u16>,
}
