//! Reading the queries of each day.
//!
//! By day and query the search engine returns rows up to its ceiling for every day, so a long window may have millions of rows.
//! They are read a week at a time, or more days of few rows at a time, a few readings in parallel, and folded as they arrive. No answer ever
//! holds all of them.

use std::sync::{Arc, Weak};

use api::models::{Window, parse_day};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use common::compute::beside;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use search_engine::{Dimension, ENGINE_CEILING, Plan, Reading, Row};

use super::{Asked, weeks::MAX_WEEKS_PER_PERSON};
use crate::error::Error;

/// The number of days in the first reading. A week of a large site has about as many rows as the search engine returns at once.
const DAYS: usize = 7;

/// The number of readings made in parallel.
const AT_ONCE: usize = MAX_WEEKS_PER_PERSON;

/// The readings that were made, without their rows. They suffice to tell whether the same readings would be made again.
pub(super) struct DaysRead {
    /// The readings, in order.
    pub(super) readings: Vec<Weak<Reading>>,
    /// The time of the oldest reading.
    pub(super) read_at: Option<DateTime<Utc>>,
}

/// Returns the windows of the readings that make up `window`.
pub(super) fn weeks(window: Window) -> Vec<Window> {
    parts(window, DAYS)
}

/// Returns a window in parts of so many days. The last one has the rest.
fn parts(window: Window, days: usize) -> Vec<Window> {
    let last = |start_date| Window { start_date, ..window }.days().take(days).last();
    let starts = window.days().step_by(days);
    starts.map(|start| Window { start_date: start, end_date: last(start).unwrap_or(start) }).collect()
}

/// Reads one week, by day and query.
pub(super) async fn read_week(asked: &Asked, week: Window, plan: &Plan) -> Result<Arc<Reading>, Error> {
    asked.read(week, &[Dimension::Date, Dimension::Query], week.length() as usize * ENGINE_CEILING, plan).await
}

/// Returns the rows of each day in a week's reading.
pub(super) fn by_day(reading: &Reading) -> impl Iterator<Item = (NaiveDate, &[Row])> {
    let days = reading.rows.chunk_by(|a, b| a.key() == b.key());
    days.filter_map(|rows| Some((parse_day(rows.first()?.key()).ok()?, rows)))
}

/// The rows that one reading should have at most: two pages of the search engine's answer, with room for days that have more rows than the
/// first ones.
const ROWS_AT_ONCE: usize = 45_000;

/// The most days of one reading. The search engine charges a request by its days.
const DAYS_AT_ONCE: usize = 56;

/// Returns the windows of the readings after the first week, whose reading is `first`: as many days together as have about as many rows as
/// [`ROWS_AT_ONCE`], a week at least.
fn together(later: Window, first: &Reading) -> Vec<Window> {
    let days = DAYS * ROWS_AT_ONCE / first.rows.len().max(1);
    parts(later, days.clamp(DAYS, DAYS_AT_ONCE))
}

/// Folds each day of the window that has rows into `state`, in chronological order.
pub(super) async fn each_day<S: Send + 'static>(
    asked: &Asked,
    window: Window,
    plan: &Plan,
    mut state: S,
    fold: fn(&mut S, NaiveDate, &[Row]),
) -> Result<(S, DaysRead), Error> {
    let window = asked.days_of_series(window);
    let read = |week| async move {
        let permit = asked.search.weeks.acquire(asked.person).await?;
        Ok::<_, Error>((permit, read_week(asked, week, plan).await?))
    };
    let mut read_days = DaysRead { readings: Vec::new(), read_at: None };
    let Some(first) = weeks(window).first().copied() else { return Ok((state, read_days)) };
    let (permit, reading) = read(first).await?;
    let later = together(Window { start_date: first.end_date + TimeDelta::days(1), ..window }, &reading);
    state = folded(reading, state, fold, &mut read_days).await?;
    drop(permit);
    let mut readings = stream::iter(later.into_iter().map(read)).buffered(AT_ONCE);
    while let Some((_permit, reading)) = readings.try_next().await? {
        state = folded(reading, state, fold, &mut read_days).await?;
    }
    Ok((state, read_days))
}

/// Folds the days of one reading into `state`.
async fn folded<S: Send + 'static>(
    reading: Arc<Reading>,
    mut state: S,
    fold: fn(&mut S, NaiveDate, &[Row]),
    read: &mut DaysRead,
) -> Result<S, Error> {
    read.read_at = Some(read.read_at.map_or(reading.read_at, |oldest| oldest.min(reading.read_at)));
    read.readings.push(Arc::downgrade(&reading));
    let folded = beside(move || {
        by_day(&reading).for_each(|(date, rows)| fold(&mut state, date, rows));
        state
    });
    Ok(folded.await?)
}

#[cfg(test)]
mod tests {
    use common::metrics::Metrics;

    use super::*;

    #[test]
    fn days_are_read_together_until_they_fill_two_pages() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let window = Window { start_date: day("2026-10-01"), end_date: day("2026-11-11") };
        assert_eq!(weeks(window).len(), 6);
        let later = Window { start_date: day("2026-10-08"), ..window };
        let joined = |rows: usize| {
            let row = Row { keys: [].into(), metrics: Metrics::zero() };
            let first = Reading { rows: vec![row; rows], ..Reading::empty(DateTime::UNIX_EPOCH) };
            let joined = together(later, &first);
            assert_eq!((joined[0].start_date, joined.last().unwrap().end_date), (day("2026-10-08"), window.end_date));
            for (before, after) in joined.iter().zip(&joined[1..]) {
                assert_eq!(before.end_date + TimeDelta::days(1), after.start_date);
            }
            joined.len()
        };
        assert_eq!([0, 10, 8_000, 10_000, 27_000, 40_000, 300_000].map(joined), [1, 1, 1, 2, 4, 5, 5]);
        let nothing = Window { start_date: day("2026-11-12"), ..window };
        assert!(together(nothing, &Reading::empty(DateTime::UNIX_EPOCH)).is_empty());
    }
}
