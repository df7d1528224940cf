//! Series by hour, day, week or month. The search engine omits times without impressions, while a response of this service has
//! every period.
//!
//! A period is the sum of its days, so the weeks of a window add up to the window. Weeks begin on Monday (ISO 8601). The first and
//! the last period may have fewer days than they would have on the calendar.

use std::collections::BTreeMap;

use api::{
    analytics::{Period, SeriesPoint},
    models::{Granularity, Window, parse_day},
};
use chrono::{
    DateTime, Datelike as _, Days, FixedOffset, Months, NaiveDate, SecondsFormat, TimeDelta, TimeZone as _, Utc,
};
use chrono_tz::America::Los_Angeles;
use common::metrics::Metrics;

use super::change::to_api;

/// The time of a row: a day, or an hour of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// The day.
    pub date: NaiveDate,
    /// The beginning of the hour.
    pub hour: Option<DateTime<FixedOffset>>,
}

impl Slot {
    /// A whole day.
    #[must_use]
    pub fn day(date: NaiveDate) -> Self {
        Self { date, hour: None }
    }

    /// Returns whether the time is in the window.
    #[must_use]
    pub fn is_in(self, window: Window) -> bool {
        (window.start_date..=window.end_date).contains(&self.date)
    }

    /// Parses a key of the search engine: `2026-11-19`, or `2026-11-19T03:00:00-08:00`.
    #[must_use]
    pub fn parse(key: &str) -> Option<Self> {
        if let Ok(date) = parse_day(key) {
            return Some(Self::day(date));
        }
        let hour = DateTime::parse_from_rfc3339(key).ok()?;
        Some(Self { date: hour.date_naive(), hour: Some(hour) })
    }
}

/// The days of a series, and the length of its periods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First day.
    pub start: NaiveDate,
    /// Last day, included.
    pub end: NaiveDate,
    /// The last final day.
    pub last_final: NaiveDate,
    /// The length of a period.
    pub granularity: Granularity,
    /// The time after which no listed hour begins.
    pub until: DateTime<Utc>,
}

/// One period of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Its first time.
    pub first: Slot,
    /// Its last time, included.
    pub last: Slot,
}

impl Span {
    /// Every day.
    pub fn days(self) -> impl Iterator<Item = NaiveDate> {
        self.start.iter_days().take_while(move |day| *day <= self.end)
    }

    /// Returns whether the series counts a time.
    #[must_use]
    pub fn holds(self, slot: Slot) -> bool {
        (self.start..=self.end).contains(&slot.date)
    }

    /// The first day on the calendar of the period that holds `day`.
    #[must_use]
    pub fn first_day(self, day: NaiveDate) -> NaiveDate {
        match self.granularity {
            Granularity::Hour | Granularity::Day => day,
            Granularity::Week => day - Days::new(day.weekday().num_days_from_monday().into()),
            Granularity::Month => day - Days::new(day.day0().into()),
        }
    }

    /// The last day on the calendar of the period that begins on `first`.
    fn last_day(self, first: NaiveDate) -> NaiveDate {
        match self.granularity {
            Granularity::Hour | Granularity::Day => first,
            Granularity::Week => first + Days::new(6),
            Granularity::Month => first + Months::new(1) - Days::new(1),
        }
    }

    /// Every period, in order.
    #[must_use]
    pub fn periods(self) -> Vec<Stretch> {
        if self.granularity == Granularity::Hour {
            let hours = self.days().flat_map(|date| hours(date).map(move |hour| (date, hour)));
            let begun = hours.take_while(|(_, hour)| *hour <= self.until);
            let slots = begun.map(|(date, hour)| Slot { date, hour: Some(hour) });
            return slots.map(|slot| Stretch { first: slot, last: slot }).collect();
        }
        let beginning = |date: &NaiveDate| *date == self.start || self.first_day(*date) == *date;
        let stretch = |date| {
            let last = self.last_day(self.first_day(date)).min(self.end);
            Stretch { first: Slot::day(date), last: Slot::day(last) }
        };
        self.days().filter(beginning).map(stretch).collect()
    }

