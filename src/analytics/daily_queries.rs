//! The identified queries of each day.
//!
//! A query counts on every day on which it has an impression, at that day's position. A window has fewer distinct queries
//! than the sum of its days. The search engine exposes a limited number of rows a day, so a day at the limit may have more
//! queries: a flat-topped chart shows the limit and not the site.

use std::collections::{BTreeMap, HashSet};

use api::analytics::{QueryCountPoint, VisibilityPoint};
use chrono::NaiveDate;

use super::{metrics::Metrics, positions::Distribution};

/// The days of a window, filled row by row.
#[derive(Debug, Default)]
pub struct DailyQueries {
    days: BTreeMap<NaiveDate, Day>,
}

/// One day.
#[derive(Debug, Clone, Copy, Default)]
struct Day {
    queries: Distribution,
    capped: bool,
}

impl DailyQueries {
    /// Adds all rows of one day. `ceiling` is the search engine's maximum for a day.
    pub fn add<'m>(&mut self, date: NaiveDate, rows: impl ExactSizeIterator<Item = &'m Metrics>, ceiling: usize) {
        let capped = rows.len() >= ceiling;
        self.days.insert(date, Day { queries: Distribution::of(rows), capped });
    }

    /// Queries by day and bucket, for every day from `start` to `end`.
    #[must_use]
    pub fn counts(&self, start: NaiveDate, end: NaiveDate) -> Vec<QueryCountPoint> {
        let point = |(date, day): (NaiveDate, Day)| QueryCountPoint {
            date,
            queries: day.queries.queries(),
            buckets: day.queries.counts(),
            capped: day.capped,
        };
        self.every(start, end).map(point).collect()
    }

    /// Visibility by day, for every day from `start` to `end`.
    #[must_use]
    pub fn visibility(&self, start: NaiveDate, end: NaiveDate) -> Vec<VisibilityPoint> {
        let point = |(date, day): (NaiveDate, Day)| VisibilityPoint {
            date,
            index: day.queries.index(),
            buckets: day.queries.tallies(),
            capped: day.capped,
        };
        self.every(start, end).map(point).collect()
    }

    fn every(&self, start: NaiveDate, end: NaiveDate) -> impl Iterator<Item = (NaiveDate, Day)> {
        let days = start.iter_days().take_while(move |date| *date <= end);
        days.map(|date| (date, self.days.get(&date).copied().unwrap_or_default()))
    }
}

/// Counts distinct queries.
#[derive(Debug, Default)]
pub struct Distinct(HashSet<Box<str>>);

impl Distinct {
    /// Counts a query if it is new.
    pub fn add(&mut self, query: &str) {
        if !self.0.contains(query) {
            self.0.insert(query.into());
        }
    }

    /// The number of distinct queries.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_at_the_ceiling_is_flagged_and_a_day_without_rows_is_zeros() {
        let day = |n| NaiveDate::from_ymd_opt(2026, 11, n).unwrap();
        let rows = [2.0, 3.0001, 45.0].map(|position| Metrics::of_row(0.0, 5.0, Some(position)));
        let mut days = DailyQueries::default();
        days.add(day(1), rows.iter(), 3);
        days.add(day(3), rows[..2].iter(), 3);
        let counts = days.counts(day(1), day(3));
        assert_eq!(
            counts.iter().map(|day| (day.queries, day.capped)).collect::<Vec<_>>(),
            [(3, true), (0, false), (2, false)]
        );
        assert_eq!(counts[0].buckets.iter().map(|bucket| bucket.queries).collect::<Vec<_>>(), [1, 1, 0, 1]);
        let visibility = days.visibility(day(1), day(3));
        assert_eq!(visibility.iter().map(|day| day.index.is_some()).collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn a_query_of_two_days_is_one_query() {
        let mut distinct = Distinct::default();
        for query in ["a", "b", "a"] {
            distinct.add(query);
        }
        assert_eq!(distinct.count(), 2);
    }
}
