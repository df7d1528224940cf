//! The range of clicks and of impressions that is usual for a day.
//!
//! A day is compared with the same weekday of the 8 weeks before the window: mean ± 2 sample standard deviations (n − 1), the limits of
//! a control chart (Shewhart, 1931) with a width of two. The 8 weeks are the same for all days of a window, so there is one range for
//! each weekday.

use api::{
    analytics::{Direction, SeriesPoint, Unusual, Usual, UsualMetric, UsualRange},
    models::Window,
};
use chrono::{Datelike as _, Days, NaiveDate};
use common::metrics::Metrics;

/// The days before a window whose metrics are compared.
pub const HISTORY_DAYS: u64 = 56;

/// The fewest days of a weekday that make a range.
const FEWEST: usize = 4;

/// The width of a range, in standard deviations on each side of the mean.
const WIDTH: f64 = 2.0;

/// The runs of days that are not usual: at least so many outside, among the last so many.
const RUNS: [(usize, usize); 2] = [(3, 3), (5, 7)];

/// The days that count: final ones that no known incident touches.
#[derive(Debug, Clone, Default)]
pub struct Counted {
    /// The last final day.
    pub last_final: NaiveDate,
    /// The days of known incidents of the search engine's data.
    pub incidents: Vec<Window>,
}

impl Counted {
    fn has(&self, day: NaiveDate) -> bool {
        let touches = |incident: &Window| (incident.start_date..=incident.end_date).contains(&day);
        day <= self.last_final && !self.incidents.iter().any(touches)
    }
}

/// The usual range of each weekday.
#[derive(Debug, Clone)]
pub struct UsualDays {
    /// From Monday to Sunday. `None` if too few days of the history count.
    ranges: [Option<Usual>; 7],
    counted: Counted,
}

impl UsualDays {
    /// Computes the ranges from the days before a window. Days that are not in `history` are not compared.
    pub fn of(history: impl IntoIterator<Item = (NaiveDate, Metrics)>, counted: Counted) -> Self {
        let mut weekdays: [Vec<Metrics>; 7] = Default::default();
        for (day, metrics) in history.into_iter().filter(|(day, _)| counted.has(*day)) {
            weekdays[day.weekday().num_days_from_monday() as usize].push(metrics);
        }
        Self { ranges: weekdays.map(|days| usual(&days)), counted }
    }

    /// The range that is usual for `day`. `None` if too little is known.
    #[must_use]
    pub fn on(&self, day: NaiveDate) -> Option<Usual> {
        self.ranges[day.weekday().num_days_from_monday() as usize]
    }

    /// Adds its range to each day of a series by day.
    pub fn add_to(&self, series: &mut [SeriesPoint]) {
        for point in series {
            point.usual = self.on(point.period.date);
        }
    }

    /// The sum of the lowest and of the highest usual clicks of the days of a window. `None` if a day has no range.
    #[must_use]
    pub fn clicks_of(&self, window: Window) -> Option<[f64; 2]> {
        window.days().try_fold([0.0, 0.0], |[low, high], day| {
            let UsualRange { low: least, high: most } = self.on(day)?.clicks;
            Some([low + least, high + most])
        })
    }

    /// Returns how the last days of a window are unusual, if they are. `days` are the days of the window, oldest first.
    #[must_use]
    pub fn unusual(&self, days: impl IntoIterator<Item = (NaiveDate, Metrics)>) -> Option<Unusual> {
        let days: Vec<_> = days.into_iter().filter(|(day, _)| self.counted.has(*day)).collect();
        let run = |metric| {
            let sides: Vec<_> = days.iter().map(|(day, metrics)| (*day, self.side(*day, metrics, metric))).collect();
            [Direction::Up, Direction::Down].into_iter().find_map(|direction| run(&sides, metric, direction))
        };
        [UsualMetric::Clicks, UsualMetric::Impressions].into_iter().find_map(run)
    }

