//! One page of a list: the order of its rows, conditions on their metrics, and the part to show.
//!
//! A value that a row does not have is not zero: such rows come last in either direction and satisfy no condition. Among them,
//! rows of the window come first. Equal rows of the window are ordered by key, and rows that only the comparison window has
//! keep the list's own order, so every page is a slice of the same list.

use std::cmp::Ordering;

use api::{
    models::Presence,
    params::{Metric, MetricFilters, RowsThat, Sort, SortBy},
};
use common::metrics::Metrics;

use super::listing::{Key, Listing};

/// The values of a row that lists are sorted by.
#[derive(Debug, Clone, Copy)]
pub struct Values<K> {
    /// Its key.
    pub key: K,
    /// Its metrics in the window. `None` for a row that only the comparison window has.
    pub own: Option<Metrics>,
    /// The metrics that its change is of, now and before.
    pub compared: Option<(Metrics, Metrics)>,
    /// The windows that have it. `None` without a comparison.
    pub presence: Option<Presence>,
}

/// The page that is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Page {
    /// The order. `None`: the list's own.
    pub sort: Option<Sort>,
    /// The conditions on metrics.
    pub filters: MetricFilters,
    /// The number of rows to skip.
    pub offset: usize,
    /// The most rows.
    pub limit: usize,
}

/// The rows of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct PageRows<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The number of rows on all pages.
    pub matched: usize,
    /// True if some of the rows are only in the comparison window.
    pub beyond: bool,
}

impl Page {
    /// The first rows, in the list's own order.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns the rows of the page. `own` is the list's own order, which is total.
    pub fn of<T, K: Ord>(
        &self,
        mut rows: Vec<T>,
        values: impl Fn(&T) -> Values<K>,
        own: impl Fn(&T, &T) -> Ordering,
    ) -> PageRows<T> {
        rows.retain(|row| self.admits(&values(row)));
        let (matched, end) = (rows.len(), self.offset.saturating_add(self.limit));
        let mut rows = first(rows, end, |a, b| match self.sort {
            Some(sort) => order(sort, &values(a), &values(b)).then_with(|| own(a, b)),
            None => own(a, b),
        });
        rows.drain(..self.offset.min(rows.len()));
        let beyond = rows.iter().any(|row| values(row).own.is_none());
        PageRows { rows, matched, beyond }
    }

    /// Returns whether a row with these values satisfies the conditions.
    #[must_use]
    pub fn admits<K>(&self, values: &Values<K>) -> bool {
        self.filters.0.iter().all(|filter| match filter.rows {
            RowsThat::Have { value: by, comparator, bound } => {
                value(by, values).is_some_and(|value| comparator.holds(value, bound))
            }
            RowsThat::Are(presence) => values.presence == Some(presence),
        })
    }

    /// Describes the rows found for coverage. `clicks` are theirs. `capped` and `previous_capped` tell if rows of the window, or of the
    /// comparison window, were cut.
    #[must_use]
    pub fn shown<T>(&self, found: &PageRows<T>, clicks: f64, capped: bool, previous_capped: bool) -> Shown {
        let filtered = !self.filters.0.is_empty();
        let compares = self.filters.0.iter().any(|filter| filter.rows.needs_comparison())
            || self.sort.is_some_and(Sort::needs_comparison);
        // The search engine cuts lists by clicks, and rows that were cut belong before the comparison window's.
        let by_clicks = Sort { by: SortBy::Metric(Metric::Clicks), descending: true };
        let other_order = self.sort.is_some_and(|sort| sort != by_clicks) || found.beyond;
        let exact = !(capped && (filtered || other_order)) && !(previous_capped && compares);
        let asked = filtered || self.sort.is_some();
        Shown {
            rows: found.rows.len(),
            clicks,
            matched: Some(found.matched),
            more: Some(self.offset.saturating_add(found.rows.len()) < found.matched),
            exact: asked.then_some(exact),
        }
    }
}

/// The rows that an answer shows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shown {
    /// Their number.
    pub rows: usize,
    /// Their clicks in the window.
    pub clicks: f64,
    /// The number of rows on all pages. `None` where the rows belong to rows of another list.
    pub matched: Option<usize>,
    /// True if more of these rows follow.
    pub more: Option<bool>,
    /// True if no row is missing from the order. `None` if no order was asked for.
    pub exact: Option<bool>,
}

impl Shown {
    /// The first `limit` rows of a listing.
    #[must_use]
    pub fn first<K: Key>(listing: Listing<'_, K>, limit: usize) -> Self {
        let rows = listing.rows.len().min(limit);
        let clicks = listing.rows[..rows].iter().map(|(_, metrics)| metrics.clicks).sum();
        let (matched, more) = (Some(listing.rows.len()), Some(rows < listing.rows.len()));
        Self { rows, clicks, matched, more, exact: None }
    }

