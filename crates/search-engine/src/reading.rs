//! Readings: the ordered rows that the search engine returns for a part of a question, and their sums.

use std::collections::HashMap;

use api::models::{Aggregation, SearchType, Window};
use chrono::{DateTime, NaiveDate, Utc};
use common::metrics::Metrics;

use super::{
    answer::QueryResponse,
    wire::{DATE, DataState, Dimension},
};

/// The maximum number of rows that the search engine exposes.
pub const ENGINE_CEILING: usize = 50_000;

/// The number of rows of queries and pages that tables are made of, regardless of the rows that are shown.
pub const SHORT_LIST: usize = 5_000;

/// More days, and more hours, than the search engine stores.
const EVERY_DAY: usize = 1_000;

/// The number of days, up to today, for which the search engine has hours.
pub const HOURLY_DAYS: i64 = 10;

/// Returns the maximum number of rows of a grouping with few values, so that requests for different numbers of its rows are
/// identical. Returns `None` if the caller has to set the limit.
pub fn row_limit(dimensions: &[Dimension]) -> Option<usize> {
    match dimensions {
        [] => Some(1),
        [Dimension::Date | Dimension::Hour] => Some(EVERY_DAY),
        _ => None,
    }
}

/// One part of a question: grouping, days and aggregation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part {
    /// Dimensions to group by. Empty for totals.
    pub dimensions: Vec<Dimension>,
    /// First day.
    pub start: NaiveDate,
    /// Last day, included.
    pub end: NaiveDate,
    /// The search type.
    pub search_type: SearchType,
    /// `None`: the search engine chooses.
    pub aggregation: Option<Aggregation>,
    /// Final days only, or all days.
    pub data_state: DataState,
    /// The maximum number of rows. Totals and daily series are read in full.
    pub cap: usize,
    /// Days that are asked about as well, and hold these, such as those of two windows that are compared. Where rows by day add up, one
    /// request for all of them answers every part.
    pub among: Option<Window>,
}

/// A row of a reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The values of the part's dimensions.
    pub keys: Box<[Box<str>]>,
    /// Its metrics.
    pub metrics: Metrics,
}

impl Row {
    /// The value of the first dimension. Empty in a row of totals.
    #[must_use]
    pub fn key(&self) -> &str {
        self.keys.first().map_or("", |key| key)
    }
}

/// The search engine's response to a part of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Sorted by clicks, impressions and keys, best first. Sorted by time if the first dimension is one.
    pub rows: Vec<Row>,
    /// True if the list was truncated at its cap, so that more rows may exist.
    pub capped: bool,
    /// The time at which its oldest part was read upstream.
    pub read_at: DateTime<Utc>,
    /// The first day with incomplete data, if the search engine names it.
    pub first_incomplete_date: Option<NaiveDate>,
}

/// The rows of a response, sorted.
pub fn reading_of(answer: QueryResponse, dimensions: &[Dimension], cap: usize, read_at: DateTime<Utc>) -> Reading {
    let rows = answer
        .rows
        .into_iter()
        .map(|row| Row { metrics: Metrics::of_row(row.clicks, row.impressions, row.position), keys: row.keys.into() });
    let mut rows: Vec<Row> = rows.collect();
    sort(&mut rows, dimensions);
    let capped = is_cut(&rows, dimensions, cap);
    Reading { rows, capped, read_at, first_incomplete_date: answer.metadata.first_incomplete_date }
}

impl Reading {
    /// A reading of no days. `read_at` is the time at which it became known that none is counted.
    #[must_use]
    pub fn empty(read_at: DateTime<Utc>) -> Self {
        Self { rows: Vec::new(), capped: false, read_at, first_incomplete_date: None }
    }

    /// Returns the sum of these rows, one per day. Returns `None` if the search engine's totals could differ in the last
    /// bit: if days may be missing, if only some days have a position, or if the sums are not whole numbers.
    #[must_use]
    pub fn total(&self) -> Option<Self> {
        let exact = self.adds_up();
        let metrics: Metrics = self.rows.iter().map(|row| row.metrics).sum();
        // Without impressions the search engine returns no row.
        let total = (metrics.impressions > 0.0).then(|| Row { keys: [].into(), metrics });
        exact.then(|| Self {
            rows: total.into_iter().collect(),
            capped: false,
            read_at: self.read_at,
            first_incomplete_date: None,
        })
    }

    /// Returns whether sums of its rows are exact.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        let placed = self.rows.iter().filter(|row| row.metrics.weighted_position.is_some()).count();
        let alike = placed == 0 || placed == self.rows.len();
        !self.capped && alike && self.rows.iter().all(|row| row.metrics.are_whole())
    }

    /// Estimated memory use in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let keys: usize = self.rows.iter().flat_map(|row| row.keys.iter()).map(|key| key.len() + 32).sum();
        keys + self.rows.len() * (size_of::<Row>() + 16)
    }
}

