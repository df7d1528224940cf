//! Breakdown tables: the rows of one window, or the outer join of two.
//!
//! A missing row is not a row of zeros. Both windows' lists may be truncated at the fetch limit. A key in one list only is
//! `new` or `lost` if the other list is complete, and `unknown` if it was truncated.

use std::{cmp::Ordering, collections::HashMap};

use api::{
    analytics::TableRow,
    models::{Aggregation, Presence, TableCoverage},
};

use super::{
    change::{change, count, to_api},
    metrics::Metrics,
};

/// The search engine's list for one window: rows sorted by clicks, impressions and key.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// Key and metrics, best first.
    pub rows: &'a [(&'a str, Metrics)],
    /// True if more rows may exist.
    pub capped: bool,
}

/// The listings that a window's rows are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// The rows of the comparison window.
    pub previous: Listing<'a>,
    /// The rows of the window's compared days, if these are not all its days.
    pub base: Option<Listing<'a>>,
}

/// The outer join of two listings, as indices into them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Join {
    /// For each current row, the index of its key in the comparison's listing.
    pub before: Vec<Option<u32>>,
    /// The indices of the comparison's rows whose keys the current listing lacks, in the comparison's order.
    pub gone: Vec<u32>,
}

/// Joins the first `limit` current rows with all rows of the comparison, and finds the first `limit` rows that only the
/// comparison has.
#[must_use]
pub fn join(current: Listing<'_>, previous: Listing<'_>, limit: usize) -> Join {
    let places: HashMap<&str, u32> = (0..).zip(previous.rows).map(|(place, (key, _))| (*key, place)).collect();
    let mut met = vec![false; previous.rows.len()];
    let mut before = Vec::with_capacity(current.rows.len().min(limit));
    for (key, _) in current.rows {
        let place = places.get(key).copied();
        if let Some(place) = place {
            met[place as usize] = true;
        }
        if before.len() < limit {
            before.push(place);
        }
    }
    let gone = (0..).zip(met).filter(|(_, met)| !met).map(|(place, _)| place);
    Join { before, gone: gone.take(limit).collect() }
}

/// Returns the first `limit` of `rows` in `order`, without sorting the rest.
#[must_use]
pub fn first<T>(mut rows: Vec<T>, limit: usize, order: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    if rows.len() > limit {
        rows.select_nth_unstable_by(limit, &order);
        rows.truncate(limit);
    }
    rows.sort_unstable_by(order);
    rows
}

/// The presence of a key that the current listing has and the comparison's lacks.
#[must_use]
pub fn only_now(previous_capped: bool) -> Presence {
    if previous_capped { Presence::Unknown } else { Presence::New }
}

/// The presence of a key that the comparison's listing has and the current one lacks.
#[must_use]
pub fn only_before(current_capped: bool) -> Presence {
    if current_capped { Presence::Unknown } else { Presence::Lost }
}

/// The first `limit` rows of the window. With a comparison, each has `previous`, and up to `limit` rows that only the
/// comparison window has follow.
#[must_use]
pub fn rows(current: Listing<'_>, before: Option<Before<'_>>, limit: usize) -> Vec<TableRow> {
    let Some(Before { previous, base }) = before else {
        return current.rows.iter().take(limit).map(|(key, metrics)| plain(key, metrics)).collect();
    };
    let joined = join(current, previous, limit);
    let base: Option<HashMap<&str, &Metrics>> =
        base.map(|base| base.rows.iter().map(|(key, metrics)| (*key, metrics)).collect());
    let kept = current.rows.iter().zip(&joined.before).map(|((key, metrics), place)| {
        let old = place.map(|place| &previous.rows[place as usize].1);
        let row = compared(key, Some(metrics), old, only_now(previous.capped));
        match &base {
            None => row,
            Some(base) => TableRow { change: base.get(key).zip(old).map(|(now, old)| change(now, old)), ..row },
        }
    });
    let gone = joined.gone.iter().map(|place| {
        let (key, old) = &previous.rows[*place as usize];
        compared(key, None, Some(old), only_before(current.capped))
    });
    kept.chain(gone).collect()
}

/// A row of a comparison. `presence` explains a missing side.
#[must_use]
pub fn compared(key: &str, now: Option<&Metrics>, before: Option<&Metrics>, presence: Presence) -> TableRow {
    let own = now.map(to_api);
    TableRow {
        key: key.to_owned(),
        clicks: own.as_ref().map(|own| own.clicks),
        impressions: own.as_ref().map(|own| own.impressions),
        ctr: own.as_ref().and_then(|own| own.ctr),
        position: own.as_ref().and_then(|own| own.position),
        previous: before.map(to_api),
        change: now.zip(before).map(|(now, before)| change(now, before)),
        presence: Some(if now.is_some() && before.is_some() { Presence::Both } else { presence }),
    }
}

