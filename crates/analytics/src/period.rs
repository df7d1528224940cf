//! Named periods, such as `last_28_days`, and the windows that they stand for. Named comparisons are the operation's own.

use api::models::Window;
use chrono::{Datelike as _, Days, Months, NaiveDate};

/// The most days that `last_N_days` may have. The search engine keeps 16 months.
const MOST_DAYS: u64 = 480;
/// The most whole months that `last_N_months` may have. A sixteenth would begin before what the search engine keeps.
const MOST_MONTHS: u32 = 15;

/// The names, for descriptions and refusals.
pub const NAMES: &str = "yesterday, last_week, this_month, last_month, last_quarter, last_year, this_year, last_N_days (such as last_28_days; at most \
                         480) or last_N_months (such as last_3_months; at most 15)";
/// The names that a form suggests.
pub const SUGGESTED: [&str; 8] = [
    "last_28_days",
    "last_7_days",
    "last_90_days",
    "last_week",
    "last_month",
    "last_3_months",
    "last_quarter",
    "this_year",
];

/// A named period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// The day before today.
    Yesterday,
    /// So many days that end on the last final day.
    Days(u64),
    /// The last whole week, from Monday to Sunday.
    LastWeek,
    /// The current month up to today.
    ThisMonth,
    /// So many whole months before the current one.
    Months(u32),
    /// The last whole quarter of the year.
    LastQuarter,
    /// The last whole year.
    LastYear,
    /// The current year up to today.
    ThisYear,
}

impl Period {
    /// Parses a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "yesterday" => Self::Yesterday,
            "last_week" => Self::LastWeek,
            "this_month" => Self::ThisMonth,
            "last_month" => Self::Months(1),
            "last_quarter" => Self::LastQuarter,
            "last_year" => Self::LastYear,
            "this_year" => Self::ThisYear,
            _ => {
                let (number, unit) = name.strip_prefix("last_")?.split_once('_')?;
                let number: u32 =
                    number.parse().ok().filter(|_| number.starts_with(|first| matches!(first, '1'..='9')))?;
                match unit {
                    "day" | "days" if (1..=MOST_DAYS).contains(&u64::from(number)) => Self::Days(u64::from(number)),
                    "month" | "months" if (1..=MOST_MONTHS).contains(&number) => Self::Months(number),
                    _ => return None,
                }
            }
        })
    }

    /// Returns whether the window is made of whole months before today.
    #[must_use]
    pub fn is_whole_months(self) -> bool {
        matches!(self, Self::Months(_) | Self::LastQuarter | Self::LastYear)
    }

    /// Returns whether the window depends on the last final day.
    #[must_use]
    pub fn ends_with_the_data(self) -> bool {
        matches!(self, Self::Days(_))
    }

    /// Returns the window, given today's date at the search engine and the last final day.
    #[must_use]
    pub fn window(self, today: NaiveDate, last_final: NaiveDate) -> Window {
        let month = first_of_month(today);
        let (start_date, end_date) = match self {
            Self::Yesterday => (today - Days::new(1), today - Days::new(1)),
            Self::Days(days) => (last_final - Days::new(days - 1), last_final),
            Self::LastWeek => {
                let monday = today - Days::new(u64::from(today.weekday().num_days_from_monday()));
                (monday - Days::new(7), monday - Days::new(1))
            }
            Self::ThisMonth => (month, today),
            Self::Months(months) => (month - Months::new(months), month - Days::new(1)),
            Self::LastQuarter => {
                let quarter = month - Months::new(today.month0() % 3);
                (quarter - Months::new(3), quarter - Days::new(1))
            }
            Self::LastYear => {
                let year = month - Months::new(today.month0());
                (year - Months::new(12), year - Days::new(1))
            }
            Self::ThisYear => (month - Months::new(today.month0()), today),
        };
        Window { start_date, end_date }
    }
}

fn first_of_month(day: NaiveDate) -> NaiveDate {
    day - Days::new(u64::from(day.day0()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn names_stand_for_windows() {
        for (name, today, start, end) in [
            ("yesterday", "2026-03-01", "2026-02-28", "2026-02-28"),
            ("last_1_day", "2026-11-21", "2026-11-18", "2026-11-18"),
            ("last_28_days", "2026-11-21", "2026-10-22", "2026-11-18"),
            ("last_week", "2026-11-21", "2026-11-09", "2026-11-15"),
            ("last_week", "2026-11-23", "2026-11-16", "2026-11-22"),
            ("this_month", "2026-11-21", "2026-11-01", "2026-11-21"),
            ("this_month", "2026-11-01", "2026-11-01", "2026-11-01"),
            ("last_month", "2026-03-31", "2026-02-01", "2026-02-28"),
            ("last_3_months", "2026-02-10", "2025-11-01", "2026-01-31"),
            ("last_quarter", "2026-11-21", "2026-07-01", "2026-09-30"),
            ("last_quarter", "2026-01-01", "2025-10-01", "2025-12-31"),
            ("last_year", "2026-01-01", "2025-01-01", "2025-12-31"),
            ("this_year", "2026-11-21", "2026-01-01", "2026-11-21"),
        ] {
            let window = Period::parse(name).unwrap().window(day(today), day(today) - Days::new(3));
            assert_eq!((window.start_date, window.end_date), (day(start), day(end)), "{name} on {today}");
        }
    }

    #[test]
    fn suggested_names_are_known() {
        assert!(SUGGESTED.iter().all(|name| Period::parse(name).is_some()));
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "",
            "last",
            "last_days",
            "last_0_days",
            "last_481_days",
            "last_17_months",
            "last_-1_days",
            "last_+7_days",
            "last_07_days",
            "LAST_WEEK",
        ] {
            assert_eq!(Period::parse(name), None, "{name}");
        }
    }
}
