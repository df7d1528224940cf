//! One page of a list: the order of its rows, conditions on their metrics, and the part to show.
//!
//! A value that a row does not have is not zero: such rows come last in either direction and satisfy no condition. Equal
//! values are ordered by key, so every page is a slice of the same list.

use std::{cmp::Ordering, collections::HashMap};

use api::params::{Metric, MetricFilters, Sort, SortBy};

use super::metrics::Metrics;

/// The values of a row that lists are sorted by.
#[derive(Debug, Clone, Copy)]
pub struct Values<'r> {
    /// Its key.
    pub key: &'r str,
    /// Its metrics in the window.
    pub own: Option<Metrics>,
    /// Its metrics on the compared days, now and before.
    pub compared: Option<(Metrics, Metrics)>,
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
pub struct Found<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The number of rows on all pages.
    pub matched: usize,
}

impl Page {
    /// The first rows, in the list's own order.
    #[must_use]
    pub fn first(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Returns the rows of the page. `own` is the list's own order, which is total.
    pub fn of<'v, T>(
        &self,
        mut rows: Vec<T>,
        values: impl Fn(&T) -> Values<'v>,
        own: impl Fn(&T, &T) -> Ordering,
    ) -> Found<T> {
        rows.retain(|row| self.admits(values(row).own));
        let (matched, end) = (rows.len(), self.offset.saturating_add(self.limit));
        let mut rows = first(rows, end, |a, b| match self.sort {
            Some(sort) => order(sort, values(a), values(b)).then_with(|| own(a, b)),
            None => own(a, b),
        });
        rows.drain(..self.offset.min(rows.len()));
        Found { rows, matched }
    }

    /// Returns whether a row with these metrics satisfies the conditions.
    #[must_use]
    pub fn admits(&self, own: Option<Metrics>) -> bool {
        let value = |metric| own.and_then(|own| of(metric, &own));
        self.filters
            .0
            .iter()
            .all(|filter| value(filter.metric).is_some_and(|v| filter.comparator.holds(v, filter.bound)))
    }

    /// Completes `shown` with what coverage says about the order of a list whose rows, or those that they are compared with, may
    /// have been cut.
    #[must_use]
    pub fn said(&self, shown: Shown, matched: usize, capped: bool, previous_capped: bool) -> Shown {
        let filtered = !self.filters.0.is_empty();
        // The search engine cuts lists by clicks.
        let by_clicks = Sort { by: SortBy::Metric(Metric::Clicks), descending: true };
        let other_order = self.sort.is_some_and(|sort| sort != by_clicks);
        let exact = !(capped && (filtered || other_order))
            && !(previous_capped && self.sort.is_some_and(Sort::needs_comparison));
        let asked = filtered || self.sort.is_some();
        Shown { matched: filtered.then_some(matched), exact: asked.then_some(exact), ..shown }
    }
}

/// The rows of a listing that an answer shows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Shown {
    /// Their number.
    pub rows: usize,
    /// Their clicks.
    pub clicks: f64,
    /// The number of rows that satisfy the conditions on metrics, if there are any.
    pub matched: Option<usize>,
    /// True if the order is that of all rows. `None` if no order was asked for.
    pub exact: Option<bool>,
}

impl Shown {
    /// So many rows with so many clicks.
    #[must_use]
    pub fn rows(rows: usize, clicks: f64) -> Self {
        Self { rows, clicks, ..Self::default() }
    }

    /// The first `limit` rows of a listing.
    #[must_use]
    pub fn first(rows: &[(&str, Metrics)], limit: usize) -> Self {
        Self::of(rows.iter().take(limit).map(|(_, metrics)| metrics))
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

/// The metrics of the rows that both windows have, on their compared days.
#[derive(Debug, Clone, Default)]
pub struct Changes<'r>(HashMap<&'r str, (Metrics, Metrics)>);

impl<'r> Changes<'r> {
    /// Joins the rows of both windows.
    #[must_use]
    pub fn of(now: &'r [(&'r str, Metrics)], before: &'r [(&'r str, Metrics)]) -> Self {
        let before: HashMap<&str, &Metrics> = before.iter().map(|(key, metrics)| (*key, metrics)).collect();
        let both = now.iter().filter_map(|(key, now)| Some((*key, (*now, **before.get(key)?))));
        Self(both.collect())
    }

    /// Those of one row.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<(Metrics, Metrics)> {
        self.0.get(key).copied()
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

