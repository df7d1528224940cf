//! Breakdown tables: the rows of one window, or the outer join of two.
//!
//! A row that is missing is not a row of zeros. Both windows' lists may be cut at the fetch ceiling, so a key that stands
//! in one list only is `new` or `lost` where the other list is complete, and `unknown` where it was cut.

use std::collections::{HashMap, HashSet};

use api::{
    analytics::TableRow,
    models::{Aggregation, Presence, TableCoverage},
};

use super::{
    change::{change, count, wire},
    metrics::Metrics,
};

/// What the search engine listed for one window: rows by clicks, impressions and key, and whether the list was cut.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// Key and metrics, best first.
    pub rows: &'a [(&'a str, Metrics)],
    /// Whether there may be more.
    pub capped: bool,
}

/// The first `limit` rows of the window; with a comparison each carries `previous`, and up to `limit` rows that only the
/// comparison window has follow them.
#[must_use]
pub fn rows(current: Listing<'_>, previous: Option<Listing<'_>>, limit: usize) -> Vec<TableRow> {
    let Some(previous) = previous else {
        return current.rows.iter().take(limit).map(|(key, metrics)| plain(key, metrics)).collect();
    };
    let before: HashMap<&str, &Metrics> = previous.rows.iter().map(|(key, metrics)| (*key, metrics)).collect();
    let now: HashSet<&str> = current.rows.iter().map(|(key, _)| *key).collect();
    let only_now = if previous.capped { Presence::Unknown } else { Presence::New };
    let only_before = if current.capped { Presence::Unknown } else { Presence::Lost };
    let kept = current.rows.iter().take(limit).map(|(key, metrics)| match before.get(key) {
        Some(old) => TableRow {
            previous: Some(wire(old)),
            change: Some(change(metrics, old)),
            presence: Some(Presence::Both),
            ..plain(key, metrics)
        },
        None => TableRow { presence: Some(only_now), ..plain(key, metrics) },
    });
    let gone = previous.rows.iter().filter(|(key, _)| !now.contains(key)).take(limit).map(|(key, old)| TableRow {
        key: (*key).to_owned(),
        clicks: None,
        impressions: None,
        ctr: None,
        position: None,
        previous: Some(wire(old)),
        change: None,
        presence: Some(only_before),
    });
    kept.chain(gone).collect()
}

fn plain(key: &str, metrics: &Metrics) -> TableRow {
    let wire = wire(metrics);
    TableRow {
        key: key.to_owned(),
        clicks: Some(wire.clicks),
        impressions: Some(wire.impressions),
        ctr: wire.ctr,
        position: wire.position,
        previous: None,
        change: None,
        presence: None,
    }
}

/// How much of the property's clicks the first `limit` rows of the window cover. `whole` are the clicks of the same
/// question without query conditions; `None` for tables whose rows overlap.
#[must_use]
pub fn coverage(current: Listing<'_>, limit: usize, aggregation: Aggregation, whole: Option<f64>) -> TableCoverage {
    let shown = &current.rows[..limit.min(current.rows.len())];
    let clicks: Metrics = shown.iter().map(|(_, metrics)| *metrics).sum();
    TableCoverage {
        available: true,
        reason: None,
        aggregation: Some(aggregation),
        rows_shown: Some(shown.len() as u64),
        rows_known: Some(current.rows.len() as u64),
        total_rows_capped: Some(current.capped),
        clicks: Some(count(clicks.clicks)),
        clicks_share: whole.filter(|whole| *whole > 0.0).map(|whole| clicks.clicks / whole),
    }
}

/// The coverage of a table that the search type lacks.
#[must_use]
pub fn unavailable(reason: &str) -> TableCoverage {
    TableCoverage {
        available: false,
        reason: Some(reason.to_owned()),
        aggregation: None,
        rows_shown: None,
        rows_known: None,
        total_rows_capped: None,
        clicks: None,
        clicks_share: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &'static str, clicks: f64) -> (&'static str, Metrics) {
        (key, Metrics::of_row(clicks, clicks * 10.0, Some(2.0)))
    }

    fn presences(current_capped: bool, previous_capped: bool) -> Vec<(String, Option<Presence>)> {
        let (current, previous) = ([row("a", 5.0), row("b", 3.0)], [row("b", 4.0), row("c", 2.0)]);
        let current = Listing { rows: &current, capped: current_capped };
        let previous = Listing { rows: &previous, capped: previous_capped };
        rows(current, Some(previous), 10).into_iter().map(|r| (r.key, r.presence)).collect()
    }

    #[test]
    fn a_key_in_one_complete_window_is_new_or_lost() {
        let expected = [("a", Presence::New), ("b", Presence::Both), ("c", Presence::Lost)];
        assert_eq!(presences(false, false), expected.map(|(k, p)| (k.to_owned(), Some(p))));
    }

    #[test]
    fn a_key_that_the_other_list_may_have_been_cut_before_is_unknown() {
        let expected = [("a", Presence::Unknown), ("b", Presence::Both), ("c", Presence::Unknown)];
        assert_eq!(presences(true, true), expected.map(|(k, p)| (k.to_owned(), Some(p))));
    }

    #[test]
    fn a_lost_row_has_no_numbers_of_its_own() {
        let previous = [row("c", 2.0)];
        let found = rows(Listing { rows: &[], capped: false }, Some(Listing { rows: &previous, capped: false }), 5);
        assert_eq!((found[0].clicks, found[0].impressions, found[0].position), (None, None, None));
        assert_eq!(found[0].previous.as_ref().unwrap().clicks, 2);
        assert!(found[0].change.is_none());
    }

    #[test]
    fn coverage_counts_the_rows_shown_against_the_whole() {
        let listed = [row("a", 5.0), row("b", 3.0), row("c", 1.0)];
        let coverage = coverage(Listing { rows: &listed, capped: true }, 2, Aggregation::ByProperty, Some(16.0));
        assert_eq!((coverage.rows_shown, coverage.rows_known, coverage.clicks), (Some(2), Some(3), Some(8)));
        assert_eq!((coverage.clicks_share, coverage.total_rows_capped), (Some(0.5), Some(true)));
    }
}