    /// The side of the range on which a day lies. `None` if it lies inside, or has no range.
    fn side(&self, day: NaiveDate, metrics: &Metrics, metric: UsualMetric) -> Option<Direction> {
        let usual = self.on(day)?;
        let (value, UsualRange { low, high }) = match metric {
            UsualMetric::Clicks => (metrics.clicks, usual.clicks),
            UsualMetric::Impressions => (metrics.impressions, usual.impressions),
        };
        match value {
            _ if value < low => Some(Direction::Down),
            _ if value > high => Some(Direction::Up),
            _ => None,
        }
    }
}

/// Returns the days before `window` whose metrics are compared, from `oldest` on. `None` if there are none.
#[must_use]
pub fn history(window: Window, oldest: NaiveDate) -> Option<Window> {
    let start_date = window.start_date.checked_sub_days(Days::new(HISTORY_DAYS)).unwrap_or(oldest).max(oldest);
    let end_date = window.start_date.pred_opt()?;
    (start_date <= end_date).then_some(Window { start_date, end_date })
}

fn usual(days: &[Metrics]) -> Option<Usual> {
    let range = |of: fn(&Metrics) -> f64| range(&days.iter().map(of).collect::<Vec<_>>());
    (days.len() >= FEWEST).then(|| Usual { clicks: range(|day| day.clicks), impressions: range(|day| day.impressions) })
}

/// Mean ± 2 sample standard deviations.
fn range(values: &[f64]) -> UsualRange {
    #[expect(clippy::cast_precision_loss, reason = "at most eight")]
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let width = WIDTH * (squares / (count - 1.0)).sqrt();
    UsualRange { low: (mean - width).max(0.0), high: mean + width }
}

