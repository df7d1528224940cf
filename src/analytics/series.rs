//! Daily series. The search engine omits days without impressions, while a response of this service has every day.

use std::collections::BTreeMap;

use api::analytics::SeriesPoint;
use chrono::NaiveDate;

use super::{change::to_api, metrics::Metrics};

/// Every day from `start` to `end`, both included. A day that `rows` lacks has zero clicks and impressions and no CTR or
/// position.
#[must_use]
pub fn filled(rows: &BTreeMap<NaiveDate, Metrics>, start: NaiveDate, end: NaiveDate) -> Vec<SeriesPoint> {
    start
        .iter_days()
        .take_while(|day| *day <= end)
        .map(|date| {
            let day = to_api(&rows.get(&date).copied().unwrap_or_else(Metrics::zero));
            SeriesPoint { date, clicks: day.clicks, impressions: day.impressions, ctr: day.ctr, position: day.position }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(n: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, n).unwrap()
    }

    #[test]
    fn missing_days_are_zeros_without_ratios() {
        let rows = BTreeMap::from([(day(2), Metrics::of_row(1.0, 4.0, Some(2.5)))]);
        let series = filled(&rows, day(1), day(3));
        assert_eq!(series.iter().map(|p| p.clicks).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(series.iter().map(|p| p.position).collect::<Vec<_>>(), [None, Some(2.5), None]);
    }

    #[test]
    fn a_window_that_ends_before_it_starts_has_no_days() {
        assert!(filled(&BTreeMap::new(), day(3), day(2)).is_empty());
    }
}
