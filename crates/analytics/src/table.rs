//! Breakdown tables: the rows of one window, or the outer join of two.
//!
//! A missing row is not a row of zeros. Both windows' lists may be truncated at the fetch limit. A key in one list only is
//! `new` or `lost` if the other list is complete, and `unknown` if it was truncated. The rows of both windows are one list:
//! the window's rows, then the rows that only the comparison window has. The change of a lost row is minus its clicks then.

use std::collections::HashMap;

use api::{
    analytics::TableRow,
    models::{Change, Presence},
};
use common::metrics::Metrics;

use super::{
    change::{change, to_api},
    coverage::Known,
    listing::{Key, Listing},
    page::{Page, Shown, Values},
};

/// The listings that a table is made of.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'r, K = &'r str> {
    /// The row of the window.
    pub current: Listing<'r, K>,
    /// The row of the comparison window.
    pub previous: Option<Listing<'r, K>>,
}

/// A row of a table, as indices into its listings. It has at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowIndices {
    /// Its index in the window's listing.
    pub now: Option<u32>,
    /// Its index in the comparison window's listing.
    pub before: Option<u32>,
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub struct Row<'r, K = &'r str> {
    /// Its key.
    pub key: K,
    /// Its metrics in the window.
    pub now: Option<&'r Metrics>,
    /// Its metrics in the comparison window.
    pub before: Option<&'r Metrics>,
    /// The windows whose rows have its key. `None` without a comparison.
    pub presence: Option<Presence>,
}

/// A page of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Paged {
    /// Its rows.
    pub places: Vec<RowIndices>,
    /// The rows that were read for the table.
    pub known: Known,
    /// The rows of the page.
    pub shown: Shown,
}

impl<'r, K: Key> Sides<'r, K> {
    /// The outer join: the rows of the window in its order, then the rows that only the comparison window has, in theirs.
    #[must_use]
    pub fn joined(&self) -> Vec<RowIndices> {
        let previous = self.previous.map_or(&[][..], |previous| previous.rows);
        let mut left: HashMap<K, u32> = (0..).zip(previous).map(|(place, (key, _))| (*key, place)).collect();
        let current = (0..).zip(self.current.rows);
        let mut found: Vec<RowIndices> =
            current.map(|(place, (key, _))| RowIndices { now: Some(place), before: left.remove(key) }).collect();
        let gone = (0..).zip(previous).filter(|(_, (key, _))| left.contains_key(key));
        found.extend(gone.map(|(place, _)| RowIndices { now: None, before: Some(place) }));
        found
    }

    /// The row at a place.
    #[must_use]
    pub fn row(&self, place: RowIndices) -> Row<'r, K> {
        let at = |listing: Listing<'r, K>, place: u32| &listing.rows[place as usize];
        let now = place.now.map(|place| at(self.current, place));
        let before = self.previous.zip(place.before).map(|(previous, place)| at(previous, place));
        Row {
            key: now.or(before).map_or(K::default(), |(key, _)| *key),
            now: now.map(|(_, metrics)| metrics),
            before: before.map(|(_, metrics)| metrics),
            presence: self.previous.map(|previous| presence(place, self.current.capped, previous.capped)),
        }
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = Row<'r, K>> {
        self.joined().into_iter().map(|place| self.row(place))
    }

    /// One page of the table, whose own order is that of [`joined`](Self::joined).
    #[must_use]
    pub fn page(&self, page: &Page) -> Paged {
        let joined = self.joined();
        let all: Vec<u32> = (0..).take(joined.len()).collect();
        let found = page.of(all, |place| self.row(joined[*place as usize]).values(), Ord::cmp);
        let places: Vec<RowIndices> = found.rows.iter().map(|place| joined[*place as usize]).collect();
        let clicks = places.iter().filter_map(|place| self.row(*place).now).map(|now| now.clicks).sum();
        let previous_capped = self.previous.is_some_and(|previous| previous.capped);
        Paged {
            known: self.known_as(joined.len()),
            shown: page.shown(&found, clicks, self.current.capped, previous_capped),
            places,
        }
    }

    /// The rows that were read, each key once.
    #[must_use]
    pub fn known(&self) -> Known {
        self.known_as(self.joined().len())
    }

    fn known_as(&self, rows: usize) -> Known {
        let capped = self.current.capped || self.previous.is_some_and(|previous| previous.capped);
        Known { rows, capped, ..Known::of(self.current) }
    }
}

impl Sides<'_> {
    /// One page in the API's format, with the rows read and the rows shown.
    #[must_use]
    pub fn table(&self, page: &Page) -> (Vec<TableRow>, Known, Shown) {
        let Paged { places, known, shown } = self.page(page);
        (places.into_iter().map(|place| self.row(place).to_api()).collect(), known, shown)
    }
}

/// The windows whose rows have the key of a row. A list that was cut may have had it.
#[must_use]
pub fn presence(place: RowIndices, current_capped: bool, previous_capped: bool) -> Presence {
    match (place.now, place.before) {
        (Some(_), Some(_)) => Presence::Both,
        (Some(_), None) if previous_capped => Presence::Unknown,
        (Some(_), None) => Presence::New,
        (None, _) if current_capped => Presence::Unknown,
        (None, _) => Presence::Lost,
    }
}