    /// The rows of two lists of the same answer.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |a: Option<bool>, b: Option<bool>, join: fn(bool, bool) -> bool| a.zip(b).map(|(a, b)| join(a, b));
        Self {
            rows: self.rows + other.rows,
            clicks: self.clicks + other.clicks,
            matched: self.matched.zip(other.matched).map(|(a, b)| a + b),
            more: both(self.more, other.more, |a, b| a || b),
            exact: both(self.exact, other.exact, |a, b| a && b),
        }
    }
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

/// The value of a metric, if it is defined.
fn of(metric: Metric, metrics: &Metrics) -> Option<f64> {
    match metric {
        Metric::Clicks => Some(metrics.clicks),
        Metric::Impressions => Some(metrics.impressions),
        Metric::Ctr => metrics.ctr(),
        Metric::Position => metrics.position(),
    }
}

fn value<K>(by: SortBy, values: &Values<K>) -> Option<f64> {
    let both = |metric| values.compared.and_then(|(now, before)| of(metric, &now).zip(of(metric, &before)));
    match by {
        SortBy::Metric(metric) => values.own.and_then(|own| of(metric, &own)),
        SortBy::Change(metric) => both(metric).map(|(now, before)| now - before),
        SortBy::ChangePercent(metric) => {
            both(metric).filter(|(_, before)| *before > 0.0).map(|(now, before)| 100.0 * (now - before) / before)
        }
    }
}

