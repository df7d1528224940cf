//! The parameters that analytics operations share.

use chrono::{Datelike as _, Days, Months, NaiveDate};
use poem_openapi::{
    Enum,
    types::{ParseFromParameter as _, ToJSON as _},
};
use serde::Serialize;
use serde_json::Value;

use super::{Classification, DataState, DateRange, Filters, SearchType};
use crate::{
    error::ApiError,
    params::{Ignored, ParamValue, QueryParams, Whole, enum_allowed, enum_schema},
};

/// Rows of a breakdown table, 1 to 5,000.
pub type RowLimit = Whole<1, 5000>;

/// A window whose start is not after its end.
pub type Window = DateRange;

/// The window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, QueryParams, Serialize)]
#[params(check = WindowParams::check)]
pub struct WindowParams {
    /// First day, in the search engine's time zone (`America/Los_Angeles`), at most 16 months back. Requires `endDate`.
    /// Without both: the 28 days that end on the last final day, or today with `dataState=all`.
    #[param(example = "2026-10-22", resolved)]
    pub start_date: Option<NaiveDate>,
    /// Last day, inclusive; at most a day after today in the search engine's time zone, which is then taken as today. Days that
    /// are not final yet count only with `dataState=all`. Without both: the last final day, or today with `dataState=all`.
    #[param(example = "2026-11-18", resolved)]
    pub end_date: Option<NaiveDate>,
    /// `final` counts final days only. `all` also counts the days that are not final yet: their numbers grow, series mark them
    /// with `notFinal`, and they are at most 15 minutes old. With a comparison they are in the series only.
    #[param(default = "final", example = "all")]
    pub data_state: DataState,
}

impl From<Window> for WindowParams {
    fn from(window: Window) -> Self {
        Self { start_date: Some(window.start_date), end_date: Some(window.end_date), ..Self::default() }
    }
}

impl WindowParams {
    /// The requested window, if any.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        self.start_date.zip(self.end_date).map(|(start_date, end_date)| Window { start_date, end_date })
    }

    pub(crate) fn check(&self) -> Result<(), ApiError> {
        check_pair(("startDate", self.start_date), ("endDate", self.end_date))
    }
}

/// A window to compare with, named by its relation to the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// As many days, ending the day before.
    PreviousPeriod,
    /// The same weekdays before: moved by the least multiple of seven days that is not shorter than the window.
    PreviousPeriodSameWeekdays,
    /// As many whole months, ending the day before.
    PreviousCalendarPeriod,
    /// The same dates a year before; 29 February becomes 28.
    PreviousYear,
    /// 364 days before, so that each day is compared with the same day of the week.
    PreviousYearSameWeekdays,
}

impl ParamValue for Compare {
    fn schema() -> Value {
        enum_schema::<Self>()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let renamed = if text == "same_weekdays" { "; same_weekdays is now previous_year_same_weekdays" } else { "" };
        Self::parse_from_parameter(text).map_err(|_| format!("{}{renamed}", enum_allowed::<Self>()))
    }

    fn to_value(&self) -> Value {
        self.to_json().unwrap_or_default()
    }
}

impl Compare {
    /// The window to compare `window` with. `None` if `previous_calendar_period` is asked of a window that is not made of whole
    /// months, or if the calendar does not reach that far back.
    #[must_use]
    pub fn before(self, current: Window) -> Option<Window> {
        let (Window { start_date, end_date }, length) = (current, u64::from(current.length()));
        let window = |start_date, end_date| Some(Window { start_date, end_date });
        let earlier = |days| window(days_before(start_date, days)?, days_before(end_date, days)?);
        match self {
            Self::PreviousPeriod => earlier(length),
            Self::PreviousPeriodSameWeekdays => earlier(length.next_multiple_of(7)),
            Self::PreviousCalendarPeriod => {
                let months = whole_months(start_date, end_date)?;
                window(months_before(start_date, months)?, days_before(start_date, 1)?)
            }
            Self::PreviousYear => window(months_before(start_date, 12)?, months_before(end_date, 12)?),
            Self::PreviousYearSameWeekdays => earlier(364),
        }
    }
}

fn days_before(day: NaiveDate, days: u64) -> Option<NaiveDate> {
    day.checked_sub_days(Days::new(days))
}

fn months_before(day: NaiveDate, months: u32) -> Option<NaiveDate> {
    day.checked_sub_months(Months::new(months))
}

/// Returns the number of months from the first day of one to the last day of one. `None` if a month is not whole.
fn whole_months(start: NaiveDate, end: NaiveDate) -> Option<u32> {
    let after = end.checked_add_days(Days::new(1))?;
    let months = 12 * (after.year() - start.year()) + after.month().cast_signed() - start.month().cast_signed();
    u32::try_from(months).ok().filter(|_| start.day() == 1 && after.day() == 1)
}

