//! Which day is the last final one.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::{
    client::Account,
    error::ReadError,
    planner::Plan,
    reader::Reader,
    reading::Part,
    wire::{DataState, Dimension, SearchType, SiteUrl},
};
use crate::clock::Clock;

/// Days that are looked at.
const WINDOW_DAYS: i64 = 10;

/// Final data is at most this many days behind, by long experience.
const USUAL_LAG_DAYS: i64 = 3;

/// How recent a site's data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastFinal {
    /// The last day whose numbers do not change any more.
    pub last_final_date: NaiveDate,
    /// The first day that is still being counted.
    pub first_incomplete_date: Option<NaiveDate>,
    /// When this was read.
    pub read_at: DateTime<Utc>,
}

/// Asks for the last ten days, incomplete ones included. The last final day is the day before the first incomplete one;
/// where the search engine does not name that, the later of the last day with data and today minus three.
pub async fn last_final(
    reader: &Reader,
    clock: &Clock,
    account: &Account,
    site: &SiteUrl,
) -> Result<LastFinal, ReadError> {
    let today = clock.pacific_today();
    let part = Part {
        dimensions: vec![Dimension::Date],
        start: today - TimeDelta::days(WINDOW_DAYS - 1),
        end: today,
        search_type: SearchType::Web,
        aggregation: None,
        data_state: DataState::All,
        cap: 1_000,
    };
    let reading = reader.read(account, site, &part, &Plan::everything()).await?;
    let usual = today - TimeDelta::days(USUAL_LAG_DAYS);
    let last_final_date = match reading.first_incomplete_date {
        Some(first) => first - TimeDelta::days(1),
        None => reading
            .rows
            .iter()
            .filter_map(|row| row.key().parse().ok())
            .max()
            .map_or(usual, |last: NaiveDate| last.max(usual)),
    };
    Ok(LastFinal { last_final_date, first_incomplete_date: reading.first_incomplete_date, read_at: reading.read_at })
}
