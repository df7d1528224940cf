//! Reading the queries of each day.
//!
//! By day and query the search engine returns rows up to its ceiling for every day, so a long window may have millions of rows.
//! They are read a week at a time, a few weeks in parallel, and folded as they arrive. No answer ever holds all of them.

use std::sync::{Arc, Weak};

use api::models::{Window, parse_day};
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use common::compute::beside;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use search_engine::{Dimension, ENGINE_CEILING, Plan, Reading, Row};

use super::{Asked, weeks::MAX_WEEKS_PER_PERSON};
use crate::error::Error;

/// The number of days in one reading. A week of a large site has about as many rows as the search engine returns at once.
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

/// Folds each day of the window that has rows into `state`, in chronological order.
pub(super) async fn each_day<S: Send + 'static>(
    asked: &Asked,
    window: Window,
    plan: &Plan,
    mut state: S,
    fold: fn(&mut S, NaiveDate, &[Row]),
) -> Result<(S, DaysRead), Error> {
    let weeks = weeks(asked.days_of_series(window)).into_iter();
    let read = |week| async move {
        let permit = asked.search.weeks.acquire(asked.person).await?;
        Ok::<_, Error>((permit, read_week(asked, week, plan).await?))
    };
    let mut readings = stream::iter(weeks.map(read)).buffered(AT_ONCE);
    let mut read = DaysRead { readings: Vec::new(), read_at: None };
    while let Some((_permit, reading)) = readings.try_next().await? {
        read.read_at = Some(read.read_at.map_or(reading.read_at, |oldest| oldest.min(reading.read_at)));
        read.readings.push(Arc::downgrade(&reading));
        let folded = beside(move || {
            by_day(&reading).for_each(|(date, rows)| fold(&mut state, date, rows));
            state
        });
        state = folded.await?;
    }
    Ok((state, read))
}
