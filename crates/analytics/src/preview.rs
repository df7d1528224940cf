//! The traffic that a classification would match, and the rest.
//!
//! Three readings without row grouping: all traffic, the matched part and, for classifications of queries, the part whose query
//! is known. `unmatched = known − matched` and `anonymised = total − known`, under any row caps; every page is known. A
//! negative remainder becomes 0, because the readings may be of different times.

use api::classifications::{ClassificationPreview, MatchedPart, MatchedRow, RemainingPart};
use common::metrics::Metrics;

use super::{
    change::{count, to_api},
    listing::Listing,
};

/// The number of rows that a preview shows.
const LARGEST: usize = 10;

/// Traffic of one window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// All traffic.
    pub total: Metrics,
    /// The part whose query is known. `None` for pages, which are all known.
    pub identified: Option<Metrics>,
    /// The part that the classification matches.
    pub matched: Metrics,
}

/// The preview of a classification that matches `rows`.
#[must_use]
pub fn preview(parts: &Parts, rows: Listing<'_>) -> ClassificationPreview {
    let Parts { total, identified, matched } = parts;
    let known = identified.as_ref().unwrap_or(total);
    let largest = rows.rows.iter().take(LARGEST);
    ClassificationPreview {
        matched: MatchedPart {
            metrics: to_api(matched),
            clicks_share: share(matched.clicks, total.clicks),
            impressions_share: share(matched.impressions, total.impressions),
        },
        unmatched: remaining(*known - *matched, total),
        anonymised: identified.map(|identified| remaining(*total - identified, total)),
        rows: rows.rows.len() as u64,
        rows_capped: rows.capped,
        largest: largest
            .map(|(key, metrics)| MatchedRow { key: (*key).to_owned(), metrics: to_api(metrics) })
            .collect(),
    }
}

/// A remainder of `total`, at least 0.
fn remaining(rest: Metrics, total: &Metrics) -> RemainingPart {
    let (clicks, impressions) = (rest.clicks.max(0.0), rest.impressions.max(0.0));
    RemainingPart {
        clicks: count(clicks),
        impressions: count(impressions),
        clicks_share: share(clicks, total.clicks),
        impressions_share: share(impressions, total.impressions),
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn metrics(clicks: u32, more: u32) -> Metrics {
        Metrics::of_row(f64::from(clicks), f64::from(clicks + more), Some(2.0))
    }

    fn of(parts: &Parts) -> ClassificationPreview {
        preview(parts, Listing { rows: &[], capped: false })
    }

    proptest! {
        #[test]
        fn the_parts_make_the_whole(parts in prop::array::uniform3((0_u32..90, 0_u32..90)), pages in any::<bool>()) {
            let [matched, other, hidden] = parts.map(|(clicks, more)| metrics(clicks, more));
            let identified = (!pages).then_some(matched + other);
            let found = of(&Parts { total: matched + other + hidden, identified, matched });
            let sum = |pick: fn(&RemainingPart) -> u64| pick(&found.unmatched) + found.anonymised.as_ref().map_or(0, pick);
            let total = matched + other + hidden;
            prop_assert_eq!(found.matched.metrics.clicks + sum(|part| part.clicks), count(total.clicks));
            prop_assert_eq!(found.matched.metrics.impressions + sum(|part| part.impressions), count(total.impressions));
            prop_assert_eq!(found.anonymised.is_some(), !pages);
        }
    }

    #[test]
    fn a_remainder_below_0_is_0_and_a_share_of_nothing_is_none() {
        let later = Parts { total: metrics(8, 8), identified: Some(metrics(9, 9)), matched: metrics(10, 10) };
        let found = of(&later);
        assert_eq!((found.unmatched.clicks, found.unmatched.impressions), (0, 0));
        assert_eq!(found.anonymised.map(|part| (part.clicks, part.clicks_share)), Some((0, Some(0.0))));
        let nothing = of(&Parts { total: Metrics::zero(), identified: None, matched: Metrics::zero() });
        assert_eq!((nothing.matched.clicks_share, nothing.unmatched.impressions_share), (None, None));
        assert_eq!((nothing.matched.metrics.ctr, nothing.matched.metrics.position), (None, None));
    }

    #[test]
    fn the_first_ten_rows_are_shown_and_all_are_counted() {
        let keys: Vec<String> = (0..12).map(|n| format!("row {n}")).collect();
        let rows: Vec<(&str, Metrics)> = keys.iter().map(|key| (key.as_str(), metrics(1, 1))).collect();
        let parts = Parts { total: metrics(20, 20), identified: None, matched: metrics(12, 12) };
        let found = preview(&parts, Listing { rows: &rows, capped: true });
        assert_eq!((found.rows, found.rows_capped), (12, true));
        let shown: Vec<&str> = found.largest.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(shown, keys[..10]);
    }
}