fn value(by: SortBy, values: Values<'_>) -> Option<f64> {
    let both = |metric| values.compared.and_then(|(now, before)| of(metric, &now).zip(of(metric, &before)));
    match by {
        SortBy::Metric(metric) => values.own.and_then(|own| of(metric, &own)),
        SortBy::Change(metric) => both(metric).map(|(now, before)| now - before),
        SortBy::ChangePercent(metric) => {
            both(metric).filter(|(_, before)| *before > 0.0).map(|(now, before)| 100.0 * (now - before) / before)
        }
    }
}

/// Rows without the value come last, and equal ones are ordered by key.
fn order(sort: Sort, a: Values<'_>, b: Values<'_>) -> Ordering {
    let by_value = match (value(sort.by, a), value(sort.by, b)) {
        (Some(a), Some(b)) => {
            let ascending = a.partial_cmp(&b).unwrap_or(Ordering::Equal);
            if sort.descending { ascending.reverse() } else { ascending }
        }
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    };
    by_value.then_with(|| a.key.cmp(b.key))
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
            Values { key, own: *own, compared: own.zip(*before) }
        };
        // No order of its own but the place.
        let places: Vec<usize> = (0..rows.len()).collect();
        let found = page.of(places, values, Ord::cmp);
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
            row("a", Some((5.0, 20.0, 2.0)), None),
            row("lost", None, Some((9.0, 9.0, 1.0))),
            row("c", Some((1.0, 90.0, 8.0)), Some((4.0, 100.0, 8.0))),
            row("none", Some((0.0, 0.0, 1.0)), Some((0.0, 10.0, 4.0))),
        ];
        for (sort, expected) in [
            (None, "b a lost c none"),
            (Some("-clicks"), "a b c none lost"),
            (Some("clicks"), "none c a b lost"),
            (Some("position"), "a b c lost none"),
            (Some("-position"), "c b a lost none"),
            (Some("-ctr"), "a b c lost none"),
            (Some("-change.clicks"), "b none c a lost"),
            (Some("change.clicks"), "c none b a lost"),
            (Some("-change.clicks.percent"), "b c a lost none"),
            (Some("change.position"), "b c a lost none"),
        ] {
            assert_eq!(keys(&page(sort, "", 0, 9), &rows).join(" "), expected, "{sort:?}");
        }
        assert_eq!(keys(&page(None, "clicks>=1,position<=3", 0, 9), &rows), ["b", "a"]);
        assert_eq!(keys(&page(Some("impressions"), "ctr<1", 1, 1), &rows), ["b"], "no ctr is not below 1");
    }

    #[test]
    fn an_order_is_exact_where_no_row_can_be_missing() {
        let said = |sort, filters, capped, previous_capped| {
            page(sort, filters, 0, 9).said(Shown::default(), 3, capped, previous_capped)
        };
        assert_eq!((said(None, "", true, true).exact, said(None, "", true, true).matched), (None, None));
        assert_eq!(said(Some("-clicks"), "", true, true).exact, Some(true));
        assert_eq!(said(Some("clicks"), "", true, false).exact, Some(false));
        assert_eq!(said(Some("-impressions"), "", false, true).exact, Some(true));
        assert_eq!(said(Some("change.clicks"), "", false, true).exact, Some(false));
        let filtered = said(None, "clicks>1", true, false);
        assert_eq!((filtered.exact, filtered.matched), (Some(false), Some(3)));
    }

    proptest! {
        #[test]
        fn any_page_of_any_order_is_a_slice_of_the_full_list(
            rows in prop::collection::vec((0_u32..5, 0_u32..5, 1_u32..4, prop::option::of((0_u32..5, 0_u32..5, 1_u32..4)), any::<bool>()), 0..40),
            sort in prop::sample::select(vec![None, Some("-clicks"), Some("ctr"), Some("-position"), Some("change.clicks"), Some("-change.impressions.percent")]),
            filters in prop::sample::select(vec!["", "impressions>=2", "clicks>0,position<=2"]),
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
                prop_assert_eq!(keys(&page(sort, filters, 0, 1_000), &backwards), whole, "whatever the order that they came in");
            }
        }
    }
}