/// The signed sum of readings by `dimensions`, row by row, and at most `cap` rows of it. Rows without impressions are dropped.
pub fn added<'r>(
    weighted: impl Iterator<Item = (f64, &'r Reading)>,
    dimensions: &[Dimension],
    cap: usize,
    now: DateTime<Utc>,
) -> Reading {
    let mut sums: HashMap<&[Box<str>], Metrics> = HashMap::new();
    let mut read_at = now;
    for (weight, reading) in weighted {
        read_at = read_at.min(reading.read_at);
        for row in &reading.rows {
            *sums.entry(&row.keys).or_insert_with(Metrics::zero) += row.metrics * weight;
        }
    }
    let present = sums.into_iter().filter(|(_, metrics)| metrics.impressions > 0.5);
    let mut rows: Vec<Row> = present.map(|(keys, metrics)| Row { keys: keys.into(), metrics }).collect();
    sort(&mut rows, dimensions);
    let capped = !dimensions.is_empty() && rows.len() >= cap;
    rows.truncate(cap);
    Reading { rows, capped, read_at, first_incomplete_date: None }
}

/// Returns whether more rows than these sorted ones may exist: they reach the cap, or rows of one day reach the search
/// engine's limit for a day.
fn is_cut(rows: &[Row], dimensions: &[Dimension], cap: usize) -> bool {
    match dimensions {
        [] => false,
        _ if rows.len() >= cap => true,
        [Dimension::Date | Dimension::Hour, _, ..] => {
            let same_day = |a: &Row, b: &Row| a.key().get(..DATE) == b.key().get(..DATE);
            rows.chunk_by(same_day).any(|day| day.len() >= ENGINE_CEILING)
        }
        _ => false,
    }
}

/// Sorts by a total order, so that the same question gives the same bytes.
fn sort(rows: &mut [Row], dimensions: &[Dimension]) {
    if matches!(dimensions.first(), Some(Dimension::Date | Dimension::Hour)) {
        return rows.sort_by(|a, b| a.keys.cmp(&b.keys));
    }
    rows.sort_by(|a, b| {
        let by_size = b.metrics.clicks.total_cmp(&a.metrics.clicks);
        by_size.then(b.metrics.impressions.total_cmp(&a.metrics.impressions)).then_with(|| a.keys.cmp(&b.keys))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(days: &[(&str, usize)]) -> Vec<Row> {
        let row = |day: &str| Row { keys: [day.into(), "q".into()].into(), metrics: Metrics::zero() };
        days.iter().flat_map(|(day, count)| std::iter::repeat_with(|| row(day)).take(*count)).collect()
    }

    fn days(of: &[(f64, f64, Option<f64>)], capped: bool) -> Reading {
        let row = |(day, (clicks, impressions, position)): (usize, &(f64, f64, Option<f64>))| Row {
            keys: [format!("2026-11-{:02}", day + 1).into()].into(),
            metrics: Metrics::of_row(*clicks, *impressions, *position),
        };
        let rows = of.iter().enumerate().map(row).collect();
        Reading { rows, capped, read_at: DateTime::UNIX_EPOCH, first_incomplete_date: None }
    }

    #[test]
    fn days_add_up_to_totals_only_where_that_is_exact() {
        let total = |reading: &Reading| Some(reading.total()?.rows.iter().map(|row| row.metrics).collect::<Vec<_>>());
        let placed = [(1.0, 3.0, Some(7.0 / 3.0)), (0.0, 7.0, Some(22.0 / 7.0))];
        let expected = Metrics { clicks: 1.0, impressions: 10.0, weighted_position: Some(29.0) };
        assert_eq!(total(&days(&placed, false)), Some(vec![expected]));
        let feed = [(1.0, 3.0, None), (0.0, 7.0, None)];
        let expected = Metrics { clicks: 1.0, impressions: 10.0, weighted_position: None };
        assert_eq!(total(&days(&feed, false)), Some(vec![expected]));
        assert_eq!(total(&days(&[], false)), Some(vec![]), "nothing is said about a window without data");
        assert_eq!(total(&days(&[(0.0, 0.0, Some(0.0))], false)), Some(vec![]), "nor of one of zeros");

        assert_eq!(total(&days(&placed, true)), None, "a day may be missing");
        assert_eq!(total(&days(&[(1.0, 3.0, Some(2.3)), (0.0, 7.0, Some(3.1))], false)), None, "rounded upstream");
        assert_eq!(total(&days(&[placed[0], feed[1]], false)), None, "a position is missing");
    }

    #[test]
    fn a_list_is_cut_at_its_cap_and_by_day_at_the_ceiling_of_a_day() {
        use Dimension::{Date, Query};
        let by_day = rows(&[("2026-11-01", ENGINE_CEILING - 1), ("2026-11-02", 3)]);
        assert!(!is_cut(&by_day, &[Date, Query], 7 * ENGINE_CEILING));
        assert!(is_cut(&by_day, &[Date, Query], ENGINE_CEILING + 2));
        let full_day = rows(&[("2026-11-01", 3), ("2026-11-02", ENGINE_CEILING)]);
        assert!(is_cut(&full_day, &[Date, Query], 7 * ENGINE_CEILING));
        assert!(!is_cut(&rows(&[("", 1)]), &[], 1), "totals are one row");
    }
}
