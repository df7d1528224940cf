//! Reading the queries of each day.
//!
//! By day and query the search engine returns rows up to its ceiling for every day, so a long window may have millions of rows.
//! They are read a week at a time, or some weeks of few rows at a time, a few readings in parallel, and folded as they arrive. No answer ever
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
const DAYS: i64 = 7;

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
    let starts = std::iter::successors(Some(window.start_date), |start| Some(*start + TimeDelta::days(DAYS)));
    let week =
        |start_date| Window { start_date, end_date: window.end_date.min(start_date + TimeDelta::days(DAYS - 1)) };
    starts.take_while(|start| *start <= window.end_date).map(week).collect()
}

/// Reads one week, by day and query.
pub(super) async fn read_week(asked: &Asked, week: Window, plan: &Plan) -> Result<Arc<Reading>, Error> {
    let days = usize::try_from((week.end_date - week.start_date).num_days() + 1).unwrap_or(1);
    asked.read(week, &[Dimension::Date, Dimension::Query], days * ENGINE_CEILING, plan).await
}

/// Returns the rows of each day in a week's reading.
pub(super) fn by_day(reading: &Reading) -> impl Iterator<Item = (NaiveDate, &[Row])> {
    let days = reading.rows.chunk_by(|a, b| a.key() == b.key());
    days.filter_map(|rows| Some((parse_day(rows.first()?.key()).ok()?, rows)))
}

/// The rows that one reading should have at most: one page of the search engine's answer, with room for a week that has more than the first.
const ROWS_AT_ONCE: usize = 20_000;

/// The most weeks of one reading. The search engine charges a request by its days.
const WEEKS_AT_ONCE: usize = 8;

/// Returns the windows of the readings after the first week, whose reading is `first`: as many weeks together as have about as many rows as
/// [`ROWS_AT_ONCE`].
fn together(later: &[Window], first: &Reading) -> Vec<Window> {
    let weeks = (ROWS_AT_ONCE / first.rows.len().max(1)).clamp(1, WEEKS_AT_ONCE);
    let joined = |weeks: &[Window]| Some(Window { end_date: weeks.last()?.end_date, ..*weeks.first()? });
    later.chunks(weeks).filter_map(joined).collect()
}

/// Folds each day of the window that has rows into `state`, in chronological order.
pub(super) async fn each_day<S: Send + 'static>(
    asked: &Asked,
    window: Window,
    plan: &Plan,
    mut state: S,
    fold: fn(&mut S, NaiveDate, &[Row]),
) -> Result<(S, DaysRead), Error> {
    let weeks = weeks(asked.days_of_series(window));
    let read = |week| async move {
        let permit = asked.search.weeks.acquire(asked.person).await?;
        Ok::<_, Error>((permit, read_week(asked, week, plan).await?))
    };
    let mut read_days = DaysRead { readings: Vec::new(), read_at: None };
    let Some((first, later)) = weeks.split_first() else { return Ok((state, read_days)) };
    let (permit, reading) = read(*first).await?;
    let later = together(later, &reading);
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
    use analytics::metrics::Metrics;

    use super::*;

    #[test]
    fn weeks_with_few_rows_are_read_together() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let window = Window { start_date: day("2026-10-01"), end_date: day("2026-11-11") };
        let all = weeks(window);
        assert_eq!(all.len(), 6);
        let joined = |rows: usize| {
            let row = Row { keys: [].into(), metrics: Metrics::zero() };
            let first = Reading { rows: vec![row; rows], ..Reading::empty(DateTime::UNIX_EPOCH) };
            let joined = together(&all[1..], &first);
            assert_eq!((joined[0].start_date, joined.last().unwrap().end_date), (day("2026-10-08"), window.end_date));
            for (before, after) in joined.iter().zip(&joined[1..]) {
                assert_eq!(before.end_date + TimeDelta::days(1), after.start_date);
            }
            joined.len()
        };
        assert_eq!([0, 10, 4_000, 7_000, 10_001, 50_000].map(joined), [1, 1, 1, 3, 5, 5]);
        assert!(together(&[], &Reading::empty(DateTime::UNIX_EPOCH)).is_empty());
    }
}
