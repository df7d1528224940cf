//! The default window of series by hour.

use api::models::{DataState, Granularity, Question, WindowParams};

use super::{search_data::SearchData, windows::last_days};
use crate::{error::Error, services::access::ReadableProperty};

/// The length of the default window in days: 48 hours, except where the clocks change.
const DEFAULT_DAYS: i64 = 2;

/// Gives a question by hour that names no window the last two days that its data state counts: final ones, or yesterday and today.
/// The default window of all other questions is longer than the search engine keeps hours.
pub async fn dated(
    search: &SearchData,
    access: &ReadableProperty,
    asked: &Question,
    granularity: Granularity,
) -> Result<Question, Error> {
    if granularity != Granularity::Hour || asked.window.window().is_some() {
        return Ok(asked.clone());
    }
    let data_state = asked.window.data_state;
    let end = match data_state {
        DataState::All => search.clock.pacific_today(),
        DataState::Final => search.last_final(&search.site(access)?).await?.last_final_date,
    };
    let window = WindowParams { data_state, ..last_days(end, DEFAULT_DAYS).into() };
    Ok(Question { window, ..asked.clone() })
}
