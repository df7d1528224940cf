//! Charts in SVG, made on the server. Positions are in percent and text keeps its size, so a chart fits any width without script.
//! Colours come from the stylesheet.

use api::{
    analytics::{SeriesPoint, UsualRange},
    params::Metric,
};
use chrono::NaiveDate;
use maud::{Markup, html};

use super::words;

/// The height of a chart, in pixels.
pub const HEIGHT: f64 = 256.0;
/// The upper edge of its plane.
pub const TOP: f64 = 30.0;
/// The lower edge of its plane.
pub const BOTTOM: f64 = 230.0;

/// The most days with a label.
const MOST_LABELS: usize = 8;

/// The number of units along each side of the plane that lines are drawn in.
const PLANE: f64 = 1000.0;

/// The most grid lines of a chart.
const MOST_TICKS: f64 = 4.0;

/// Returns a metric of a period.
pub fn value_of(point: &SeriesPoint, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Clicks => Some(point.clicks as f64),
        Metric::Impressions => Some(point.impressions as f64),
        Metric::Ctr => point.ctr,
        Metric::Position => point.position,
    }
}

/// The values at the lower and at the upper edge of the plane, and those of the grid lines.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    bottom: f64,
    top: f64,
    pub ticks: Vec<f64>,
}

impl Scale {
    /// A scale for values of the metric up to `most`: from zero up, or for positions from 1 down.
    pub fn of(metric: Metric, most: f64) -> Self {
        let first = if metric == Metric::Position { 1.0 } else { 0.0 };
        let span = (most - first).max(0.0);
        let finest = match metric {
            Metric::Clicks | Metric::Impressions => 1.0,
            Metric::Ctr => 0.001,
            Metric::Position => 0.1,
        };
        let step = round_step(span / MOST_TICKS).max(finest);
        let steps = (span / step).ceil().clamp(1.0, MOST_TICKS + 1.0);
        let mut ticks = vec![first];
        while (ticks.len() as f64) <= steps {
            ticks.push(first + step * ticks.len() as f64);
        }
        let last = ticks.last().copied().unwrap_or(first);
        if metric == Metric::Position {
            Self { bottom: last, top: first, ticks }
        } else {
            Self { bottom: first, top: last, ticks }
        }
    }

    /// The part of the height from the top, 0 to 1.
    pub fn height(&self, value: f64) -> f64 {
        (self.top - value) / (self.top - self.bottom)
    }
}

/// The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not less than `step`.
fn round_step(step: f64) -> f64 {
    if step <= 0.0 {
        return 0.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= step * 0.999_999);
    factor.unwrap_or(10.0) * power
}

/// The place of a period along the width, 0 to 1. One period alone is in the middle.
pub fn place(index: usize, periods: usize) -> f64 {
    if periods < 2 { 0.5 } else { index as f64 / (periods - 1) as f64 }
}

/// A part of a width or a height as a percentage.
pub fn percent(part: f64) -> String {
    format!("{:.2}%", part * 100.0)
}

/// Returns the points of an area between two lines, from the left along the upper one and back along the lower one.
pub fn area(upper: &[f64], lower: &[f64], scale: &Scale) -> String {
    let point = |(index, value): (usize, &f64)| {
        format!("{:.1},{:.1}", place(index, upper.len()) * PLANE, scale.height(*value) * PLANE)
    };
    let back = lower.iter().enumerate().rev();
    upper.iter().enumerate().chain(back).map(point).collect::<Vec<_>>().join(" ")
}

