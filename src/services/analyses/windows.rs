//! Windows: from the parameters to days that the search engine can answer.

use api::{
    analytics::Adjustment,
    models::{Comparison, Window, WindowParams},
};
use chrono::{Months, NaiveDate, TimeDelta};
use search_engine::HISTORY_MONTHS;

use crate::error::Error;

/// The length of the default window, in days.
pub const DEFAULT_DAYS: i64 = 28;

/// The window and the comparison window of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    /// The window, or `None` for the default one.
    pub window: Option<Window>,
    /// The dates of the comparison window, if they were given.
    pub compare: Option<Window>,
    /// The dates that were not taken as they were sent.
    pub adjusted: Vec<Adjustment>,
}

impl Windows {
    /// Checks the dates that were given. `today` is the search engine's. Its day begins later than in most of the world, so the
    /// day after it is taken as today.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] for days that the search engine does not have.
    pub fn given(window: &WindowParams, comparison: &Comparison, today: NaiveDate) -> Result<Self, Error> {
        let mut adjusted = Vec::new();
        let mut taken =
            |names, window: Option<Window>| window.map(|window| taken(names, window, today, &mut adjusted)).transpose();
        let window = taken(["startDate", "endDate"], window.window())?;
        let compare = taken(["compareStart", "compareEnd"], comparison.window())?;
        Ok(Self { window, compare, adjusted })
    }
}

fn taken(
    [start_name, end_name]: [&str; 2],
    window: Window,
    today: NaiveDate,
    adjusted: &mut Vec<Adjustment>,
) -> Result<Window, Error> {
    let oldest = oldest_day(today);
    if window.end_date > today + TimeDelta::days(1) {
        return Err(Error::invalid(format!(
            "{end_name}: must not be after {today}, which is today in America/Los_Angeles, or the day after, which is taken as today"
        )));
    }
    if window.start_date < oldest {
        return Err(Error::invalid(format!(
            "{start_name}: must not be before {oldest}; the search engine keeps {HISTORY_MONTHS} months"
        )));
    }
    let mut until_today = |name: &str, sent: NaiveDate| {
        if sent > today {
            adjusted.push(Adjustment { parameter: name.to_owned(), sent, taken: today });
        }
        sent.min(today)
    };
    Ok(Window {
        start_date: until_today(start_name, window.start_date),
        end_date: until_today(end_name, window.end_date),
    })
}

/// Returns the window to compare `window` with, where the parameter `compare` names it.
///
/// # Errors
/// [`Error::InvalidRequest`] if it begins before the search engine's data, or if the window has no such window before it.
pub fn named(comparison: &Comparison, window: Window, today: NaiveDate) -> Result<Option<Window>, Error> {
    let Some(compare) = comparison.compare else { return Ok(None) };
    let oldest = oldest_day(today);
    let before = compare.before(window).ok_or_else(|| {
        Error::invalid(format!(
            "compare: previous_calendar_period needs a window of whole months, quarters or years, and {} to {} is none; use \
             previous_period",
            window.start_date, window.end_date
        ))
    })?;
    if before.start_date < oldest {
        return Err(Error::invalid(format!(
            "compare: the window would begin on {}, and the search engine has data since {oldest}; ask for a later or shorter window",
            before.start_date
        )));
    }
    Ok(Some(before))
}

/// Returns the window of `days` days that ends on `end`.
#[must_use]
pub fn last_days(end: NaiveDate, days: i64) -> Window {
    Window { start_date: end - TimeDelta::days(days - 1), end_date: end }
}

/// Returns the first day for which the search engine still has data.
#[must_use]
pub fn oldest_day(today: NaiveDate) -> NaiveDate {
    today - Months::new(HISTORY_MONTHS)
}

#[cfg(test)]
mod tests {
    use api::models::Compare;

    use super::*;

    const TODAY: &str = "2026-11-21";

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn window(start: &str, end: &str) -> Window {
        Window { start_date: day(start), end_date: day(end) }
    }

    fn given(start: &str, end: &str) -> Result<(Window, Vec<String>), String> {
        let found = Windows::given(&window(start, end).into(), &Comparison::default(), day(TODAY));
        let found = found.map_err(|error| error.to_string())?;
        let said = |adjusted: &Adjustment| format!("{} {} {}", adjusted.parameter, adjusted.sent, adjusted.taken);
        Ok((found.window.unwrap(), found.adjusted.iter().map(said).collect()))
    }

    #[test]
    fn the_day_after_today_is_today() {
        assert_eq!(given("2026-11-20", TODAY), Ok((window("2026-11-20", TODAY), vec![])));
        let adjusted = vec!["endDate 2026-11-22 2026-11-21".to_owned()];
        assert_eq!(given("2026-11-20", "2026-11-22"), Ok((window("2026-11-20", TODAY), adjusted)));
        let both = vec!["startDate 2026-11-22 2026-11-21".to_owned(), "endDate 2026-11-22 2026-11-21".to_owned()];
        assert_eq!(given("2026-11-22", "2026-11-22"), Ok((window(TODAY, TODAY), both)));
        assert!(given("2026-11-20", "2026-11-23").unwrap_err().starts_with("endDate: must not be after 2026-11-21"));
        assert!(given("2025-07-20", "2026-11-20").unwrap_err().starts_with("startDate: must not be before 2025-07-21"));
    }

    #[test]
    fn named_comparisons_stay_within_the_history() {
        for (compare, asked, expected) in [
            (Compare::PreviousPeriod, window("2026-10-22", "2026-11-18"), Some(window("2026-09-24", "2026-10-21"))),
            (Compare::PreviousPeriod, window("2025-07-22", "2025-07-22"), Some(window("2025-07-21", "2025-07-21"))),
            (Compare::PreviousPeriod, window("2025-07-22", "2025-07-23"), None),
            (Compare::PreviousYear, window("2026-07-21", "2026-07-22"), Some(window("2025-07-21", "2025-07-22"))),
            (Compare::PreviousYear, window("2026-07-20", "2026-07-22"), None),
            (
                Compare::PreviousYearSameWeekdays,
                window("2026-07-20", "2026-07-22"),
                Some(window("2025-07-21", "2025-07-23")),
            ),
            (Compare::PreviousYearSameWeekdays, window("2026-07-19", "2026-07-22"), None),
            (
                Compare::PreviousPeriodSameWeekdays,
                window("2025-07-28", "2025-08-03"),
                Some(window("2025-07-21", "2025-07-27")),
            ),
            (Compare::PreviousPeriodSameWeekdays, window("2025-07-28", "2025-08-04"), None),
            (
                Compare::PreviousCalendarPeriod,
                window("2025-09-01", "2025-09-30"),
                Some(window("2025-08-01", "2025-08-31")),
            ),
            (Compare::PreviousCalendarPeriod, window("2025-08-01", "2025-08-31"), None),
        ] {
            let comparison = Comparison { compare: Some(compare), ..Comparison::default() };
            let found = named(&comparison, asked, day(TODAY));
            match expected {
                Some(expected) => assert_eq!(found.unwrap(), Some(expected), "{compare:?} {asked:?}"),
                None => assert!(found.unwrap_err().to_string().starts_with("compare: the window would begin on ")),
            }
        }
        assert_eq!(named(&Comparison::default(), window(TODAY, TODAY), day(TODAY)).unwrap(), None);
    }
}