impl<K: Key> Row<'_, K> {
    /// The metrics that its change is of, now and before. A list that is whole and lacks the key has counted nothing for it. `None`
    /// if the change is not known.
    #[must_use]
    pub fn compared(&self) -> Option<(Metrics, Metrics)> {
        let counted = |side: Option<&Metrics>| side.copied().unwrap_or_else(Metrics::zero);
        self.presence.filter(|presence| *presence != Presence::Unknown)?;
        Some((counted(self.now), counted(self.before)))
    }

    /// Its change.
    #[must_use]
    pub fn change(&self) -> Option<Change> {
        self.compared().map(|(now, before)| change(&now, &before))
    }

    /// The values that it is sorted by.
    #[must_use]
    pub fn values(&self) -> Values<K> {
        Values { key: self.key, own: self.now.copied(), compared: self.compared(), presence: self.presence }
    }
}

impl Row<'_> {
    /// The row in the API's format, without a label.
    #[must_use]
    pub fn to_api(&self) -> TableRow {
        let own = self.now.map(to_api);
        TableRow {
            key: self.key.to_owned(),
            label: None,
            clicks: own.as_ref().map(|own| own.clicks),
            impressions: own.as_ref().map(|own| own.impressions),
            ctr: own.as_ref().and_then(|own| own.ctr),
            position: own.as_ref().and_then(|own| own.position),
            previous: self.before.map(to_api),
            change: self.change(),
            presence: self.presence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &'static str, clicks: f64) -> (&'static str, Metrics) {
        (key, Metrics::of_row(clicks, clicks * 10.0, Some(2.0)))
    }

    /// The rows of the window, `a` and `b`, and of the comparison window, `b`, `c` and `d`.
    fn table(current_capped: bool, previous_capped: bool, page: &Page) -> (Vec<TableRow>, Known, Shown) {
        let (current, previous) = ([row("a", 5.0), row("b", 3.0)], [row("b", 4.0), row("c", 2.0), row("d", 1.0)]);
        let current = Listing { rows: &current, capped: current_capped };
        Sides { current, previous: Some(Listing { rows: &previous, capped: previous_capped }) }.table(page)
    }

    fn presences(current_capped: bool, previous_capped: bool) -> Vec<(String, Option<Presence>)> {
        let (rows, ..) = table(current_capped, previous_capped, &Page::first(10));
        rows.into_iter().map(|r| (r.key, r.presence)).collect()
    }

    #[test]
    fn a_key_in_one_complete_window_is_new_or_lost() {
        let expected = [("a", Presence::New), ("b", Presence::Both), ("c", Presence::Lost), ("d", Presence::Lost)];
        assert_eq!(presences(false, false), expected.map(|(k, p)| (k.to_owned(), Some(p))));
    }

    #[test]
    fn a_key_that_the_other_list_may_have_been_cut_before_is_unknown() {
        let unknown = Presence::Unknown;
        let expected = [("a", unknown), ("b", Presence::Both), ("c", unknown), ("d", unknown)];
        assert_eq!(presences(true, true), expected.map(|(k, p)| (k.to_owned(), Some(p))));
    }

    #[test]
    fn a_lost_row_has_no_numbers_of_its_own_and_has_lost_its_clicks() {
        let (rows, ..) = table(false, false, &Page::first(5));
        assert_eq!((rows[2].clicks, rows[2].impressions, rows[2].position), (None, None, None));
        assert_eq!(rows[2].previous.as_ref().unwrap().clicks, 2);
        let change = rows[2].change.as_ref().unwrap();
        assert_eq!((change.clicks.absolute, change.clicks.percent), (Some(-2), Some(-100.0)));
        assert_eq!((change.ctr.absolute, change.position.absolute), (None, None), "there is no CTR of nothing");
        let new = rows[0].change.as_ref().unwrap();
        assert_eq!((new.clicks.absolute, new.clicks.percent), (Some(5), None));
    }

    #[test]
    fn a_row_that_may_be_in_the_other_window_has_no_change() {
        let (rows, ..) = table(true, true, &Page::first(5));
        let changes: Vec<_> = rows.iter().map(|row| row.change.is_some()).collect();
        assert_eq!(changes, [false, true, false, false]);
    }

    #[test]
    fn pages_walk_one_list_of_both_windows() {
        let keys = |offset, limit| {
            let (rows, known, shown) = table(false, false, &Page { offset, limit, ..Page::default() });
            assert_eq!((known.rows, known.clicks, shown.matched, shown.rows), (4, 8.0, Some(4), rows.len()));
            (rows.into_iter().map(|row| row.key).collect::<String>(), shown.clicks, shown.more)
        };
        assert_eq!(keys(0, 3), ("abc".to_owned(), 8.0, Some(true)));
        assert_eq!(keys(1, 2), ("bc".to_owned(), 3.0, Some(true)));
        assert_eq!(keys(3, 2), ("d".to_owned(), 0.0, Some(false)));
        assert_eq!(keys(9, 2), (String::new(), 0.0, Some(false)));
    }

    #[test]
    fn rows_of_one_window_have_no_presence() {
        let rows = [row("a", 5.0)];
        let (rows, ..) =
            Sides { current: Listing { rows: &rows, capped: true }, previous: None }.table(&Page::first(5));
        assert_eq!((rows[0].clicks, rows[0].presence, rows[0].change.is_some()), (Some(5), None, false));
    }
}
