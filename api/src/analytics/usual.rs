//! The range that is usual for a day.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;

/// A range that is usual, bounds included.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
pub struct UsualRange {
    /// The lower bound, never below 0.
    #[oai(validator(minimum(value = "0")))]
    pub low: f64,
    /// The upper bound.
    #[oai(validator(minimum(value = "0")))]
    pub high: f64,
}

/// The usual range of a day: the mean of the same weekday in the 8 weeks that end the day before the window begins, ± 2 sample
/// standard deviations. Days that are not final, and days that a known incident of the search engine's data touches, are left out
/// of the 8. It takes weekdays into account, but neither seasons nor holidays.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
pub struct Usual {
    /// The usual clicks.
    pub clicks: UsualRange,
    /// The usual impressions.
    pub impressions: UsualRange,
}

/// A metric that has a usual range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum UsualMetric {
    /// Clicks.
    Clicks,
    /// Impressions.
    Impressions,
}

/// A direction of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Above the usual range.
    Up,
    /// Below the usual range.
    Down,
}

/// The last days of a window, where they are not usual: its last 3 days, or 5 of its last 7, lie outside the usual range on one side.
/// Days that are not final, and days that a known incident touches, are not among them. Clicks come before impressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Object, Serialize)]
pub struct Unusual {
    /// The metric.
    pub metric: UsualMetric,
    /// The side of the usual range.
    pub direction: Direction,
    /// The first day of the run up to the end of the window in which at most one day lies inside.
    pub since: NaiveDate,
    /// Number of days since then that lie outside.
    pub days: u32,
}
