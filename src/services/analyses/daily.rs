//! Reading the queries of each day.
//!
//! By day and query the search engine exposes up to its ceiling for every day, so a long window may hold millions of rows. They are
//! read a week at a time, a few weeks side by side, and folded as they come: an answer never holds all of them.

use std::sync::{Arc, Weak};

use api::models::Window;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{Asked, weeks::MAX_WEEKS_PER_PERSON};
use crate::{
    compute::beside,
    error::Error,
    search_engine::{Dimension, ENGINE_CEILING, Plan, Reading, Row},
};

/// Days of one reading: about as many rows of a large site as the search engine answers at once.
const DAYS: i64 = 7;

/// Readings made side by side.
const AT_ONCE: usize = MAX_WEEKS_PER_PERSON;

/// What was read: enough to tell whether the same would be read again.
pub(super) struct DaysRead {
    /// The readings, in order.
    pub(super) readings: Vec<Weak<Reading>>,
    /// When the oldest of them was read.
    pub(super) read_at: Option<DateTime<Utc>>,
}

/// The windows of the readings that make up `window`.
pub(super) fn weeks(window: Window) -> Vec<Window> {
    let starts = std::iter::successors(Some(window.start_date), |start| Some(*start + TimeDelta::days(DAYS)));
    let week =
        |start_date| Window { start_date, end_date: window.end_date.min(start_date + TimeDelta::days(DAYS - 1)) };
    starts.take_while(|start| *start <= window.end_date).map(week).collect()
}

/// The rows of one week, by day and query.
pub(super) async fn read_week(asked: &Asked, week: Window, plan: &Plan) -> Result<Arc<Reading>, Error> {
    let days = usize::try_from((week.end_date - week.start_date).num_days() + 1).unwrap_or(1);
    asked.read(week, &[Dimension::Date, Dimension::Query], days * ENGINE_CEILING, plan).await
}

/// The rows of each day of a week's reading.
pub(super) fn by_day(reading: &Reading) -> impl Iterator<Item = (NaiveDate, &[Row])> {
    let days = reading.rows.chunk_by(|a, b| a.key() == b.key());
    days.filter_map(|rows| Some((rows.first()?.key().parse().ok()?, rows)))
}

/// Folds each day of the window that has rows into `state`, in order of time.
pub(super) async fn each_day<S: Send + 'static>(
    asked: &Asked,
    window: Window,
    plan: &Plan,
    mut state: S,
    fold: fn(&mut S, NaiveDate, &[Row]),
) -> Result<(S, DaysRead), Error> {
    let weeks = weeks(asked.final_days(window)).into_iter();
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
