//! Daily trends of the largest countries, and of all others together.
//!
//! Countries partition the traffic, so the listed countries and all others add up to the property's traffic on every day.

use std::collections::BTreeMap;

use super::{
    change::totals,
    series::{self, Slot, Span},
};
use api::{
    analytics::{CountryTrend, CountryTrends, OtherTrend},
    models::Window,
};
use common::metrics::Metrics;

/// Metrics by time.
pub type Days = BTreeMap<Slot, Metrics>;

/// The days of every country in one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Countries<'r> {
    /// The days of the series.
    pub span: Span,
    /// The days that totals count.
    pub counted: Option<Window>,
    /// Each country's days with impressions.
    pub days: BTreeMap<&'r str, Days>,
}

impl Countries<'_> {
    /// The countries of the counted days, by clicks descending, then impressions descending, then name.
    #[must_use]
    pub fn largest(&self) -> Vec<(&str, Metrics)> {
        let sums = self.days.iter().map(|(country, days)| (*country, self.sum(days)));
        let mut found: Vec<_> = sums.filter(|(_, sum)| sum.impressions > 0.0).collect();
        found.sort_by(|(a, x), (b, y)| {
            y.clicks.total_cmp(&x.clicks).then(y.impressions.total_cmp(&x.impressions)).then_with(|| a.cmp(b))
        });
        found
    }

    fn of(&self, country: &str) -> Days {
        self.days.get(country).cloned().unwrap_or_default()
    }

    fn all_but(&self, named: &[&str]) -> Option<Days> {
        let mut rest: Option<Days> = None;
        for (_, days) in self.days.iter().filter(|(country, _)| !named.contains(country)) {
            let rest = rest.get_or_insert_default();
            for (slot, metrics) in days {
                *rest.entry(*slot).or_insert_with(Metrics::zero) += *metrics;
            }
        }
        rest
    }

    fn filled(&self, days: &Days) -> Vec<api::analytics::SeriesPoint> {
        series::filled(days, self.span)
    }

    /// The sum of the counted days.
    fn sum(&self, days: &Days) -> Metrics {
        let counts = |slot: &Slot| self.counted.is_some_and(|window| slot.is_in(window));
        days.iter().filter(|(slot, _)| counts(slot)).map(|(_, metrics)| *metrics).sum()
    }
}

/// The trends of the `top` largest countries of `current`, without labels.
#[must_use]
pub fn trends(current: &Countries<'_>, previous: Option<&Countries<'_>>, top: usize) -> CountryTrends {
    let largest = current.largest();
    let named: Vec<&str> = largest.iter().take(top).map(|(country, _)| *country).collect();
    let countries = named.iter().map(|country| {
        let own = current.of(country);
        let before = previous.map(|previous| (previous, previous.of(country)));
        CountryTrend {
            country: (*country).to_owned(),
            label: None,
            totals: totals(&current.sum(&own), before.as_ref().map(|(previous, days)| previous.sum(days)).as_ref()),
            series: current.filled(&own),
            previous_series: before.map(|(previous, days)| previous.filled(&days)),
        }
    });
    let own = current.all_but(&named);
    let before = previous.map(|previous| (previous, previous.all_but(&named)));
    let has_others = own.is_some() || before.as_ref().is_some_and(|(_, days)| days.is_some());
    let other = has_others.then(|| {
        let own = own.unwrap_or_default();
        let before = before.map(|(previous, days)| (previous, days.unwrap_or_default()));
        OtherTrend {
            totals: current.counted.map(|_| {
                totals(&current.sum(&own), before.as_ref().map(|(previous, days)| previous.sum(days)).as_ref())
            }),
            series: current.filled(&own),
            previous_series: before.map(|(previous, days)| previous.filled(&days)),
        }
    });
    CountryTrends { countries: countries.collect(), other }
}

#[cfg(test)]
mod tests {
    use api::models::Granularity;
    use chrono::{DateTime, NaiveDate};

    use super::*;

    fn on(clicks: f64, impressions: f64, position: f64) -> Days {
        let day = NaiveDate::from_ymd_opt(2026, 11, 1).unwrap();
        Days::from([(Slot::day(day), Metrics::of_row(clicks, impressions, Some(position)))])
    }

    fn countries(days: impl IntoIterator<Item = (&'static str, Days)>) -> Countries<'static> {
        let day = NaiveDate::from_ymd_opt(2026, 11, 1).unwrap();
        Countries {
            span: Span {
                start: day,
                end: day,
                last_final: day,
                granularity: Granularity::Day,
                until: DateTime::UNIX_EPOCH,
            },
            counted: Some(Window { start_date: day, end_date: day }),
            days: days.into_iter().collect(),
        }
    }

    #[test]
    fn the_largest_are_named_and_the_others_summed() {
        let current =
            countries([("deu", on(4.0, 20.0, 3.0)), ("fra", on(4.0, 20.0, 5.0)), ("usa", on(9.0, 60.0, 2.0))]);
        let found = trends(&current, None, 1);
        assert_eq!(found.countries.iter().map(|c| c.country.as_str()).collect::<Vec<_>>(), ["usa"]);
        let other = found.other.unwrap();
        let totals = other.totals.unwrap();
        assert_eq!((totals.clicks, totals.impressions, totals.position), (8, 40, Some(4.0)));
        assert_eq!(other.series[0].clicks, 8);
        assert!(trends(&current, None, 3).other.is_none());
    }

    #[test]
    fn others_of_one_window_only_are_zeros_in_the_other() {
        let (current, previous) = (countries([("usa", on(9.0, 60.0, 2.0))]), countries([("deu", on(1.0, 5.0, 2.0))]));
        let found = trends(&current, Some(&previous), 5);
        let totals = found.other.unwrap().totals.unwrap();
        assert_eq!((totals.impressions, totals.position), (0, None));
        assert_eq!(totals.previous.unwrap().impressions, 5);
        assert_eq!(found.countries[0].totals.previous.as_ref().unwrap().clicks, 0);
    }
}