/// The window to compare with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, QueryParams, Serialize)]
#[params(check = Comparison::check)]
pub struct Comparison {
    /// Names the window to compare with, instead of `compareStart` and `compareEnd`: `previous_period` is as many days, ending
    /// the day before; `previous_period_same_weekdays` the window moved back by whole weeks, as few as its length allows;
    /// `previous_calendar_period` as many whole months, for a window of whole months, quarters or years; `previous_year` the same
    /// dates a year before, where 29 February becomes 28; `previous_year_same_weekdays` 364 days before. It must not begin more
    /// than 16 months back. Beside both dates it has no effect. Without it, and without both dates: no comparison.
    #[param(example = "previous_period", shorthand)]
    pub compare: Option<Compare>,
    /// First day of the window to compare with. Requires `compareEnd`. The windows may differ in length (warning
    /// `unequal_windows`). If one of them has days that are not final, totals and rows count as many days from the start of both
    /// as both have final (`meta.days`, warning `windows_shortened`). Without both, and without `compare`: no comparison.
    #[param(example = "2026-09-24")]
    pub compare_start: Option<NaiveDate>,
    /// Last day of the window to compare with, inclusive. Without both, and without `compare`: no comparison.
    #[param(example = "2026-10-21")]
    pub compare_end: Option<NaiveDate>,
}

impl From<Window> for Comparison {
    fn from(window: Window) -> Self {
        Self { compare: None, compare_start: Some(window.start_date), compare_end: Some(window.end_date) }
    }
}

impl Comparison {
    /// True if a comparison is requested, by name or by dates.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.compare.is_some() || self.window().is_some()
    }

    /// The comparison window, if its dates are given.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        self.compare_start.zip(self.compare_end).map(|(start_date, end_date)| Window { start_date, end_date })
    }

    pub(crate) fn check(&self) -> Result<(), ApiError> {
        check_pair(("compareStart", self.compare_start), ("compareEnd", self.compare_end))
    }
}

pub(crate) fn check_pair(start: (&str, Option<NaiveDate>), end: (&str, Option<NaiveDate>)) -> Result<(), ApiError> {
    match (start.1, end.1) {
        (Some(_), None) => Err(ApiError::invalid(end.0, &format!("is required beside {}", start.0))),
        (None, Some(_)) => Err(ApiError::invalid(start.0, &format!("is required beside {}", end.0))),
        (Some(first), Some(last)) if first > last => {
            Err(ApiError::invalid(start.0, &format!("must not be after {}", end.0)))
        }
        _ => Ok(()),
    }
}

/// The part of the traffic that a question is about.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
pub struct Slice {
    /// Subset of the traffic: `branded` and `nonBranded` by the property's branded keywords, `segment:<uuid>` by a
    /// saved page classification, `topicCluster:<uuid>` by a saved query classification. Combined with `filters` by
    /// AND. Without it: all traffic.
    #[param(example = "nonBranded")]
    pub classification: Option<Classification>,
    /// The kind of search.
    #[param(default = "web", example = "web")]
    pub search_type: SearchType,
    /// A JSON-encoded array of at most 50 conditions. `logic` joins a condition to the one before it; `and` binds
    /// tighter than `or`. A filter that cannot be answered exactly is refused with `filter_too_complex`. Without it:
    /// all traffic.
    #[param(example = r#"[{"dimension":"country","operator":"equals","value":"usa"}]"#)]
    pub filters: Option<Filters>,
}

impl Question {
    /// A question about web search in the last 28 final days, without a comparison.
    #[must_use]
    pub fn by_default(filters: Option<Filters>) -> Self {
        let slice = Slice { classification: None, search_type: SearchType::Web, filters };
        Self::alone(WindowParams::default(), slice, Ignored::default())
    }

    /// A question without a comparison.
    #[must_use]
    pub fn alone(window: WindowParams, slice: Slice, ignored: Ignored) -> Self {
        Self { window, comparison: Comparison::default(), slice, ignored }
    }
}

/// Window, comparison and slice: the parameters of most analytics operations.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
pub struct Question {
    /// The window.
    #[param(flatten)]
    pub window: WindowParams,
    /// The window to compare with.
    #[param(flatten)]
    pub comparison: Comparison,
    /// The slice.
    #[param(flatten)]
    pub slice: Slice,
    /// The parameters that mean nothing to the operation.
    #[param(flatten)]
    pub ignored: Ignored,
}
