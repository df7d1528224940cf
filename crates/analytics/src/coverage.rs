//! The part of the data that a list shows: rows read, rows that match, rows shown, and shares of clicks.

use api::models::{Aggregation, TableCoverage};

use super::{
    change::count,
    listing::{Key, Listing},
    page::Shown,
};

/// The clicks that shares are of, counted as the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whole {
    /// Clicks of the property.
    pub property: f64,
    /// Clicks of the question without its conditions on queries.
    pub slice: f64,
}

/// The rows that were read for a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Their number.
    pub rows: usize,
    /// Their clicks in the window.
    pub clicks: f64,
    /// True if there may be more.
    pub capped: bool,
}

impl Known {
    /// The rows of a listing.
    #[must_use]
    pub fn of<K: Key>(listing: Listing<'_, K>) -> Self {
        let clicks = listing.rows.iter().map(|(_, metrics)| metrics.clicks).sum();
        Self { rows: listing.rows.len(), clicks, capped: listing.capped }
    }
}

/// The part of the data that a list shows. `shown` is `None` for answers that list no rows, and `whole` for tables whose rows
/// overlap, so that their clicks cannot be added up, and where no day is counted. Reading went up to `ceiling` rows.
#[must_use]
pub fn coverage(
    known: Known,
    ceiling: usize,
    shown: Option<Shown>,
    aggregation: Aggregation,
    whole: Option<Whole>,
) -> TableCoverage {
    // The sum of no rows is -0, and no share is.
    let share = |clicks: Option<f64>, of: fn(&Whole) -> f64| {
        Some((clicks? + 0.0) / whole.as_ref().map(of).filter(|of| *of > 0.0)?)
    };
    let clicks = shown.map(|shown| shown.clicks).filter(|_| whole.is_some());
    TableCoverage {
        available: true,
        reason: None,
        aggregation: Some(aggregation),
        rows_shown: shown.map(|shown| shown.rows as u64),
        rows_matched: shown.and_then(|shown| shown.matched).map(|rows| rows as u64),
        rows_known: Some(known.rows as u64),
        rows_ceiling: Some(ceiling as u64),
        total_rows_capped: Some(known.capped),
        has_more: shown.and_then(|shown| shown.more),
        order_exact: shown.and_then(|shown| shown.exact),
        clicks: clicks.map(count),
        clicks_share: share(clicks, |whole| whole.property),
        slice_share: share(clicks, |whole| whole.slice),
        known_share: share(Some(known.clicks), |whole| whole.property),
    }
}

/// The coverage of a table that the search type does not have.
#[must_use]
pub fn unavailable(reason: &str) -> TableCoverage {
    TableCoverage { reason: Some(reason.to_owned()), ..TableCoverage::default() }
}

#[cfg(test)]
mod tests {
    use common::metrics::Metrics;

    use super::*;

    const LISTED: [(&str, f64); 3] = [("a", 5.0), ("b", 3.0), ("c", 1.0)];

    fn said(shown: Option<usize>, whole: Option<Whole>) -> TableCoverage {
        let rows = LISTED.map(|(key, clicks)| (key, Metrics::of_row(clicks, clicks * 10.0, Some(2.0))));
        let listing = Listing { rows: &rows, capped: true };
        let shown = shown.map(|limit| Shown::first(listing, limit));
        coverage(Known::of(listing), 3, shown, Aggregation::ByProperty, whole)
    }

    const WHOLE: Option<Whole> = Some(Whole { property: 32.0, slice: 16.0 });

    #[test]
    fn coverage_counts_the_rows_shown_against_the_whole() {
        let coverage = said(Some(2), WHOLE);
        assert_eq!((coverage.rows_shown, coverage.rows_matched, coverage.rows_known), (Some(2), Some(3), Some(3)));
        assert_eq!((coverage.clicks, coverage.has_more), (Some(8), Some(true)));
        assert_eq!((coverage.clicks_share, coverage.slice_share), (Some(0.25), Some(0.5)));
        assert_eq!((coverage.known_share, coverage.total_rows_capped), (Some(9.0 / 32.0), Some(true)));
        assert_eq!(coverage.rows_ceiling, Some(3));
        assert_eq!(said(Some(3), WHOLE).has_more, Some(false));
    }

    #[test]
    fn an_answer_that_lists_no_rows_says_what_was_read() {
        let coverage = said(None, WHOLE);
        let read = TableCoverage {
            available: true,
            aggregation: Some(Aggregation::ByProperty),
            rows_known: Some(3),
            rows_ceiling: Some(3),
            total_rows_capped: Some(true),
            known_share: Some(9.0 / 32.0),
            ..TableCoverage::default()
        };
        assert_eq!(coverage, read);
    }

    #[test]
    fn rows_that_overlap_are_not_added_up() {
        let coverage = said(Some(2), None);
        assert_eq!((coverage.rows_shown, coverage.clicks), (Some(2), None));
        assert_eq!((coverage.clicks_share, coverage.slice_share, coverage.known_share), (None, None, None));
    }

    #[test]
    fn the_share_of_no_rows_is_zero() {
        let shown = Shown { clicks: -0.0, ..Shown::default() };
        let known = Known { rows: 0, clicks: -0.0, capped: false };
        let coverage = coverage(known, 3, Some(shown), Aggregation::ByProperty, WHOLE);
        for share in [coverage.clicks_share, coverage.slice_share, coverage.known_share] {
            assert!(share.unwrap().is_sign_positive(), "{coverage:?}");
        }
    }

    #[test]
    fn no_share_is_one_of_nothing() {
        let coverage = said(Some(3), Some(Whole { property: 0.0, slice: 0.0 }));
        assert_eq!((coverage.clicks, coverage.clicks_share, coverage.known_share), (Some(9), None, None));
    }
}