/// Returns the points of each unbroken piece of a line over `periods` periods. Periods without a value break it.
pub fn pieces(values: impl Iterator<Item = (usize, Option<f64>)>, periods: usize, scale: &Scale) -> Vec<String> {
    let mut pieces: Vec<Vec<String>> = vec![Vec::new()];
    for (index, value) in values {
        match (value, pieces.last_mut()) {
            (Some(value), Some(piece)) => {
                piece.push(format!("{:.1},{:.1}", place(index, periods) * PLANE, scale.height(value) * PLANE));
            }
            _ => pieces.push(Vec::new()),
        }
    }
    let drawn = pieces.into_iter().filter(|piece| !piece.is_empty());
    // A single point has no length. Drawn twice, its round ends make it a dot.
    drawn.map(|piece| if let [one] = &piece[..] { format!("{one} {one}") } else { piece.join(" ") }).collect()
}

/// Returns the points of each unbroken piece of a band between two values of each period.
pub fn bands(ranges: impl Iterator<Item = Option<UsualRange>>, scale: &Scale) -> Vec<String> {
    let ranges: Vec<Option<UsualRange>> = ranges.collect();
    let point = |index, value| format!("{:.1},{:.1}", place(index, ranges.len()) * PLANE, scale.height(value) * PLANE);
    let indexed: Vec<_> = ranges.iter().copied().enumerate().collect();
    let pieces = indexed.split(|(_, range)| range.is_none()).filter(|piece| piece.len() > 1);
    let drawn = pieces.map(|piece| {
        let known = || piece.iter().filter_map(|(index, range)| Some((*index, (*range)?)));
        let upper = known().map(|(index, range)| point(index, range.high));
        let lower: Vec<String> = known().map(|(index, range)| point(index, range.low)).collect();
        upper.chain(lower.into_iter().rev()).collect::<Vec<_>>().join(" ")
    });
    drawn.collect()
}

/// The area that lines are drawn in. It is stretched to the width of the chart.
pub fn plane(lines: &Markup) -> Markup {
    html! {
        svg.plane x="0" y=(TOP) width="100%" height=(BOTTOM - TOP) viewBox="0 0 1000 1000" preserveAspectRatio="none" { (lines) }
    }
}

/// The grid lines of a scale.
pub fn grid(scale: &Scale) -> Markup {
    html! { @for tick in &scale.ticks { line.grid x1="0" x2="100%" y1=(y(scale, *tick)) y2=(y(scale, *tick)) {} } }
}

/// The words at the grid lines, which are drawn above everything else.
pub fn ticks(scale: &Scale, words: impl Fn(f64) -> String) -> Markup {
    html! { @for tick in &scale.ticks { text.tick x="0" y=(y(scale, *tick) - 4.0) { (words(*tick)) } } }
}

fn y(scale: &Scale, value: f64) -> f64 {
    TOP + (BOTTOM - TOP) * scale.height(value)
}

/// The labels of some days.
pub fn axis(days: &[NaiveDate]) -> Markup {
    let all = days.len();
    let step = all.div_ceil(MOST_LABELS).max(1);
    let anchor = |index| {
        if index == 0 {
            "start"
        } else if index + 1 == all {
            "end"
        } else {
            "middle"
        }
    };
    html! {
        @for (number, (index, day)) in days.iter().enumerate().step_by(step).enumerate() {
            // A label that begins near the right edge would be cut.
            @if index == 0 || index + 1 == all || place(index, all) < 0.96 {
                text.tick.second[number % 2 == 1] x=(percent(place(index, all))) y=(BOTTOM + 18.0) text-anchor=(anchor(index)) {
                    (words::short_day(*day))
                }
            }
        }
    }
}

/// The line and the dot at the day that is read, which the script moves.
pub fn cross() -> Markup {
    html! { g.cross hidden { line y1=(TOP) y2=(BOTTOM) {} circle r="4" {} } }
}

/// A small line without labels.
pub fn spark(values: &[f64]) -> Markup {
    let most = values.iter().copied().fold(0.0, f64::max);
    let scale = Scale { bottom: 0.0, top: if most > 0.0 { most } else { 1.0 }, ticks: Vec::new() };
    let indexed = values.iter().copied().map(Some).enumerate();
    html! {
        svg.spark viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true" {
            @for points in pieces(indexed, values.len(), &scale) { polyline points=(points) {} }
        }
    }
}

