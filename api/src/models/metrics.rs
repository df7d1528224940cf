//! Numbers as they go over the wire.

use poem_openapi::{Enum, Object};
use serde::Serialize;

/// Clicks, impressions, CTR and position of a set of rows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct Metrics {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Clicks ÷ impressions; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: Option<f64>,
    /// Impression-weighted average position, 1 is the top; null without impressions and where the search type has none.
    #[oai(nullable, validator(minimum(value = "1")))]
    pub position: Option<f64>,
}

/// The difference of a count between the two windows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CountChange {
    /// Current minus previous; null where one of them is not known.
    #[oai(nullable)]
    pub absolute: Option<i64>,
    /// `100 × absolute ÷ previous`; null where previous is zero or not known.
    #[oai(nullable)]
    pub percent: Option<f64>,
}

/// The difference of a ratio or a position between the two windows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct AbsoluteChange {
    /// Current minus previous; null where one of them is undefined. A position that went down in number improved.
    #[oai(nullable)]
    pub absolute: Option<f64>,
}

/// Current minus previous, for every metric.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct Change {
    /// Change in clicks.
    pub clicks: CountChange,
    /// Change in impressions.
    pub impressions: CountChange,
    /// Change in CTR, as a fraction (0.01 is one percentage point).
    pub ctr: AbsoluteChange,
    /// Change in position; negative is an improvement.
    pub position: AbsoluteChange,
}

/// In which window's rows a key stands: in both, only in the current one (`new`), only in the comparison's (`lost`), or in one while
/// the other list was cut at its cap, so that it may be there too (`unknown`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// In both.
    Both,
    /// Only in the current window, and the other list is complete.
    New,
    /// Only in the comparison window, and the current list is complete.
    Lost,
    /// Only in one, and the other window's list was cut at its cap, so it may be there too.
    Unknown,
}
