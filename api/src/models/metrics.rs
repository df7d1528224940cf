//! Metrics as sent to clients.

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
    /// Current minus previous; null if either is unknown.
    #[oai(nullable)]
    pub absolute: Option<i64>,
    /// `100 × absolute ÷ previous`; null if previous is zero or unknown.
    #[oai(nullable)]
    pub percent: Option<f64>,
}

/// The difference of a ratio or a position between the two windows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct AbsoluteChange {
    /// Current minus previous; null if either is undefined. A lower position number is an improvement.
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

/// Windows whose rows contain a key: both, only the current one (`new`), only the comparison window (`lost`), or one
/// while the other window's list was cut at its cap and may contain it (`unknown`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// In both windows.
    Both,
    /// Only in the current window; the comparison window's list is complete.
    New,
    /// Only in the comparison window; the current window's list is complete.
    Lost,
    /// Only in one window; the other window's list was cut at its cap and may contain it.
    Unknown,
}

impl Presence {
    const ALL: [Self; 4] = [Self::Both, Self::New, Self::Lost, Self::Unknown];

    /// Its name in parameters and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::New => "new",
            Self::Lost => "lost",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the presence of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|presence| presence.name() == name)
    }
}
