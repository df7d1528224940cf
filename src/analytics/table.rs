//! Breakdown tables: the rows of one window, or the outer join of two.
//!
//! A missing row is not a row of zeros. Both windows' lists may be truncated at the fetch limit. A key in one list only is
//! `new` or `lost` if the other list is complete, and `unknown` if it was truncated.

use std::collections::HashMap;

use api::{
    analytics::TableRow,
    models::{Aggregation, Presence, TableCoverage},
};

use super::{
    change::{change, count, to_api},
    metrics::Metrics,
    page::{Page, Shown, Values},
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

/// Joins the rows of two listings.
#[must_use]
pub fn join(current: Listing<'_>, previous: Listing<'_>) -> Join {
    let places: HashMap<&str, u32> = (0..).zip(previous.rows).map(|(place, (key, _))| (*key, place)).collect();
    let before: Vec<Option<u32>> = current.rows.iter().map(|(key, _)| places.get(key).copied()).collect();
    let mut met = vec![false; previous.rows.len()];
    for place in before.iter().flatten() {
        met[*place as usize] = true;
    }
    let gone = (0..).zip(met).filter(|(_, met)| !met).map(|(place, _)| place);
    Join { before, gone: gone.collect() }
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

/// The places of the rows of one page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Places {
    /// The rows of the window, and the place of each in the comparison's listing.
    pub now: Vec<(u32, Option<u32>)>,
    /// The rows that only the comparison window has.
    pub gone: Vec<u32>,
    /// The facts about the rows of the window that coverage states.
    pub shown: Shown,
}

/// Finds the rows of a page: those of the window, in its order, and as many that only the comparison window has, in theirs. The
/// latter have no metrics of the window, so they satisfy no condition on metrics.
#[must_use]
pub fn places(current: Listing<'_>, before: Option<Before<'_>>, page: &Page) -> Places {
    let joined = before.map(|before| join(current, before.previous));
    let base = before.and_then(|before| before.base).map(by_key);
    let values = |place: &u32| {
        let (key, own) = &current.rows[*place as usize];
        let old = joined.as_ref().and_then(|joined| joined.before[*place as usize]);
        let old = old.zip(before).map(|(old, before)| &before.previous.rows[old as usize].1);
        let now = base.as_ref().map_or(Some(own), |base| base.get(key).copied());
        Values { key, own: Some(*own), compared: now.zip(old).map(|(now, old)| (*now, *old)) }
    };
    let all: Vec<u32> = (0..).take(current.rows.len()).collect();
    let found = page.of(all, values, Ord::cmp);
    let shown = Shown::of(found.rows.iter().map(|place| &current.rows[*place as usize].1));
    let previous_capped = before.is_some_and(|before| before.previous.capped);
    let gone = joined.as_ref().filter(|_| page.filters.0.is_empty()).map_or(&[][..], |joined| &joined.gone);
    let old = |place: u32| joined.as_ref().and_then(|joined| joined.before[place as usize]);
    Places {
        shown: page.said(shown, found.matched, current.capped, previous_capped),
        gone: gone.iter().skip(page.offset).take(page.limit).copied().collect(),
        now: found.rows.into_iter().map(|place| (place, old(place))).collect(),
    }
}

fn by_key(listing: Listing<'_>) -> HashMap<&str, &Metrics> {
    listing.rows.iter().map(|(key, metrics)| (*key, metrics)).collect()
}

/// The rows of a page. With a comparison, each has `previous`, and rows that only the comparison window has follow.
#[must_use]
pub fn rows(current: Listing<'_>, before: Option<Before<'_>>, page: &Page) -> (Vec<TableRow>, Shown) {
    let places = places(current, before, page);
    let Some(Before { previous, base }) = before else {
        let row = |(place, _): &(u32, Option<u32>)| {
            let (key, metrics) = &current.rows[*place as usize];
            plain(key, metrics)
        };
        return (places.now.iter().map(row).collect(), places.shown);
    };
    let base = base.map(by_key);
    let kept = places.now.iter().map(|(place, old)| {
        let (key, metrics) = &current.rows[*place as usize];
        let old = old.map(|old| &previous.rows[old as usize].1);
        let row = compared(key, Some(metrics), old, only_now(previous.capped));
        match &base {
            None => row,
            Some(base) => TableRow { change: base.get(key).zip(old).map(|(now, old)| change(now, old)), ..row },
        }
    });
    let gone = places.gone.iter().map(|place| {
        let (key, old) = &previous.rows[*place as usize];
        compared(key, None, Some(old), only_before(current.capped))
    });
    (kept.chain(gone).collect(), places.shown)
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
    let known = Shown::of(listing.rows.iter().map(|(_, metrics)| metrics));
    TableCoverage {
        available: true,
        reason: None,
        aggregation: Some(aggregation),
        rows_shown: Some(shown.rows as u64),
        rows_known: Some(known.rows as u64),
        total_rows_capped: Some(listing.capped),
        rows_matched: shown.matched.map(|rows| rows as u64),
        order_exact: shown.exact,
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
        rows_matched: None,
        order_exact: None,
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
        rows(current, Some(Before { previous, base: None }), &Page::first(10))
            .0
            .into_iter()
            .map(|r| (r.key, r.presence))
            .collect()
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
        let (found, _) = rows(Listing { rows: &[], capped: false }, Some(before), &Page::first(5));
        assert_eq!((found[0].clicks, found[0].impressions, found[0].position), (None, None, None));
        assert_eq!(found[0].previous.as_ref().unwrap().clicks, 2);
        assert!(found[0].change.is_none());
    }

    #[test]
    fn the_change_of_a_row_is_that_of_its_compared_days() {
        let (current, base, previous) =
            ([row("a", 5.0), row("b", 3.0)], [row("a", 4.0)], [row("a", 1.0), row("b", 2.0)]);
        let [current, base, previous] = [&current[..], &base, &previous].map(|rows| Listing { rows, capped: false });
        let (found, _) = rows(current, Some(Before { previous, base: Some(base) }), &Page::first(5));
        assert_eq!((found[0].clicks, found[0].previous.as_ref().unwrap().clicks), (Some(5), 1));
        assert_eq!(found[0].change.as_ref().unwrap().clicks.absolute, Some(3));
        assert!(found[1].previous.is_some() && found[1].change.is_none(), "not seen on the compared days");
    }

    #[test]
    fn coverage_counts_the_rows_shown_against_the_whole() {
        let listed = [row("a", 5.0), row("b", 3.0), row("c", 1.0)];
        let listing = Listing { rows: &listed, capped: true };
        let whole = Whole { property: 32.0, slice: 16.0 };
        let coverage = coverage(listing, Shown::first(&listed, 2), Aggregation::ByProperty, Some(whole));
        assert_eq!((coverage.rows_shown, coverage.rows_known, coverage.clicks), (Some(2), Some(3), Some(8)));
        assert_eq!((coverage.clicks_share, coverage.slice_share), (Some(0.25), Some(0.5)));
        assert_eq!((coverage.known_share, coverage.total_rows_capped), (Some(9.0 / 32.0), Some(true)));
    }
}
