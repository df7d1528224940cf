//! The chart of a metric by day, the days before it, the days that are not final, and the notes.

use analytics::pairs::Pairing;
use api::{
    analytics::{Direction, ExplainedEvent, SeriesPoint, Unusual, UsualMetric, UsualRange},
    annotations::{Annotation, AnnotationSource},
    models::Window,
    params::Metric,
};
use chrono::{Datelike as _, NaiveDate};
use maud::{Markup, html};

use super::{
    svg::{BOTTOM, HEIGHT, Scale, TOP, axis, bands, cross, grid, percent, pieces, place, plane, ticks, value_of},
    words,
};

/// The longest text of a note beside the chart, in characters. The page of notes has all of it.
const LONGEST_NOTE: usize = 200;

/// A note or an event of the search engine.
pub struct Flag {
    /// Its first day.
    pub date: NaiveDate,
    text: String,
    /// The author.
    by: Option<String>,
    /// The page that tells of it.
    url: Option<String>,
}

impl Flag {
    /// Returns the notes and events that begin in the window, oldest first.
    pub fn all(window: Window, notes: Vec<Annotation>, events: Vec<ExplainedEvent>) -> Vec<Self> {
        let of_note =
            |note: Annotation| Self { date: note.date, text: note.text, by: note.created_by, url: note.source_url };
        // The events of a share link name no author of a note.
        let of_event = |event: ExplainedEvent| Self {
            date: event.date,
            text: event.text,
            by: (event.source == AnnotationSource::System).then(|| "Search engine".to_owned()),
            url: event.source_url,
        };
        let mut flags: Vec<Self> = notes.into_iter().map(of_note).chain(events.into_iter().map(of_event)).collect();
        flags.retain(|flag| (window.start_date..=window.end_date).contains(&flag.date));
        flags.sort_by_key(|flag| flag.date);
        flags
    }
}

/// The content of a chart.
pub struct Chart<'a> {
    pub metric: Metric,
    pub series: &'a [SeriesPoint],
    pub previous: &'a [SeriesPoint],
    /// The pairs of days of both series. `None` without a comparison.
    pub pairing: Option<Pairing>,
    /// The last days, if they are not usual.
    pub unusual: Option<Unusual>,
    pub flags: &'a [Flag],
    /// The page where a note can be added to a day, if the visitor may add one.
    pub notes_at: Option<&'a str>,
}