    /// Describes a period.
    #[must_use]
    pub fn describe(self, Stretch { first, last }: Stretch) -> Period {
        let long = matches!(self.granularity, Granularity::Week | Granularity::Month);
        let calendar = self.first_day(first.date);
        let cut = long && (calendar < first.date || self.last_day(calendar) > last.date);
        Period {
            date: first.date,
            end_date: long.then_some(last.date),
            hour: first.hour.map(|hour| hour.to_rfc3339_opts(SecondsFormat::Secs, false)),
            cut: cut.then_some(true),
            not_final: (last.date > self.last_final).then_some(true),
        }
    }
}

/// The hours of a day, of which there are 23 or 25 when the clocks change.
fn hours(date: NaiveDate) -> impl Iterator<Item = DateTime<FixedOffset>> {
    // Clocks change at two in the morning, so every midnight exists once.
    let midnight = |date: NaiveDate| Los_Angeles.from_local_datetime(&date.and_time(chrono::NaiveTime::MIN)).earliest();
    let end = midnight(date + Days::new(1));
    let all = std::iter::successors(midnight(date), |hour| Some(*hour + TimeDelta::hours(1)));
    all.take_while(move |hour| Some(*hour) < end).map(|hour| hour.fixed_offset())
}

/// The sum of the rows of a period.
#[must_use]
pub fn sum(rows: &BTreeMap<Slot, Metrics>, Stretch { first, last }: Stretch) -> Metrics {
    rows.range(first..=last).map(|(_, metrics)| *metrics).sum()
}