fn plain(key: &str, metrics: &Metrics) -> TableRow {
    TableRow { presence: None, ..compared(key, Some(metrics), None, Presence::New) }
}

/// The rows of a listing that an answer shows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shown {
    /// Their number.
    pub rows: usize,
    /// Their clicks.
    pub clicks: f64,
}

impl Shown {
    /// The first `limit` rows of a listing.
    #[must_use]
    pub fn first(listing: Listing<'_>, limit: usize) -> Self {
        Self::of(listing.rows.iter().take(limit).map(|(_, metrics)| metrics))
    }

    /// These rows.
    pub fn of<'m>(rows: impl IntoIterator<Item = &'m Metrics>) -> Self {
        let mut shown = Self::default();
        for row in rows {
            shown.rows += 1;
            shown.clicks += row.clicks;
        }
        shown
    }
}

/// The clicks that shares are of, counted as the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whole {
    /// Clicks of the property.
    pub property: f64,
    /// Clicks of the question without its conditions on queries.
    pub slice: f64,
}

/// The part of a listing, of the slice and of the property that the rows shown are. `whole` is `None` for tables whose rows
/// overlap.
#[must_use]
pub fn coverage(listing: Listing<'_>, shown: Shown, aggregation: Aggregation, whole: Option<Whole>) -> TableCoverage {
    let share =
        |clicks: f64, of: fn(&Whole) -> f64| whole.as_ref().map(of).filter(|of| *of > 0.0).map(|of| clicks / of);
    let known = Shown::first(listing, usize::MAX);
    TableCoverage {
        available: true,
        reason: None,
        aggregation: Some(aggregation),
        rows_shown: Some(shown.rows as u64),
        rows_known: Some(known.rows as u64),
        total_rows_capped: Some(listing.capped),
        clicks: Some(count(shown.clicks)),
        clicks_share: share(shown.clicks, |whole| whole.property),
        slice_share: share(shown.clicks, |whole| whole.slice),
        known_share: share(known.clicks, |whole| whole.property),
    }
}

/// The coverage of a table that the search type does not have.
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
        slice_share: None,
        known_share: None,
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
        rows(current, Some(Before { previous, base: None }), 10).into_iter().map(|r| (r.key, r.presence)).collect()
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
        let before = Before { previous: Listing { rows: &previous, capped: false }, base: None };
        let found = rows(Listing { rows: &[], capped: false }, Some(before), 5);
        assert_eq!((found[0].clicks, found[0].impressions, found[0].position), (None, None, None));
        assert_eq!(found[0].previous.as_ref().unwrap().clicks, 2);
        assert!(found[0].change.is_none());
    }

    #[test]
    fn the_change_of_a_row_is_that_of_its_compared_days() {
        let (current, base, previous) =
            ([row("a", 5.0), row("b", 3.0)], [row("a", 4.0)], [row("a", 1.0), row("b", 2.0)]);
        let [current, base, previous] = [&current[..], &base, &previous].map(|rows| Listing { rows, capped: false });
        let found = rows(current, Some(Before { previous, base: Some(base) }), 5);
        assert_eq!((found[0].clicks, found[0].previous.as_ref().unwrap().clicks), (Some(5), 1));
        assert_eq!(found[0].change.as_ref().unwrap().clicks.absolute, Some(3));
        assert!(found[1].previous.is_some() && found[1].change.is_none(), "not seen on the compared days");
    }

    #[test]
    fn the_first_rows_are_the_ones_that_sorting_all_would_give() {
        let rows: Vec<u32> = (0..50).map(|n| n * 37 % 50).collect();
        for limit in [0, 1, 7, 49, 50, 80] {
            let expected: Vec<u32> = (0..50).take(limit).collect();
            assert_eq!(first(rows.clone(), limit, Ord::cmp), expected, "{limit}");
        }
    }

    #[test]
    fn coverage_counts_the_rows_shown_against_the_whole() {
        let listed = [row("a", 5.0), row("b", 3.0), row("c", 1.0)];
        let listing = Listing { rows: &listed, capped: true };
        let whole = Whole { property: 32.0, slice: 16.0 };
        let coverage = coverage(listing, Shown::first(listing, 2), Aggregation::ByProperty, Some(whole));
        assert_eq!((coverage.rows_shown, coverage.rows_known, coverage.clicks), (Some(2), Some(3), Some(8)));
        assert_eq!((coverage.clicks_share, coverage.slice_share), (Some(0.25), Some(0.5)));
        assert_eq!((coverage.known_share, coverage.total_rows_capped), (Some(9.0 / 32.0), Some(true)));
    }
}