impl Chart<'_> {
    /// Draws the chart, its legend, its notes, and its days as a table.
    pub fn draw(&self) -> Markup {
        let [Some(first), Some(last)] = [self.series.first(), self.series.last()] else {
            return html! { p { "There is no data for these days." } };
        };
        let (first, last) = (first.period.date, last.period.date);
        let before = self.before();
        let summary = format!(
            "{} by day from {} to {}. The table below has every day.",
            words::name(self.metric),
            words::weekday(first),
            words::weekday(last)
        );
        html! {
            @if let Some(unusual) = self.unusual() {
                p.unusual { (side(unusual.direction)) " the usual range since " (words::short_day(unusual.since)) }
            }
            figure.plot tabindex="0" aria-label=(summary) {
                (self.picture(&before))
                output.tip hidden {}
            }
            (self.legend(Window { start_date: first, end_date: last }))
            @if self.values(self.series).all(|value| value.is_none()) { p { "No day has a value here." } }
            (self.notes())
            details.days { summary { "Days as a table" } (self.table(&before)) }
        }
    }

    fn values<'s>(&self, points: &'s [SeriesPoint]) -> impl Iterator<Item = Option<f64>> + use<'s> {
        let metric = self.metric;
        points.iter().map(move |point| value_of(point, metric))
    }

    /// For each day of the series, the value that is compared with it.
    fn before(&self) -> Vec<Option<f64>> {
        let Some(pairing) = self.pairing else { return vec![None; self.series.len()] };
        let days = self.series.iter().map(|point| point.period.date);
        let before = self.previous.iter().map(|point| (point.period.date, value_of(point, self.metric)));
        pairing.beside(days, before).into_iter().map(Option::flatten).collect()
    }

    /// The usual range of the metric on a day.
    fn usual(&self, point: &SeriesPoint) -> Option<UsualRange> {
        let usual = point.usual?;
        match self.metric {
            Metric::Clicks => Some(usual.clicks),
            Metric::Impressions => Some(usual.impressions),
            Metric::Ctr | Metric::Position => None,
        }
    }

    fn has_usual(&self) -> bool {
        self.series.iter().any(|point| self.usual(point).is_some())
    }

    /// The last days, if the metric is not usual on them.
    fn unusual(&self) -> Option<Unusual> {
        let metric = match self.metric {
            Metric::Clicks => UsualMetric::Clicks,
            Metric::Impressions => UsualMetric::Impressions,
            Metric::Ctr | Metric::Position => return None,
        };
        self.unusual.filter(|unusual| unusual.metric == metric)
    }

    fn picture(&self, before: &[Option<f64>]) -> Markup {
        let usual = self.series.iter().map(|point| self.usual(point).map(|usual| usual.high));
        let most = self.values(self.series).chain(before.iter().copied()).chain(usual).flatten().fold(0.0, f64::max);
        let scale = Scale::of(self.metric, most);
        html! {
            svg.chart width="100%" height=(HEIGHT) aria-hidden="true" {
                defs {
                    pattern #hatch width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                        line.hatch x1="0" x2="0" y1="0" y2="8" {}
                    }
                }
                (self.unfinished())
                (grid(&scale))
                (self.lines(before, &scale))
                (ticks(&scale, |tick| words::value(self.metric, Some(tick))))
                @if let Some(unusual) = self.unusual() { (self.since(unusual.since)) }
                (axis(&self.series.iter().map(|point| point.period.date).collect::<Vec<_>>()))
                @for (number, flag) in (1..).zip(self.flags) { (self.flag(number, flag.date)) }
                (cross())
            }
        }
    }

    /// The lines. Days that are not final are dotted, from the last final one on.
    fn lines(&self, before: &[Option<f64>], scale: &Scale) -> Markup {
        let is_final = |point: &SeriesPoint| point.period.not_final != Some(true);
        let all = self.series.len();
        let last = self.series.iter().rposition(is_final).unwrap_or(0);
        let indexed = || self.values(self.series).enumerate();
        let (settled, open) =
            (indexed().filter(|(index, _)| *index <= last), indexed().filter(|(index, _)| *index >= last));
        let before = before.iter().copied().enumerate();
        let bands = bands(self.series.iter().map(|point| self.usual(point)), scale);
        html! {
            (plane(&html! {
                @for points in bands { polygon.band points=(points) {} }
                @for points in pieces(before, all, scale) { polyline.previous points=(points) {} }
                @for points in pieces(settled, all, scale) { polyline.current points=(points) {} }
                @if last + 1 < all {
                    @for points in pieces(open, all, scale) { polyline.current.open points=(points) {} }
                }
            }))
        }
    }

    /// The hatched area of the days that are not final.
    fn unfinished(&self) -> Markup {
        let first = self.series.iter().position(|point| point.period.not_final == Some(true));
        html! {
            @if let Some(first) = first {
                @let start = place(first.saturating_sub(1), self.series.len());
                rect x=(percent(start)) width=(percent(1.0 - start)) y=(TOP) height=(BOTTOM - TOP) fill="url(#hatch)" {}
            }
        }
    }

    /// The place of a day along the width.
    fn x(&self, date: NaiveDate) -> String {
        let after = self.series.iter().position(|point| point.period.date > date).unwrap_or(self.series.len());
        percent(place(after.saturating_sub(1), self.series.len()))
    }

    /// The line at the first day that is not usual.
    fn since(&self, date: NaiveDate) -> Markup {
        let x = self.x(date);
        html! { line.since x1=(x) x2=(x) y1=(TOP) y2=(BOTTOM) {} }
    }

    fn flag(&self, number: usize, date: NaiveDate) -> Markup {
        let x = self.x(date);
        html! {
            g.flag {
                line x1=(x) x2=(x) y1="20" y2=(BOTTOM) {}
                circle cx=(x) cy="12" r="8" {}
                text x=(x) y="16" text-anchor="middle" { (number) }
            }
        }
    }

    fn legend(&self, window: Window) -> Markup {
        let open = self.series.iter().filter(|point| point.period.not_final == Some(true)).count();
        let before = self.previous.first().zip(self.previous.last());
        html! {
            p.legend {
                span { span.key {} (words::window(window)) }
                @if let Some((first, last)) = before {
                    @let window = Window { start_date: first.period.date, end_date: last.period.date };
                    span { span.key.previous {} (words::window(window)) }
                }
                @if self.has_usual() && self.series.len() > 1 {
                    span { span.key.band {} "usual for the weekday, by the 8 weeks before" }
                }
                @if open > 0 {
                    span {
                        span.key.open {}
                        (open) @if open == 1 { " day is" } @else { " days are" } " not final: their numbers still grow, and they are not compared"
                    }
                }
            }
        }
    }

    /// A day of the chart, with its year if the chart has days of two.
    fn day(&self, date: NaiveDate) -> String {
        let [first, last] =
            [self.series.first(), self.series.last()].map(|point| point.map(|point| point.period.date.year()));
        if first == last { words::short_day(date) } else { words::window(Window { start_date: date, end_date: date }) }
    }

    fn notes(&self) -> Markup {
        html! {
            @if !self.flags.is_empty() {
                ol.flags {
                    @for flag in self.flags {
                        li {
                            strong { (self.day(flag.date)) } " "
                            bdi { (cut(&flag.text)) }
                            @if let Some(by) = &flag.by { " " bdi.quiet-text { (by) } }
                            @if let Some(url) = &flag.url { " " a href=(url) rel="noreferrer" { "Source" } }
                        }
                    }
                }
            }
        }
    }

    /// The usual range of the metric on a day, in rounded numbers.
    fn usual_words(&self, point: &SeriesPoint) -> String {
        let Some(UsualRange { low, high }) = self.usual(point) else { return words::value(self.metric, None) };
        let [low, high] = [low, high].map(|bound| words::value(self.metric, Some(bound)));
        format!("{low} – {high}")
    }

    fn table(&self, before: &[Option<f64>]) -> Markup {
        let has_usual = self.has_usual();
        html! {
            div.scroll tabindex="0" role="region" aria-label="Days" {
                table.figures {
                    thead {
                        tr {
                            th scope="col" { "Day" }
                            @for metric in Metric::ALL { th scope="col" { (short_name(metric)) } }
                            @if !self.previous.is_empty() { th scope="col" { (short_name(self.metric)) " before" } }
                            @if has_usual { th scope="col" { "Usual" } }
                        }
                    }
                    tbody {
                        @for (point, before) in self.series.iter().zip(before) {
                            tr {
                                @let day = words::weekday(point.period.date);
                                th scope="row" {
                                    @if let Some(at) = self.notes_at { a href={ (at) "?day=" (point.period.date) "#add" } title="Add a note" { (day) } }
                                    @else { (day) }
                                }
                                @for metric in Metric::ALL { td { (words::value(metric, value_of(point, metric))) } }
                                @if !self.previous.is_empty() {
                                    td { (words::value(self.metric, *before)) }
                                }
                                @if has_usual { td { (self.usual_words(point)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Says on which side of the usual range days lie.
fn side(direction: Direction) -> &'static str {
    match direction {
        Direction::Up => "Above",
        Direction::Down => "Below",
    }
}

/// The name of a metric above a column.
pub fn short_name(metric: Metric) -> Markup {
    html! {
        @match metric {
            Metric::Ctr => abbr title="Click-through rate" { "CTR" },
            Metric::Position => abbr title="Average position" { "Pos." },
            other => (words::name(other)),
        }
    }
}

/// Cuts a text where it would break the page.
fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST_NOTE {
        return text.to_owned();
    }
    text.chars().take(LONGEST_NOTE).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use api::analytics::Period;

    use super::*;

    fn point(day: u32, clicks: u64, not_final: bool) -> SeriesPoint {
        let date = NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
        let period = Period { date, end_date: None, hour: None, cut: None, not_final: not_final.then_some(true) };
        SeriesPoint { period, clicks, impressions: 10 * clicks, ctr: Some(0.1), position: None, usual: None }
    }

    fn drawn(metric: Metric, series: &[SeriesPoint], previous: &[SeriesPoint]) -> String {
        let window = |points: &[SeriesPoint]| {
            let [first, last] = [points.first()?, points.last()?].map(|point| point.period.date);
            Some(Window { start_date: first, end_date: last })
        };
        let pairing = window(series).zip(window(previous)).map(|(series, previous)| Pairing::of(series, previous));
        Chart { metric, series, previous, pairing, unusual: None, flags: &[], notes_at: None }.draw().into_string()
    }

    #[test]
    fn the_line_spans_the_width() {
        let text = drawn(Metric::Clicks, &[point(1, 0, false), point(2, 50, false), point(3, 100, false)], &[]);
        assert!(text.contains(r#"<polyline class="current" points="0.0,1000.0 500.0,500.0 1000.0,0.0">"#), "{text}");
        assert!(text.contains("1 Nov – 3 Nov 2026") && !text.contains("url(#hatch)"), "{text}");
    }

    #[test]
    fn days_that_are_not_final_are_dotted_and_hatched() {
        let text = drawn(Metric::Clicks, &[point(1, 4, false), point(2, 4, false), point(3, 1, true)], &[]);
        assert!(text.contains(r#"points="0.0,0.0 500.0,0.0""#), "{text}");
        assert!(text.contains(r#"<polyline class="current open" points="500.0,0.0 1000.0,750.0">"#), "{text}");
        assert!(text.contains("1 day is not final") && text.contains("url(#hatch)"), "{text}");
    }

    #[test]
    fn a_metric_without_values_draws_no_line() {
        let text = drawn(Metric::Position, &[point(1, 0, false), point(2, 0, false)], &[]);
        assert!(
            !text.contains("<polyline") && text.contains("<td>–</td>") && text.contains("No day has a value here."),
            "{text}"
        );
        assert_eq!(drawn(Metric::Clicks, &[], &[]), "<p>There is no data for these days.</p>");
    }

    #[test]
    fn a_flag_stands_at_its_day_or_at_the_period_that_holds_it() {
        let at = |days: [u32; 3], day: u32| {
            let flag = Flag { date: point(day, 0, false).period.date, text: "x".into(), by: None, url: None };
            let series = days.map(|day| point(day, 1, false));
            let (metric, flags) = (Metric::Clicks, std::slice::from_ref(&flag));
            let chart =
                Chart { metric, series: &series, previous: &[], pairing: None, unusual: None, flags, notes_at: None };
            let text = chart.draw().into_string();
            let flag = text.split("<g class=\"flag\"><line x1=\"").nth(1).unwrap();
            flag.split('"').next().unwrap().to_owned()
        };
        for (days, day, place) in [
            ([1, 2, 3], 1, "0.00%"),
            ([1, 2, 3], 2, "50.00%"),
            ([1, 2, 3], 3, "100.00%"),
            ([2, 9, 16], 8, "0.00%"),
            ([2, 9, 16], 9, "50.00%"),
            ([2, 9, 16], 20, "100.00%"),
        ] {
            assert_eq!(at(days, day), place, "{days:?} {day}");
        }
    }

    /// 29 February has no day of the year before beside it, and 1 March has 1 March.
    #[test]
    fn days_of_two_years_stand_side_by_side_by_their_date() {
        let days = |year: i32, days: &[(u32, u32)], factor: u64| -> Vec<SeriesPoint> {
            let one = |(month, day): &(u32, u32)| {
                let date = NaiveDate::from_ymd_opt(year, *month, *day).unwrap();
                let point = point(1, factor * u64::from(100 * month + day), false);
                SeriesPoint { period: Period { date, ..point.period }, ..point }
            };
            days.iter().map(one).collect()
        };
        let leap = [(2, 27), (2, 28), (2, 29), (3, 1), (3, 2)];
        let usual = [(2, 27), (2, 28), (3, 1), (3, 2)];
        for (series, previous, expected) in [
            (days(2028, &leap, 1), days(2027, &usual, 10), &["2,270", "2,280", "–", "3,010", "3,020"][..]),
            (days(2029, &usual, 1), days(2028, &leap, 10), &["2,270", "2,280", "3,010", "3,020"]),
        ] {
            let text = drawn(Metric::Clicks, &series, &previous);
            let rows = text.split("<tbody>").nth(1).unwrap().split("</tr>");
            let cell = |row: &str| row.rsplit("<td>").next().unwrap().trim_end_matches("</td>").to_owned();
            let before: Vec<String> = rows.filter(|row| row.contains("<td>")).map(cell).collect();
            assert_eq!(before, expected);
            let gaps = text.matches("<polyline class=\"previous\"").count();
            assert_eq!(gaps, if expected.contains(&"–") { 2 } else { 1 }, "{text}");
        }
    }

    #[test]
    fn the_days_before_have_their_own_line_and_column() {
        let text = drawn(Metric::Clicks, &[point(2, 4, false)], &[point(1, 2, false)]);
        assert!(text.contains(r#"class="previous" points="500.0,500.0 500.0,500.0""#), "{text}");
        assert!(text.contains("<th scope=\"col\">Clicks before</th>") && text.contains("<td>2</td>"), "{text}");
    }
}
