//! The days that a question counts, with and without a comparison.

use analytics::pairs::Pairing;
use api::models::Window;
use chrono::{NaiveDate, TimeDelta};

/// The days of one window of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// The days of its series.
    pub series: Window,
    /// The days that its totals and rows count, or `None` if no day is counted.
    pub counted: Option<Window>,
}

/// The days of both windows that are compared. All of them are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// Days of the window.
    pub current: Window,
    /// Days of the comparison window.
    pub previous: Window,
    /// True if one of the windows has days that are left out.
    pub shortened: bool,
}

/// Returns the days to compare. If one of the windows has days that are not final, both are cut to as many days from their start as
/// both have final, and windows that are the same dates of two years to the same dates. `None` if that leaves none.
#[must_use]
pub fn compared(current: Window, previous: Window, last_final: NaiveDate) -> Option<Compared> {
    let final_days = [current, previous].map(|window| final_part(window, last_final).map_or(0, Window::length));
    if final_days == [current.length(), previous.length()] {
        return Some(Compared { current, previous, shortened: false });
    }
    let shorter = final_days.into_iter().min().filter(|days| *days > 0)?;
    let end_date = current.end_date.min(current.start_date + TimeDelta::days(i64::from(shorter) - 1));
    let previous = Pairing::of(current, previous).previous_until(end_date)?;
    Some(Compared { current: Window { end_date, ..current }, previous, shortened: true })
}

/// Returns the part of a window that is final.
#[must_use]
pub fn final_part(window: Window, last_final: NaiveDate) -> Option<Window> {
    (window.start_date <= last_final).then(|| Window { end_date: window.end_date.min(last_final), ..window })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of two years are cut at the same date, so 29 February shortens no other month.
    #[test]
    fn the_same_dates_of_two_years_are_cut_at_the_same_date() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        for (year, until, days) in
            [(2028, "03-05", (8, 7)), (2028, "02-29", (3, 2)), (2029, "03-05", (7, 8)), (2029, "02-28", (2, 2))]
        {
            let window = |year: i32, end: &str| Window {
                start_date: day(&format!("{year}-02-27")),
                end_date: day(&format!("{year}-{end}")),
            };
            let last_final = day(&format!("{year}-{until}"));
            let found = compared(window(year, "03-10"), window(year - 1, "03-10"), last_final).unwrap();
            let before = if until == "02-29" { "02-28" } else { until };
            assert_eq!(
                (found.current, found.previous),
                (window(year, until), window(year - 1, before)),
                "{last_final}"
            );
            assert_eq!((found.current.length(), found.previous.length()), days, "{last_final}");
        }
    }

    fn window((start, end): (u32, u32)) -> Window {
        let day = |n| NaiveDate::from_ymd_opt(2026, 11, n).unwrap();
        Window { start_date: day(start), end_date: day(end) }
    }

    #[test]
    fn comparisons_count_as_many_final_days_of_both_windows() {
        let whole = |current, previous| Some((current, previous, false));
        let cut = |current, previous| Some((current, previous, true));
        let cases = [
            ((8, 14), (1, 7), whole((8, 14), (1, 7))),
            ((12, 18), (1, 3), whole((12, 18), (1, 3))),
            ((15, 21), (8, 14), cut((15, 18), (8, 11))),
            ((8, 14), (15, 21), cut((8, 11), (15, 18))),
            ((15, 21), (15, 21), cut((15, 18), (15, 18))),
            ((15, 21), (8, 9), cut((15, 16), (8, 9))),
            ((12, 20), (17, 20), cut((12, 13), (17, 18))),
            ((19, 21), (8, 10), None),
            ((8, 10), (19, 21), None),
        ];
        let last_final = NaiveDate::from_ymd_opt(2026, 11, 18).unwrap();
        for (current, previous, expected) in cases {
            let expected = expected.map(|(current, previous, shortened)| Compared {
                current: window(current),
                previous: window(previous),
                shortened,
            });
            assert_eq!(
                compared(window(current), window(previous), last_final),
                expected,
                "{current:?} against {previous:?}"
            );
        }
    }
}
