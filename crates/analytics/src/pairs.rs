//! Pairs of days of two series that stand side by side.
//!
//! A window against the same dates of an earlier year is paired by date, so that 1 March stands beside 1 March in leap years, too. Then 29
//! February has no partner. Every other comparison is paired by position: the first day with the first one. So days of the
//! same weekday stand side by side where the windows begin on the same weekday. What has no partner has none.

use std::collections::HashMap;

use api::models::Window;
use chrono::{Datelike as _, Months, NaiveDate};

/// A window and the one that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    current: Window,
    previous: Window,
}

impl Pairing {
    /// Returns the pairing of the days of two windows, as they were asked for.
    #[must_use]
    pub fn of(current: Window, previous: Window) -> Self {
        Self { current, previous }
    }

    /// Returns the number of years between the windows, if they are the same dates of two years.
    fn years(self) -> Option<i32> {
        let Self { current, previous } = self;
        let years = current.start_date.year() - previous.start_date.year();
        let is_same = |day, before| earlier(day, years) == Some(before);
        let is_year_before =
            is_same(current.start_date, previous.start_date) && is_same(current.end_date, previous.end_date);
        (years > 0 && is_year_before).then_some(years)
    }

    /// Returns the part of the other window that is compared with the window up to `end`: as many days, or up to the same date.
    #[must_use]
    pub fn previous_until(self, end: NaiveDate) -> Option<Window> {
        let end_date = match self.years() {
            Some(years) => earlier(end, years)?,
            None => self.previous.start_date + (end - self.current.start_date),
        };
        Some(Window { end_date: end_date.min(self.previous.end_date), ..self.previous })
    }

    /// Returns the day of the other window that stands beside `day`.
    #[must_use]
    pub fn partner(self, day: NaiveDate) -> Option<NaiveDate> {
        let partner = match self.years() {
            Some(years) => day.with_year(day.year() - years)?,
            None => self.previous.start_date + (day - self.current.start_date),
        };
        (self.previous.start_date..=self.previous.end_date).contains(&partner).then_some(partner)
    }

    /// Returns for each of `days` the item that stands beside it. `others` are the items of the other series with their days; those
    /// that are not there are nobody's partners.
    #[must_use]
    pub fn beside<T: Copy>(
        self,
        days: impl IntoIterator<Item = NaiveDate>,
        others: impl IntoIterator<Item = (NaiveDate, T)>,
    ) -> Vec<Option<T>> {
        let others: HashMap<NaiveDate, T> = others.into_iter().collect();
        days.into_iter().map(|day| others.get(&self.partner(day)?).copied()).collect()
    }
}

/// Returns the same date so many years earlier, or the last day of February for its 29th.
fn earlier(day: NaiveDate, years: i32) -> Option<NaiveDate> {
    day.checked_sub_months(Months::new(u32::try_from(years).ok()?.checked_mul(12)?))
}

#[cfg(test)]
mod tests {
    use api::models::Compare;

    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn window(start: &str, end: &str) -> Window {
        Window { start_date: day(start), end_date: day(end) }
    }

    /// The days of a window, each with its partner.
    fn pairs(current: Window, previous: Window) -> Vec<String> {
        let beside = Pairing::of(current, previous).beside(current.days(), previous.days().map(|day| (day, day)));
        let words = |day: NaiveDate| day.format("%-d.%-m.").to_string();
        current
            .days()
            .zip(beside)
            .map(|(day, partner)| format!("{}{}", words(day), partner.map_or("-".to_owned(), words)))
            .collect()
    }

    #[test]
    fn years_are_paired_by_date_and_everything_else_by_position() {
        for (current, compare, expected) in [
            (
                window("2028-02-27", "2028-03-02"),
                Compare::PreviousYear,
                &["27.2.27.2.", "28.2.28.2.", "29.2.-", "1.3.1.3.", "2.3.2.3."][..],
            ),
            (
                window("2029-02-27", "2029-03-02"),
                Compare::PreviousYear,
                &["27.2.27.2.", "28.2.28.2.", "1.3.1.3.", "2.3.2.3."],
            ),
            (window("2027-02-28", "2027-03-01"), Compare::PreviousYear, &["28.2.28.2.", "1.3.1.3."]),
            (window("2028-02-28", "2028-02-29"), Compare::PreviousYear, &["28.2.28.2.", "29.2.-"]),
            (window("2028-02-29", "2028-03-01"), Compare::PreviousYear, &["29.2.-", "1.3.1.3."]),
            (window("2028-02-29", "2028-02-29"), Compare::PreviousYear, &["29.2.-"]),
            (window("2027-12-31", "2028-01-01"), Compare::PreviousYear, &["31.12.31.12.", "1.1.1.1."]),
            (
                window("2028-02-27", "2028-03-02"),
                Compare::PreviousYearSameWeekdays,
                &["27.2.28.2.", "28.2.1.3.", "29.2.2.3.", "1.3.3.3.", "2.3.4.3."],
            ),
            (window("2028-02-28", "2028-03-01"), Compare::PreviousPeriod, &["28.2.25.2.", "29.2.26.2.", "1.3.27.2."]),
            (
                window("2028-02-28", "2028-03-01"),
                Compare::PreviousPeriodSameWeekdays,
                &["28.2.21.2.", "29.2.22.2.", "1.3.23.2."],
            ),
        ] {
            assert_eq!(pairs(current, compare.before(current).unwrap()), expected, "{current:?} {compare:?}");
        }
    }

    #[test]
    fn what_has_no_partner_has_none() {
        for (current, previous, expected) in [
            (
                window("2026-11-01", "2026-11-03"),
                window("2026-10-05", "2026-10-06"),
                &["1.11.5.10.", "2.11.6.10.", "3.11.-"][..],
            ),
            (window("2026-11-01", "2026-11-02"), window("2026-10-05", "2026-10-07"), &["1.11.5.10.", "2.11.6.10."]),
            (window("2026-11-01", "2026-11-02"), window("2025-11-01", "2025-11-03"), &["1.11.1.11.", "2.11.2.11."]),
        ] {
            assert_eq!(pairs(current, previous), expected, "{current:?} {previous:?}");
        }
        let calendar = window("2028-03-01", "2028-03-31");
        let found = pairs(calendar, Compare::PreviousCalendarPeriod.before(calendar).unwrap());
        assert_eq!((&*found[0], &*found[28], &*found[29], &*found[30]), ("1.3.1.2.", "29.3.29.2.", "30.3.-", "31.3.-"));
    }

    /// A year of 365 days against as many days before it begins on the same date, and is paired by position.
    #[test]
    fn a_period_that_happens_to_begin_a_year_earlier_is_paired_by_position() {
        let current = window("2028-01-01", "2028-12-30");
        let previous = Compare::PreviousPeriod.before(current).unwrap();
        assert_eq!(previous, window("2027-01-01", "2027-12-31"));
        assert_eq!(Pairing::of(current, previous).partner(day("2028-02-29")), Some(day("2027-03-01")));
        assert_eq!(Pairing::of(current, previous).partner(day("2028-12-30")), Some(day("2027-12-31")));
    }

    /// Days that are not counted yet are in no series.
    #[test]
    fn a_day_that_is_in_no_series_is_nobodys_partner() {
        let (current, previous) = (window("2026-11-01", "2026-11-03"), window("2025-11-01", "2025-11-03"));
        let counted = [day("2025-11-01"), day("2025-11-02")].map(|day| (day, day));
        let beside = Pairing::of(current, previous).beside(["2026-11-02", "2026-11-03"].map(day), counted);
        assert_eq!(beside, [Some(day("2025-11-02")), None]);
    }
}
