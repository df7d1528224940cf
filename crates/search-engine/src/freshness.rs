//! Determines the last final day of a site.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use common::clock::Clock;

use super::{
    error::ReadError,
    planner::Plan,
    reader::Reader,
    reading::Part,
    settings::Account,
    wire::{DataState, Dimension, SearchType, SiteUrl},
};

/// The number of days to request. Older days are always final.
pub const WINDOW_DAYS: i64 = 10;

/// The usual maximum age of the newest final data, in days, from experience.
const USUAL_LAG_DAYS: i64 = 3;

/// The freshness of a site's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastFinal {
    /// The last day whose numbers no longer change.
    pub last_final_date: NaiveDate,
    /// The first day whose data is incomplete.
    pub first_incomplete_date: Option<NaiveDate>,
    /// The time of the reading.
    pub read_at: DateTime<Utc>,
}

/// Requests the last ten days, including incomplete ones. The last final day is the day before the first incomplete one. If
/// the search engine does not name that day, it is the later of the last day with data and today minus three.
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