/// Rows without the value come last. Of two that only the comparison window has, neither comes first.
fn order<K: Ord>(sort: Sort, a: &Values<K>, b: &Values<K>) -> Ordering {
    let by_value = match (value(sort.by, a), value(sort.by, b)) {
        (Some(a), Some(b)) => {
            let ascending = a.partial_cmp(&b).unwrap_or(Ordering::Equal);
            if sort.descending { ascending.reverse() } else { ascending }
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => match (a.own, b.own) {
            (None, None) => return Ordering::Equal,
            (a, b) => a.is_none().cmp(&b.is_none()),
        },
    };
    by_value.then_with(|| a.key.cmp(&b.key))
}

#[cfg(test)]
mod tests {
    use api::params::ParamValue as _;
    use proptest::prelude::*;

    use super::*;

    type Row = (String, Option<Metrics>, Option<Metrics>);

    fn page(sort: Option<&str>, filters: &str, offset: usize, limit: usize) -> Page {
        let filters =
            if filters.is_empty() { MetricFilters::default() } else { MetricFilters::parse(filters).unwrap() };
        Page { sort: sort.map(|sort| Sort::parse(sort).unwrap()), filters, offset, limit }
    }

    fn keys(page: &Page, rows: &[Row]) -> Vec<String> {
        let values = |place: &usize| {
            let (key, own, before) = &rows[*place];
            let counted = |side: Option<Metrics>| side.unwrap_or_else(Metrics::zero);
            Values {
                key: key.as_str(),
                own: *own,
                compared: Some((counted(*own), counted(*before))).filter(|_| !key.contains('?')),
                presence: Some(match (own, before) {
                    _ if key.contains('?') => Presence::Unknown,
                    (Some(_), Some(_)) => Presence::Both,
                    (Some(_), None) => Presence::New,
                    (None, _) => Presence::Lost,
                }),
            }
        };
        // No order of its own but the place, and where another is asked for, the last key first.
        let own = |a: &usize, b: &usize| match page.sort {
            None => a.cmp(b),
            Some(_) => rows[*b].0.cmp(&rows[*a].0),
        };
        let found = page.of((0..rows.len()).collect(), values, own);
        found.rows.into_iter().map(|place| rows[place].0.clone()).collect()
    }

    fn row(key: &str, own: Option<(f64, f64, f64)>, before: Option<(f64, f64, f64)>) -> Row {
        let metrics = |(clicks, impressions, position)| Metrics::of_row(clicks, impressions, Some(position));
        (key.to_owned(), own.map(metrics), before.map(metrics))
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
    fn values_decide_then_keys_and_rows_without_a_value_come_last() {
        let rows = [
            row("b", Some((5.0, 50.0, 3.0)), Some((1.0, 10.0, 9.0))),
            row("new", Some((5.0, 20.0, 2.0)), None),
            row("lost", None, Some((9.0, 9.0, 1.0))),
            row("c", Some((1.0, 90.0, 8.0)), Some((4.0, 100.0, 8.0))),
            row("a?", Some((2.0, 30.0, 5.0)), None),
            row("less", None, Some((3.0, 9.0, 1.0))),
            row("none", Some((0.0, 0.0, 1.0)), Some((0.0, 10.0, 4.0))),
            row("z?", None, Some((7.0, 9.0, 1.0))),
        ];
        for (sort, expected) in [
            (None, "b new lost c a? less none z?"),
            (Some("-clicks"), "b new a? c none z? lost less"),
            (Some("clicks"), "none c a? b new z? lost less"),
            (Some("position"), "new b a? c none z? lost less"),
            (Some("-position"), "c a? b new none z? lost less"),
            (Some("-ctr"), "new b a? c none z? lost less"),
            (Some("-change.clicks"), "new b none c less lost a? z?"),
            (Some("change.clicks"), "lost c less none b new a? z?"),
            (Some("-change.clicks.percent"), "b c less lost a? new none z?"),
            (Some("change.position"), "b c a? new none z? lost less"),
        ] {
            assert_eq!(keys(&page(sort, "", 0, 9), &rows).join(" "), expected, "{sort:?}");
        }
        assert_eq!(keys(&page(None, "clicks>=1,position<=3", 0, 9), &rows), ["b", "new"]);
        assert_eq!(keys(&page(Some("impressions"), "ctr<1", 1, 1), &rows), ["a?"], "no ctr is not below 1");
        for (filters, expected) in [
            ("presence=new", "new"),
            ("presence=lost", "lost less"),
            ("presence=unknown", "a? z?"),
            ("change.clicks>0", "b new"),
            ("change.clicks<0", "lost c less"),
            ("change.clicks<0,clicks>0", "c"),
            ("change.clicks.percent<=-100", "lost less"),
        ] {
            assert_eq!(keys(&page(None, filters, 0, 9), &rows).join(" "), expected, "{filters}");
        }
    }

    #[test]
    fn an_order_is_exact_where_no_row_can_be_missing() {
        let said = |sort, filters, beyond, capped, previous_capped| {
            let found = PageRows { rows: vec![(); 2], matched: 3, beyond };
            page(sort, filters, 0, 2).shown(&found, 5.0, capped, previous_capped)
        };
        for (sort, filters, beyond, cut, exact) in [
            (None, "", true, (true, true), None),
            (Some("-clicks"), "", false, (true, true), Some(true)),
            (Some("-clicks"), "", true, (true, true), Some(false)),
            (Some("-clicks"), "", true, (false, true), Some(true)),
            (Some("clicks"), "", false, (true, false), Some(false)),
            (Some("-impressions"), "", false, (false, true), Some(true)),
            (Some("change.clicks"), "", false, (false, true), Some(false)),
            (None, "clicks>1", false, (true, false), Some(false)),
            (None, "clicks>1", false, (false, true), Some(true)),
            (None, "presence=both", false, (false, true), Some(false)),
            (None, "change.clicks>1", false, (false, true), Some(false)),
        ] {
            assert_eq!(said(sort, filters, beyond, cut.0, cut.1).exact, exact, "{sort:?} {filters} {cut:?}");
        }
    }

    #[test]
    fn more_rows_follow_until_the_last_one_that_matches() {
        for (offset, rows, more) in [(0, 2, true), (1, 2, false), (2, 1, false), (3, 0, false), (9, 0, false)] {
            let found = PageRows { rows: vec![(); rows], matched: 3, beyond: false };
            let shown = page(None, "", offset, 2).shown(&found, 5.0, true, true);
            assert_eq!((shown.rows, shown.matched, shown.more), (rows, Some(3), Some(more)), "from {offset}");
        }
    }

    proptest! {
        #[test]
        fn any_page_of_any_order_is_a_slice_of_the_full_list(
            rows in prop::collection::vec((0_u32..5, 0_u32..5, 1_u32..4, prop::option::of((0_u32..5, 0_u32..5, 1_u32..4)), any::<bool>()), 0..40),
            sort in prop::sample::select(vec![None, Some("-clicks"), Some("ctr"), Some("-position"), Some("change.clicks"), Some("-change.impressions.percent")]),
            filters in prop::sample::select(vec!["", "impressions>=2", "clicks>0,position<=2", "presence=both", "change.clicks<1"]),
            offset in 0_usize..45,
            limit in 1_usize..45,
        ) {
            let metrics = |(clicks, more, position): (u32, u32, u32)| {
                (f64::from(clicks), f64::from(clicks + more), f64::from(position))
            };
            let rows: Vec<Row> = rows.into_iter().enumerate().map(|(index, (clicks, more, position, before, lost))| {
                let own = (!lost).then(|| metrics((clicks, more, position)));
                row(&format!("{:02}", index * 37 % 40), own, before.map(metrics))
            }).collect();
            let whole = keys(&page(sort, filters, 0, 1_000), &rows);
            let part = keys(&page(sort, filters, offset, limit), &rows);
            let slice: Vec<String> = whole.iter().skip(offset).take(limit).cloned().collect();
            prop_assert_eq!(part, slice);
            let mut backwards = rows.clone();
            backwards.reverse();
            if sort.is_some() {
                prop_assert_eq!(keys(&page(sort, filters, 0, 1_000), &backwards), whole, "in any order of input");
            }
        }
    }
}