/// Every period of `span`. One that `rows` lacks has zero clicks and impressions and no CTR or position.
#[must_use]
pub fn filled(rows: &BTreeMap<Slot, Metrics>, span: Span) -> Vec<SeriesPoint> {
    let point = |stretch| {
        let sum = to_api(&sum(rows, stretch));
        SeriesPoint {
            period: span.describe(stretch),
            clicks: sum.clicks,
            impressions: sum.impressions,
            ctr: sum.ctr,
            position: sum.position,
            usual: None,
        }
    };
    span.periods().into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn span(start: &str, end: &str, granularity: Granularity) -> Span {
        let until = "2026-11-20T18:30:00Z".parse().unwrap();
        Span { start: date(start), end: date(end), last_final: date("2026-11-18"), granularity, until }
    }

    #[test]
    fn missing_days_are_zeros_without_ratios() {
        let rows = BTreeMap::from([(Slot::day(date("2026-11-18")), Metrics::of_row(1.0, 4.0, Some(2.5)))]);
        let series = filled(&rows, span("2026-11-17", "2026-11-19", Granularity::Day));
        assert_eq!(series.iter().map(|p| p.clicks).collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(series.iter().map(|p| p.position).collect::<Vec<_>>(), [None, Some(2.5), None]);
        assert_eq!(series.iter().map(|p| p.period.not_final).collect::<Vec<_>>(), [None, None, Some(true)]);
        assert!(series.iter().all(|p| p.period.end_date.is_none() && p.period.cut.is_none()));
    }

    #[test]
    fn a_window_that_ends_before_it_starts_has_no_days() {
        assert!(filled(&BTreeMap::new(), span("2026-11-03", "2026-11-02", Granularity::Week)).is_empty());
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first_and_cut_ones_say_so() {
        let said = |start, end, granularity| -> Vec<String> {
            let span = span(start, end, granularity);
            let text = |stretch| {
                let period = span.describe(stretch);
                let flag = |name, flag: Option<bool>| flag.map_or("", |_| name);
                let (cut, open) = (flag(" cut", period.cut), flag(" open", period.not_final));
                format!("{} {}{cut}{open}", period.date, period.end_date.unwrap())
            };
            span.periods().into_iter().map(text).collect()
        };
        assert_eq!(
            said("2026-10-31", "2026-11-19", Granularity::Week),
            [
                "2026-10-31 2026-11-01 cut",
                "2026-11-02 2026-11-08",
                "2026-11-09 2026-11-15",
                "2026-11-16 2026-11-19 cut open"
            ]
        );
        assert_eq!(said("2026-11-02", "2026-11-08", Granularity::Week), ["2026-11-02 2026-11-08"]);
        assert_eq!(said("2026-11-04", "2026-11-05", Granularity::Week), ["2026-11-04 2026-11-05 cut"]);
        assert_eq!(
            said("2026-01-31", "2026-03-01", Granularity::Month),
            ["2026-01-31 2026-01-31 cut", "2026-02-01 2026-02-28", "2026-03-01 2026-03-01 cut"]
        );
        assert_eq!(said("2024-02-01", "2024-02-29", Granularity::Month), ["2024-02-01 2024-02-29"]);
    }

    #[test]
    fn days_have_as_many_hours_as_the_clock() {
        let hours = |day: &str| {
            let span = span(day, day, Granularity::Hour);
            let hours = span.periods().into_iter().map(|stretch| span.describe(stretch).hour.unwrap());
            hours.collect::<Vec<_>>()
        };
        let plain = hours("2026-11-17");
        assert_eq!(
            (plain.len(), &*plain[0], &*plain[23]),
            (24, "2026-11-17T00:00:00-08:00", "2026-11-17T23:00:00-08:00")
        );
        let autumn = hours("2026-11-01");
        assert_eq!(autumn.len(), 25);
        assert_eq!(autumn[1..3], ["2026-11-01T01:00:00-07:00", "2026-11-01T01:00:00-08:00"]);
        let spring = hours("2026-03-08");
        assert_eq!((spring.len(), &*spring[2]), (23, "2026-03-08T03:00:00-07:00"));
        let rows =
            BTreeMap::from([(Slot::parse("2026-11-01T01:00:00-08:00").unwrap(), Metrics::of_row(2.0, 3.0, None))]);
        let series = filled(&rows, span("2026-11-01", "2026-11-01", Granularity::Hour));
        assert_eq!(series.iter().map(|point| point.clicks).enumerate().find(|(_, clicks)| *clicks > 0), Some((2, 2)));
    }

    #[test]
    fn an_hour_that_has_not_begun_is_not_listed() {
        let today = span("2026-11-19", "2026-11-20", Granularity::Hour);
        let last = |until: &str| {
            let series = filled(&BTreeMap::new(), Span { until: until.parse().unwrap(), ..today });
            (series.len(), series.last().and_then(|point| point.period.hour.clone()))
        };
        let hour = |text: &str| Some(text.to_owned());
        assert_eq!(last("2026-11-20T18:30:00Z"), (35, hour("2026-11-20T10:00:00-08:00")));
        assert_eq!(last("2026-11-20T18:00:00Z"), (35, hour("2026-11-20T10:00:00-08:00")), "it has just begun");
        assert_eq!(last("2026-11-20T17:59:59Z"), (34, hour("2026-11-20T09:00:00-08:00")));
        assert_eq!(last("2026-11-21T08:00:00Z").0, 48);
        assert_eq!(filled(&BTreeMap::new(), Span { granularity: Granularity::Day, ..today }).len(), 2);
    }

    proptest! {
        #[test]
        fn weeks_and_months_add_up_to_their_days(
            start in 0_u64..900,
            days in prop::collection::vec((0_u32..1_000, 0_u32..10_000, 1_u32..90), 1..500),
        ) {
            let start = date("2024-01-01") + Days::new(start);
            let row = |(day, (clicks, more, position)): (u64, &(u32, u32, u32))| {
                let impressions = f64::from(clicks + more);
                (Slot::day(start + Days::new(day)), Metrics::of_row(f64::from(*clicks), impressions, Some(f64::from(*position))))
            };
            let rows: BTreeMap<Slot, Metrics> = (0..).zip(&days).map(row).collect();
            let end = start + Days::new(days.len() as u64 - 1);
            let whole: Metrics = rows.values().copied().sum();
            for granularity in [Granularity::Day, Granularity::Week, Granularity::Month] {
                let span = Span { start, end, last_final: end, granularity, until: DateTime::UNIX_EPOCH };
                let periods = span.periods();
                prop_assert_eq!(periods.iter().map(|period| sum(&rows, *period)).sum::<Metrics>(), whole);
                prop_assert_eq!((periods[0].first, periods[periods.len() - 1].last), (Slot::day(start), Slot::day(end)));
                for pair in periods.windows(2) {
                    prop_assert_eq!(pair[0].last.date.succ_opt(), Some(pair[1].first.date));
                    prop_assert!(span.describe(pair[1]).cut.is_none() || pair[1] == periods[periods.len() - 1]);
                }
            }
        }
    }
}
