//! A chart of several series over the same days: lines, or areas on top of each other.

use api::params::Metric;
use chrono::NaiveDate;
use maud::{Markup, html};

use super::{
    svg::{HEIGHT, Scale, area, axis, cross, grid, pieces, plane, ticks},
    words,
};

/// The colours of the stylesheet. A chart has no more series.
pub const MOST: usize = 6;

/// Several series over the same days.
pub struct Layers<'a> {
    /// The name of the values, such as `Clicks by country`.
    pub name: &'a str,
    pub days: Vec<NaiveDate>,
    /// At most [`MOST`].
    pub series: Vec<Series>,
    /// True draws areas on top of each other, so that their upper edge is the sum. False draws lines.
    pub stacked: bool,
    /// True writes values with one decimal place.
    pub decimal: bool,
}

/// One series.
pub struct Series {
    pub name: String,
    /// One value for each day.
    pub values: Vec<Option<f64>>,
}

impl Layers<'_> {
    /// Draws the chart, its legend, and its days as a table.
    pub fn draw(&self) -> Markup {
        let [Some(first), Some(last)] = [self.days.first(), self.days.last()] else {
            return html! { p { "There is no data for these days." } };
        };
        let summary = format!(
            "{} by day from {} to {}. The table below has every day.",
            self.name,
            words::weekday(*first),
            words::weekday(*last)
        );
        html! {
            figure.plot tabindex="0" aria-label=(summary) {
                svg.chart width="100%" height=(HEIGHT) aria-hidden="true" {
                    @let scale = Scale::of(Metric::Clicks, self.most());
                    (grid(&scale))
                    (plane(&if self.stacked { self.areas(&scale) } else { self.lines(&scale) }))
                    (ticks(&scale, |tick| self.words(Some(tick))))
                    (axis(&self.days))
                    (cross())
                }
                output.tip hidden {}
            }
            p.legend { @for (index, series) in self.series.iter().enumerate() { span { (key(index, self.stacked)) bdi { (series.name) } } } }
            details.days { summary { "Days as a table" } (self.table()) }
        }
    }

    /// The largest value of the chart.
    fn most(&self) -> f64 {
        let values =
            |day: usize| self.series.iter().map(move |series| series.values.get(day).copied().flatten().unwrap_or(0.0));
        let of_day = |day| if self.stacked { values(day).sum() } else { values(day).fold(0.0, f64::max) };
        (0..self.days.len()).map(of_day).fold(0.0, f64::max)
    }

    fn lines(&self, scale: &Scale) -> Markup {
        html! {
            @for (index, series) in self.series.iter().enumerate() {
                @for points in pieces(series.values.iter().copied().enumerate(), self.days.len(), scale) {
                    polyline class={ "line layer" (index) } points=(points) {}
                }
            }
        }
    }

    fn areas(&self, scale: &Scale) -> Markup {
        let mut lower = vec![0.0; self.days.len()];
        let mut areas = Vec::new();
        for series in &self.series {
            let value = |day: usize| series.values.get(day).copied().flatten().unwrap_or(0.0);
            let upper: Vec<f64> = lower.iter().enumerate().map(|(day, below)| below + value(day)).collect();
            areas.push(area(&upper, &lower, scale));
            lower = upper;
        }
        html! { @for (index, points) in areas.iter().enumerate() { polygon class={ "layer" (index) } points=(points) {} } }
    }

    fn table(&self) -> Markup {
        html! {
            div.scroll tabindex="0" role="region" aria-label={ (self.name) " by day" } {
                table.figures {
                    thead {
                        tr {
                            th scope="col" { "Day" }
                            @for series in &self.series { th scope="col" { bdi { (series.name) } } }
                        }
                    }
                    tbody {
                        @for (index, day) in self.days.iter().enumerate() {
                            tr {
                                th scope="row" { (words::weekday(*day)) }
                                @for series in &self.series { td { (self.words(series.values.get(index).copied().flatten())) } }
                            }
                        }
                    }
                }
            }
        }
    }

    fn words(&self, value: Option<f64>) -> String {
        if self.decimal {
            value.map_or_else(|| words::NONE.to_owned(), words::position)
        } else {
            words::value(Metric::Clicks, value)
        }
    }
}

/// The mark of a series in the legend.
fn key(index: usize, stacked: bool) -> Markup {
    html! {
        svg class="mark" aria-hidden="true" {
            @if stacked { rect class={ "layer" (index) } width="100%" height="100%" {} }
            @else { line class={ "line layer" (index) } x1="0" x2="100%" y1="50%" y2="50%" {} }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(stacked: bool) -> String {
        let day = |day| NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        let series = |name: &str, values: [Option<f64>; 2]| Series { name: name.to_owned(), values: values.to_vec() };
        let series = vec![series("<a>", [Some(1.0), Some(2.0)]), series("b", [Some(3.0), None])];
        Layers { name: "Clicks", days: vec![day(1), day(2)], series, stacked, decimal: false }.draw().into_string()
    }

    #[test]
    fn areas_stand_on_top_of_each_other() {
        let text = layers(true);
        assert!(text.contains(r#"class="layer0" points="0.0,750.0 1000.0,500.0 1000.0,1000.0 0.0,1000.0""#), "{text}");
        assert!(text.contains(r#"class="layer1" points="0.0,0.0 1000.0,500.0 1000.0,500.0 0.0,750.0""#), "{text}");
    }

    #[test]
    fn lines_break_where_there_is_no_value() {
        let text = layers(false);
        assert!(text.contains(r#"class="line layer1" points="0.0,0.0 0.0,0.0""#), "{text}");
        assert!(text.contains("<td>–</td>") && text.contains("&lt;a&gt;"), "{text}");
    }
}
