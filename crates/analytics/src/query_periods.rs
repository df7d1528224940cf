//! The identified queries of each day, week or month.
//!
//! A query counts in every period in which it has an impression, at its position in that period. A window has fewer distinct
//! queries than the sum of its periods, and a week fewer than its days, so the counts of a week are made from its rows. The
//! search engine exposes a limited number of rows a day, so a day at the limit may have more queries: a flat-topped chart
//! shows the limit and not the site.

use std::collections::{BTreeMap, HashMap, HashSet};

use api::{
    analytics::{Period, QueryCountPoint, VisibilityPoint},
    models::Granularity,
};
use chrono::NaiveDate;
use common::metrics::Metrics;

use super::{positions::Distribution, series::Span};

/// The periods of a window, filled day by day.
#[derive(Debug)]
pub struct QueryPeriods {
    span: Span,
    /// The periods by their first day on the calendar.
    periods: BTreeMap<NaiveDate, Tally>,
    /// The longer period that is being filled.
    open: Option<Open>,
    /// Rows by day and query.
    rows: u64,
    days_capped: u64,
}

/// The queries of one period.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    queries: Distribution,
    capped: bool,
}

/// A week or a month with the sums of its queries.
#[derive(Debug)]
struct Open {
    first_day: NaiveDate,
    queries: HashMap<Box<str>, Metrics>,
    capped: bool,
}

impl QueryPeriods {
    /// No queries yet.
    #[must_use]
    pub fn new(span: Span) -> Self {
        Self { span, periods: BTreeMap::new(), open: None, rows: 0, days_capped: 0 }
    }

    /// Adds all rows of one day. Days come in order. `ceiling` is the search engine's maximum for a day.
    pub fn add<'m>(
        &mut self,
        date: NaiveDate,
        rows: impl ExactSizeIterator<Item = (&'m str, &'m Metrics)>,
        ceiling: usize,
    ) {
        let capped = rows.len() >= ceiling;
        self.rows += rows.len() as u64;
        self.days_capped += u64::from(capped);
        if self.span.granularity == Granularity::Day {
            let queries = Distribution::of(rows.map(|(_, metrics)| metrics));
            self.periods.insert(date, Tally { queries, capped });
            return;
        }
        let first_day = self.span.first_day(date);
        if self.open.as_ref().is_some_and(|open| open.first_day != first_day) {
            self.close();
        }
        let open = self.open.get_or_insert_with(|| Open { first_day, queries: HashMap::new(), capped: false });
        open.capped |= capped;
        for (query, metrics) in rows {
            match open.queries.get_mut(query) {
                Some(sum) => *sum += *metrics,
                None => {
                    open.queries.insert(query.into(), *metrics);
                }
            }
        }
    }

    /// Counts the queries of the period that was filled last, whose rows are then no longer needed.
    pub fn close(&mut self) {
        if let Some(Open { first_day, queries, capped }) = self.open.take() {
            // In one order, so that the same rows give the same sum to the last bit.
            let mut queries: Vec<(Box<str>, Metrics)> = queries.into_iter().collect();
            queries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            let queries = Distribution::of(queries.iter().map(|(_, metrics)| metrics));
            self.periods.insert(first_day, Tally { queries, capped });
        }
    }

    /// The number of rows by day and query.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The number of days whose rows reached the ceiling.
    #[must_use]
    pub fn days_capped(&self) -> u64 {
        self.days_capped
    }

    /// Queries by period and bucket.
    #[must_use]
    pub fn counts(&self) -> Vec<QueryCountPoint> {
        let point = |(period, tally): (Period, Tally)| QueryCountPoint {
            period,
            queries: tally.queries.queries(),
            buckets: tally.queries.counts(),
            capped: tally.capped,
        };
        self.every().map(point).collect()
    }

    /// Visibility by period.
    #[must_use]
    pub fn visibility(&self) -> Vec<VisibilityPoint> {
        let point = |(period, tally): (Period, Tally)| VisibilityPoint {
            period,
            index: tally.queries.index(),
            buckets: tally.queries.tallies(),
            capped: tally.capped,
        };
        self.every().map(point).collect()
    }

    fn every(&self) -> impl Iterator<Item = (Period, Tally)> {
        let tally = |date| self.periods.get(&self.span.first_day(date)).copied().unwrap_or_default();
        self.span.periods().into_iter().map(move |period| (self.span.describe(period), tally(period.first.date)))
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
    use chrono::DateTime;

    use super::*;

    fn day(n: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, n).unwrap()
    }

    fn rows(positions: &[(&'static str, f64)]) -> Vec<(&'static str, Metrics)> {
        positions.iter().map(|(query, position)| (*query, Metrics::of_row(0.0, 5.0, Some(*position)))).collect()
    }

    fn filled(granularity: Granularity, days: &[(u32, &[(&'static str, f64)])]) -> QueryPeriods {
        let mut periods = QueryPeriods::new(Span {
            start: day(1),
            end: day(3),
            last_final: day(3),
            granularity,
            until: DateTime::UNIX_EPOCH,
        });
        for (date, positions) in days {
            periods.add(day(*date), rows(positions).iter().map(|(query, metrics)| (*query, metrics)), 3);
        }
        periods.close();
        periods
    }

    /// The first is a Sunday.
    const DAYS: [(u32, &[(&str, f64)]); 2] =
        [(1, &[("a", 2.0), ("b", 3.0001), ("c", 45.0)]), (3, &[("a", 2.0), ("b", 3.0001)])];

    #[test]
    fn a_day_at_the_ceiling_is_flagged_and_a_day_without_rows_is_zeros() {
        let days = filled(Granularity::Day, &DAYS);
        let counts = days.counts();
        assert_eq!(
            counts.iter().map(|day| (day.queries, day.capped)).collect::<Vec<_>>(),
            [(3, true), (0, false), (2, false)]
        );
        assert_eq!(counts[0].buckets.iter().map(|bucket| bucket.queries).collect::<Vec<_>>(), [1, 1, 0, 1]);
        let visibility = days.visibility();
        assert_eq!(visibility.iter().map(|day| day.index.is_some()).collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn a_query_counts_once_in_a_week_at_its_position_in_that_week() {
        let days: [(u32, &[(&str, f64)]); 3] = [(1, &[("a", 2.0)]), (2, &[("a", 2.0), ("b", 4.0)]), (3, &[("a", 8.0)])];
        let weeks = filled(Granularity::Week, &days).counts();
        assert_eq!(weeks.iter().map(|week| week.queries).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(weeks[1].buckets.iter().map(|bucket| bucket.queries).collect::<Vec<_>>(), [0, 2, 0, 0], "5 and 4");
        let months = filled(Granularity::Month, &DAYS).counts();
        assert_eq!(months.iter().map(|month| (month.queries, month.capped)).collect::<Vec<_>>(), [(3, true)]);
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
