//! The chart of clicks: a line in SVG, which needs no script.

use api::analytics::SeriesPoint;
use maud::{Markup, html};
use pages::page::words::grouped;

use super::day;

/// The size of the plane that the line is drawn in.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;

/// The space around the plane for the labels.
const MARGIN: f64 = 24.0;

/// Draws the clicks of each day, from zero up.
pub(super) fn clicks(series: &[SeriesPoint]) -> Markup {
    let [Some(first), Some(last)] = [series.first(), series.last()] else {
        return html! { p { "There is no data for these days." } };
    };
    let values: Vec<f64> = series.iter().map(|day| day.clicks as f64).collect();
    let most = values.iter().copied().fold(0.0, f64::max);
    let line = points(&values, most);
    let (bottom, right) = (MARGIN + HEIGHT, WIDTH);
    let summary = format!(
        "Clicks per day from {} to {}, at most {}. The table below has every day.",
        day(first.period.date),
        day(last.period.date),
        grouped(most)
    );
    html! {
        svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 2.0 * MARGIN) } role="img" aria-label=(summary) {
            line.axis x1="0" y1=(bottom) x2=(right) y2=(bottom) {}
            line.axis x1="0" y1=(MARGIN) x2=(right) y2=(MARGIN) {}
            @if values.len() == 1 {
                circle cx=(WIDTH / 2.0) cy=(height(first.clicks as f64, most)) r="4" {}
            } @else {
                polygon points={ "0," (bottom) " " (line) " " (right) "," (bottom) } {}
                polyline points=(line) {}
            }
            text x="0" y=(MARGIN - 8.0) { (grouped(most)) }
            text x="0" y=(bottom + 18.0) { (day(first.period.date)) }
            @if values.len() > 1 { text x=(right) y=(bottom + 18.0) text-anchor="end" { (day(last.period.date)) } }
        }
    }
}

/// The points of the line, as `x,y` pairs. The days are spread over the whole width.
fn points(values: &[f64], most: f64) -> String {
    let mut pairs = Vec::with_capacity(values.len());
    let (mut x, step) = (0.0, WIDTH / steps(values));
    for value in values {
        pairs.push(format!("{x:.1},{:.1}", height(*value, most)));
        x += step;
    }
    pairs.join(" ")
}

/// The number of steps between the first value and the last.
fn steps(values: &[f64]) -> f64 {
    values.iter().skip(1).fold(0.0_f64, |steps, _| steps + 1.0).max(1.0)
}

/// The place of a value from the top. The largest value is at the upper edge of the plane.
fn height(value: f64, most: f64) -> f64 {
    let share = if most > 0.0 { value / most } else { 0.0 };
    MARGIN + HEIGHT * (1.0 - share)
}

#[cfg(test)]
mod tests {
    use api::analytics::Period;

    use super::*;

    fn drawn(values: &[u64]) -> String {
        let first = chrono::NaiveDate::from_ymd_opt(2026, 11, 1).unwrap();
        let of = |(index, clicks): (usize, &u64)| {
            let date = first + chrono::Days::new(index as u64);
            let period = Period { date, end_date: None, hour: None, cut: None, not_final: None };
            SeriesPoint { period, clicks: *clicks, impressions: 0, ctr: None, position: None }
        };
        clicks(&values.iter().enumerate().map(of).collect::<Vec<_>>()).into_string()
    }

    #[test]
    fn the_line_spans_the_width_and_its_top_is_the_largest_value() {
        let text = drawn(&[0, 50, 100]);
        assert!(text.contains(r#"<polyline points="0.0,224.0 360.0,124.0 720.0,24.0">"#), "{text}");
        assert!(text.contains(">100</text>") && text.contains("1 November 2026") && text.contains("3 November 2026"));
    }

    #[test]
    fn days_without_clicks_are_a_line_at_the_bottom() {
        assert!(drawn(&[0, 0]).contains(r#"<polyline points="0.0,224.0 720.0,224.0">"#));
    }

    #[test]
    fn one_day_is_a_dot_and_no_day_says_so() {
        let one = drawn(&[7]);
        assert!(one.contains("<circle") && !one.contains("polyline") && one.contains(">7</text>"), "{one}");
        assert_eq!(drawn(&[]), "<p>There is no data for these days.</p>");
    }
}
