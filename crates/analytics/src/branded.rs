//! The branded split with the anonymised remainder.
//!
//! Three readings without row grouping: all traffic, queries that match the brand expression, and identified queries that do
//! not. A query filter excludes anonymised queries, so `anonymised = total − branded − nonBranded` holds under any row
//! caps. A negative result becomes 0, because the three responses may be of different times. A share of identified
//! clicks alone would overstate the brand.

use std::collections::BTreeMap;

use super::{
    change::{change, count, to_api, totals},
    series::{self, Slot, Span},
};
use api::analytics::{AnonymisedPart, BrandedPart, BrandedPoint, BrandedSplit, Counts, IdentifiedShare};
use common::metrics::Metrics;

/// Traffic of one kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Traffic {
    /// Metrics of the counted days.
    pub whole: Metrics,
    /// Metrics by time.
    pub rows: BTreeMap<Slot, Metrics>,
}

/// The three kinds of traffic in one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// All traffic.
    pub total: Traffic,
    /// Queries with a branded keyword.
    pub branded: Traffic,
    /// Identified queries without one.
    pub non_branded: Traffic,
    /// The days of the series.
    pub span: Span,
}

/// The split of `current`. Without a counted day it has only series.
#[must_use]
pub fn split(current: &Window, previous: Option<&Window>, is_counted: bool) -> BrandedSplit {
    let part = |of: fn(&Window) -> &Traffic| is_counted.then(|| part(of, current, previous));
    BrandedSplit {
        total: is_counted.then(|| totals(&current.total.whole, previous.map(|previous| &previous.total.whole))),
        branded: part(|window| &window.branded),
        non_branded: part(|window| &window.non_branded),
        anonymised: is_counted.then(|| anonymised(current, previous)),
        series: current.series(),
        previous_series: previous.map(Window::series),
    }
}

/// The share of identified queries in all traffic.
#[must_use]
pub fn identified(window: &Window) -> IdentifiedShare {
    let (known, total) = (window.branded.whole + window.non_branded.whole, &window.total.whole);
    IdentifiedShare {
        clicks: count(known.clicks),
        impressions: count(known.impressions),
        clicks_share: share(known.clicks, total.clicks),
        impressions_share: share(known.impressions, total.impressions),
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn part(of: fn(&Window) -> &Traffic, current: &Window, previous: Option<&Window>) -> BrandedPart {
    let (own, total) = (&of(current).whole, &current.total.whole);
    let previous = previous.map(|previous| &of(previous).whole);
    let metrics = to_api(own);
    BrandedPart {
        clicks: metrics.clicks,
        impressions: metrics.impressions,
        ctr: metrics.ctr,
        position: metrics.position,
        clicks_share: share(own.clicks, total.clicks),
        impressions_share: share(own.impressions, total.impressions),
        previous: previous.map(to_api),
        change: previous.map(|previous| change(own, previous)),
    }
}

fn anonymised(current: &Window, previous: Option<&Window>) -> AnonymisedPart {
    let remainder = |window: &Window| remainder(&window.total.whole, &window.branded.whole, &window.non_branded.whole);
    let (own, total) = (remainder(current), &current.total.whole);
    AnonymisedPart {
        clicks: own.clicks,
        impressions: own.impressions,
        clicks_share: share(own.clicks as f64, total.clicks),
        impressions_share: share(own.impressions as f64, total.impressions),
        previous: previous.map(remainder),
    }
}

/// The remainder of the total, at least 0.
fn remainder(total: &Metrics, branded: &Metrics, non_branded: &Metrics) -> Counts {
    let rest = *total - *branded - *non_branded;
    Counts { clicks: count(rest.clicks), impressions: count(rest.impressions) }
}

impl Window {
    fn series(&self) -> Vec<BrandedPoint> {
        let point = |stretch| {
            let of = |traffic: &Traffic| series::sum(&traffic.rows, stretch);
            let (total, branded, non_branded) = (of(&self.total), of(&self.branded), of(&self.non_branded));
            BrandedPoint {
                period: self.span.describe(stretch),
                branded: to_api(&branded),
                non_branded: to_api(&non_branded),
                anonymised: remainder(&total, &branded, &non_branded),
            }
        };
        self.span.periods().into_iter().map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use api::models::Granularity;
    use chrono::{DateTime, NaiveDate};
    use proptest::prelude::*;

    use super::*;

    /// Clicks, and the number of impressions above the clicks.
    type Both = (u32, u32);

    fn day(n: u32) -> NaiveDate {
        NaiveDate::from_ymd_opt(2026, 11, n).unwrap()
    }

    fn traffic(days: &[Both]) -> Traffic {
        let metrics = |(clicks, more): &Both| Metrics::of_row(f64::from(*clicks), f64::from(clicks + more), Some(2.0));
        Traffic {
            whole: days.iter().map(metrics).sum(),
            rows: (1..).zip(days).map(|(n, both)| (Slot::day(day(n)), metrics(both))).collect(),
        }
    }

    fn window(branded: &[Both], other: &[Both], hidden: &[Both]) -> Window {
        let whole: Vec<_> = (0..branded.len())
            .map(|n| (branded[n].0 + other[n].0 + hidden[n].0, branded[n].1 + other[n].1 + hidden[n].1))
            .collect();
        let end = day(u32::try_from(branded.len()).unwrap());
        let (branded, non_branded) = (traffic(branded), traffic(other));
        let span =
            Span { start: day(1), end, last_final: end, granularity: Granularity::Day, until: DateTime::UNIX_EPOCH };
        Window { total: traffic(&whole), branded, non_branded, span }
    }

    proptest! {
        #[test]
        fn the_parts_make_the_whole_on_every_day(
            days in prop::collection::vec(prop::array::uniform3((0_u32..90, 0_u32..90)), 1..28),
        ) {
            let of = |pick: fn(&[Both; 3]) -> Both| days.iter().map(pick).collect::<Vec<_>>();
            let hidden = of(|day| day[2]);
            let split = split(&window(&of(|day| day[0]), &of(|day| day[1]), &hidden), None, true);
            for (point, (clicks, more)) in split.series.iter().zip(&hidden) {
                prop_assert_eq!(point.anonymised.clicks, u64::from(*clicks));
                prop_assert_eq!(point.anonymised.impressions, u64::from(clicks + more));
            }
            let named = split.branded.unwrap().clicks + split.non_branded.unwrap().clicks;
            prop_assert_eq!(named + split.anonymised.unwrap().clicks, split.total.unwrap().clicks);
        }
    }

    #[test]
    fn a_remainder_below_0_is_0() {
        let mut window = window(&[(5, 5)], &[(5, 5)], &[(0, 0)]);
        window.total = traffic(&[(8, 8)]);
        let anonymised = split(&window, None, true).anonymised.unwrap();
        assert_eq!((anonymised.clicks, anonymised.clicks_share), (0, Some(0.0)));
    }

    #[test]
    fn without_a_counted_day_there_are_only_series() {
        let split = split(&window(&[(5, 5)], &[(5, 5)], &[(0, 0)]), None, false);
        assert!(split.total.is_none() && split.branded.is_none() && split.non_branded.is_none());
        assert!(split.anonymised.is_none() && split.series.len() == 1);
    }
}