/// Returns the run of days up to the end that lie outside in `direction`, if it is long enough.
fn run(days: &[(NaiveDate, Option<Direction>)], metric: UsualMetric, direction: Direction) -> Option<Unusual> {
    let is_outside = |(_, side): &&(NaiveDate, Option<Direction>)| *side == Some(direction);
    let is_long = |(outside, among): (usize, usize)| {
        days.len() >= among && days[days.len() - among..].iter().filter(is_outside).count() >= outside
    };
    if !RUNS.into_iter().any(is_long) {
        return None;
    }
    let mut inside = 0;
    let up_to_end = days.iter().rev().take_while(|day| {
        inside += usize::from(!is_outside(day));
        inside <= 1
    });
    let outside: Vec<NaiveDate> = up_to_end.filter(is_outside).map(|(day, _)| *day).collect();
    let since = *outside.last()?;
    Some(Unusual { metric, direction, since, days: u32::try_from(outside.len()).unwrap_or(u32::MAX) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn metrics(clicks: u32) -> Metrics {
        Metrics::of_row(f64::from(clicks), f64::from(clicks) * 10.0, Some(5.0))
    }

    /// A window that begins on a Monday.
    const START: &str = "2026-06-01";

    fn counted(until: &str) -> Counted {
        Counted { last_final: day(until), incidents: Vec::new() }
    }

    /// The 56 days before the window, with clicks by week and weekday.
    fn eight_weeks(clicks: impl Fn(u32, u32) -> u32) -> Vec<(NaiveDate, Metrics)> {
        let first = day(START) - Days::new(HISTORY_DAYS);
        let one = |n: u32| (first + Days::new(n.into()), metrics(clicks(n / 7, n % 7)));
        (0..56).map(one).collect()
    }

    fn window(clicks: &[u32]) -> Vec<(NaiveDate, Metrics)> {
        (0..).zip(clicks).map(|(n, clicks)| (day(START) + Days::new(n), metrics(*clicks))).collect()
    }

    #[test]
    fn a_range_is_the_mean_and_two_sample_deviations_of_the_same_weekday() {
        // On Mondays 2, 4, 4, 4, 5, 5, 7, 9: the mean is 5, the squares sum up to 32.
        let mondays = [2, 4, 4, 4, 5, 5, 7, 9];
        let history = eight_weeks(|week, weekday| if weekday == 0 { mondays[week as usize] } else { 40 });
        let usual = UsualDays::of(history, counted("2026-06-30"));
        let deviation = (32.0_f64 / 7.0).sqrt();
        let monday = usual.on(day("2026-06-08")).unwrap();
        assert_eq!(monday.clicks, UsualRange { low: 5.0 - 2.0 * deviation, high: 5.0 + 2.0 * deviation });
        assert!((monday.impressions.high - 10.0 * monday.clicks.high).abs() < 1e-9);
        let tuesday = usual.on(day("2026-06-02")).unwrap();
        assert_eq!(tuesday.clicks, UsualRange { low: 40.0, high: 40.0 });
    }

    #[test]
    fn the_range_of_a_window_is_the_sum_of_its_days() {
        let days = |first: &str, last: &str| Window { start_date: day(first), end_date: day(last) };
        let usual = UsualDays::of(eight_weeks(|_, weekday| 10 * weekday), counted("2026-06-30"));
        assert_eq!(usual.clicks_of(days(START, "2026-06-07")), Some([210.0, 210.0]));
        assert_eq!(usual.clicks_of(days("2026-06-03", "2026-06-04")), Some([50.0, 50.0]));
        let cut = UsualDays::of(eight_weeks(|_, _| 1), counted("2026-05-02"));
        assert_eq!(cut.clicks_of(days(START, "2026-06-06")), Some([6.0, 6.0]));
        assert_eq!(cut.clicks_of(days(START, "2026-06-07")), None, "Sundays have no range");
    }

    #[test]
    fn the_lower_bound_is_never_below_zero() {
        let usual = UsualDays::of(eight_weeks(|week, _| if week == 0 { 100 } else { 0 }), counted("2026-06-30"));
        assert!(usual.on(day(START)).unwrap().clicks.low.abs() < f64::EPSILON);
    }

    #[test]
    fn fewer_than_four_days_make_no_range() {
        let cases = [
            // The first day that is not final, the incidents, and whether there is a range for Mondays and for Sundays.
            ("2026-06-30", vec![], [true, true]),
            ("2026-05-03", vec![], [true, true]),
            ("2026-05-02", vec![], [true, false]),
            ("2026-04-26", vec![], [false, false]),
            ("2026-06-30", vec![("2026-04-06", "2026-05-03")], [true, true]),
            ("2026-06-30", vec![("2026-04-06", "2026-05-04")], [false, true]),
            ("2026-06-30", vec![("2026-04-06", "2026-04-12"), ("2026-05-11", "2026-05-31")], [true, true]),
            ("2026-06-30", vec![("2026-04-06", "2026-04-13"), ("2026-05-11", "2026-05-31")], [false, true]),
        ];
        for (last_final, incidents, expected) in cases {
            let window = |(start, end): &(&str, &str)| Window { start_date: day(start), end_date: day(end) };
            let incidents: Vec<Window> = incidents.iter().map(window).collect();
            let usual = UsualDays::of(
                eight_weeks(|_, _| 7),
                Counted { last_final: day(last_final), incidents: incidents.clone() },
            );
            let has = [START, "2026-06-07"].map(|of| usual.on(day(of)).is_some());
            assert_eq!(has, expected, "final until {last_final}, incidents {incidents:?}");
        }
    }

    #[test]
    fn the_last_three_days_or_five_of_seven_are_unusual() {
        let usual = UsualDays::of(eight_weeks(|week, _| 95 + 10 * (week % 2)), counted("2026-06-30"));
        let found = |clicks: &[u32]| {
            let found = usual.unusual(window(clicks))?;
            Some((found.direction, found.since.day(), found.days))
        };
        let (up, down) = (Direction::Up, Direction::Down);
        for (clicks, expected) in [
            (&[][..], None),
            (&[10, 10], None),
            (&[10, 10, 10], Some((down, 1, 3))),
            (&[100, 10, 10], None),
            (&[100, 10, 10, 10], Some((down, 2, 3))),
            (&[100, 100, 10, 10, 10], Some((down, 3, 3))),
            (&[10, 100, 10, 10, 10], Some((down, 1, 4))),
            (&[10, 100, 10, 100, 10, 10, 10], Some((down, 3, 4))),
            (&[200, 200, 10, 10, 10], Some((down, 3, 3))),
            (&[10, 10, 10, 200, 200], None),
            (&[10, 10, 10, 100], None),
            (&[10, 10, 100, 10, 100, 10, 10], Some((down, 4, 3))),
            (&[100, 10, 10, 10, 10, 10, 100], Some((down, 2, 5))),
            (&[10, 10, 10, 10, 10, 100, 100], None),
            (&[100, 200, 200, 200, 200, 200, 100], Some((up, 2, 5))),
            (&[200, 200, 200], Some((up, 1, 3))),
            (&[100, 100, 100, 100, 100, 100, 100], None),
        ] {
            assert_eq!(found(clicks), expected, "{clicks:?}");
        }
    }

    #[test]
    fn days_that_do_not_count_neither_begin_nor_end_a_run() {
        let clicks = [100, 10, 10, 500, 10, 10];
        let history = || eight_weeks(|week, _| 95 + 10 * (week % 2));
        let incident = Window { start_date: day("2026-06-04"), end_date: day("2026-06-04") };
        for (last_final, incidents, expected) in [
            ("2026-06-30", vec![], None),
            ("2026-06-30", vec![incident], Some((2, 4))),
            ("2026-06-05", vec![incident], Some((2, 3))),
            ("2026-06-03", vec![incident], None),
        ] {
            let usual = UsualDays::of(history(), Counted { last_final: day(last_final), incidents });
            let found = usual.unusual(window(&clicks)).map(|found| (found.since.day(), found.days));
            assert_eq!(found, expected, "final until {last_final}");
        }
    }

    #[test]
    fn clicks_come_before_impressions() {
        let usual = UsualDays::of(eight_weeks(|week, _| 95 + 10 * (week % 2)), counted("2026-06-30"));
        let days = |clicks: f64, impressions: f64| {
            window(&[0; 3]).into_iter().map(move |(day, _)| (day, Metrics::of_row(clicks, impressions, None)))
        };
        let metric = |clicks, impressions| usual.unusual(days(clicks, impressions)).map(|found| found.metric);
        assert_eq!(metric(100.0, 1000.0), None);
        assert_eq!(metric(100.0, 5000.0), Some(UsualMetric::Impressions));
        assert_eq!(metric(10.0, 5000.0), Some(UsualMetric::Clicks));
    }

    #[test]
    fn the_history_is_as_long_as_the_search_engine_keeps_it() {
        let june = Window { start_date: day(START), end_date: day("2026-06-28") };
        let found = |oldest: &str| history(june, day(oldest)).map(|found| (found.start_date, found.end_date));
        assert_eq!(found("2025-01-01"), Some((day("2026-04-06"), day("2026-05-31"))));
        assert_eq!(found("2026-05-20"), Some((day("2026-05-20"), day("2026-05-31"))));
        assert_eq!(found(START), None);
    }

    proptest! {
        #[test]
        fn a_run_reaches_the_end_of_the_window(clicks in prop::collection::vec(0_u32..300, 0..40)) {
            let usual = UsualDays::of(eight_weeks(|week, _| 95 + 10 * (week % 2)), counted("2026-12-31"));
            let days = window(&clicks);
            let side = |(day, metrics): &(NaiveDate, Metrics), metric| usual.side(*day, metrics, metric);
            let Some(found) = usual.unusual(days.clone()) else {
                let sides: Vec<_> = days.iter().rev().take(3).map(|day| side(day, UsualMetric::Clicks)).collect();
                prop_assert!(sides.len() < 3 || sides[0].is_none() || sides.iter().any(|side| *side != sides[0]));
                return Ok(());
            };
            let run: Vec<_> = days.into_iter().filter(|(day, _)| *day >= found.since).collect();
            let outside = run.iter().filter(|day| side(day, found.metric) == Some(found.direction)).count();
            prop_assert_eq!(outside, found.days as usize);
            prop_assert!(run.len() <= outside + 1);
            prop_assert_eq!(side(&run[0], found.metric), Some(found.direction));
        }
    }
}