/// A bar that fills a part of the width behind a row's name.
pub fn bar(part: f64) -> Markup {
    html! {
        svg.bar aria-hidden="true" { rect width=(percent(part.clamp(0.0, 1.0))) height="100%" rx="3" {} }
    }
}

/// A bar to the right of the middle for a gain, to the left of it for a loss. `most` fills a half.
pub fn balance(value: f64, most: f64) -> Markup {
    let part = if most > 0.0 { (value.abs() / most).min(1.0) / 2.0 } else { 0.0 };
    let start = if value < 0.0 { 0.5 - part } else { 0.5 };
    html! {
        svg.balance aria-hidden="true" {
            line x1="50%" x2="50%" y1="0" y2="100%" {}
            rect.gain[value >= 0.0].loss[value < 0.0] x=(percent(start)) width=(percent(part)) height="100%" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_scale_has_round_grid_lines() {
        for (metric, most, ticks) in [
            (Metric::Clicks, 820.0, vec![0.0, 250.0, 500.0, 750.0, 1_000.0]),
            (Metric::Clicks, 0.0, vec![0.0, 1.0]),
            (Metric::Clicks, 3.0, vec![0.0, 1.0, 2.0, 3.0]),
            (Metric::Impressions, 10_168.0, vec![0.0, 5_000.0, 10_000.0, 15_000.0]),
            (Metric::Position, 17.0, vec![1.0, 6.0, 11.0, 16.0, 21.0]),
        ] {
            assert_eq!(Scale::of(metric, most).ticks, ticks, "{most}");
        }
    }

    #[test]
    fn the_best_position_is_at_the_top() {
        let scale = Scale::of(Metric::Position, 20.0);
        assert!(scale.height(1.0).abs() < 1e-9 && scale.height(5.0) < scale.height(9.0));
        let scale = Scale::of(Metric::Clicks, 20.0);
        assert!((scale.height(0.0) - 1.0).abs() < 1e-9 && scale.height(9.0) < scale.height(5.0));
    }

    #[test]
    fn a_period_without_a_value_breaks_the_line() {
        let scale = Scale { bottom: 0.0, top: 10.0, ticks: Vec::new() };
        let values = [Some(0.0), None, Some(5.0), Some(10.0)];
        let drawn = pieces(values.into_iter().enumerate(), 4, &scale);
        assert_eq!(drawn, ["0.0,1000.0 0.0,1000.0", "666.7,500.0 1000.0,0.0"]);
    }

    #[test]
    fn a_period_without_a_range_breaks_the_band() {
        let scale = Scale { bottom: 0.0, top: 10.0, ticks: Vec::new() };
        let range = |low, high| Some(UsualRange { low, high });
        let ranges = [range(0.0, 5.0), range(2.5, 10.0), None, range(1.0, 2.0), None, range(1.0, 2.0), range(5.0, 5.0)];
        let drawn = bands(ranges.into_iter(), &scale);
        assert_eq!(
            drawn,
            ["0.0,500.0 166.7,0.0 166.7,750.0 0.0,1000.0", "833.3,800.0 1000.0,500.0 1000.0,500.0 833.3,900.0"]
        );
    }

    proptest! {
        #[test]
        fn every_value_is_inside_the_plane(most in 0.0..1e9_f64, part in 0.0..=1.0_f64, kind in 0..4_usize) {
            let metric = Metric::ALL[kind];
            let most = match metric { Metric::Ctr => most / 1e9, Metric::Position => 1.0 + most / 1e7, _ => most };
            let first = if metric == Metric::Position { 1.0 } else { 0.0 };
            let scale = Scale::of(metric, most);
            let height = scale.height(first + (most - first) * part);
            prop_assert!((-1e-9..=1.0 + 1e-9).contains(&height), "{height}");
            prop_assert!((2..=6).contains(&scale.ticks.len()));
        }
    }
}
