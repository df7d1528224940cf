//! Numbers, changes and dates as people read them.

use api::{
    models::{Change, Window},
    params::Metric,
};
use chrono::{Datelike as _, NaiveDate};
use maud::{Markup, html};
use pages::page::words::{decimal, grouped};

/// The word for a number that is not known or does not exist.
pub const NONE: &str = "–";

/// The name of a metric.
pub fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::Clicks => "Clicks",
        Metric::Impressions => "Impressions",
        Metric::Ctr => "Click-through rate",
        Metric::Position => "Average position",
    }
}

/// A count in full.
pub fn count(number: u64) -> String {
    grouped(number as f64)
}

/// A metric: a count in full, a rate in percent, a position with one decimal place.
pub fn value(metric: Metric, value: Option<f64>) -> String {
    match (metric, value) {
        (_, None) => NONE.to_owned(),
        (Metric::Clicks | Metric::Impressions, Some(count)) => grouped(count),
        (Metric::Ctr, Some(rate)) => percent(rate),
        (Metric::Position, Some(position)) => decimal(position),
    }
}

/// A share as a percentage. Only nothing is 0.0 %, and only all is 100.0 %.
pub fn percent(share: f64) -> String {
    let shown = decimal(share * 100.0);
    match shown.as_str() {
        "0.0" if share > 0.0 => "< 0.1 %".to_owned(),
        "100.0" if share < 1.0 => "> 99.9 %".to_owned(),
        _ => format!("{shown} %"),
    }
}

/// A count that is an estimate, in full.
pub fn count_of(number: f64) -> String {
    grouped(number)
}

/// A position.
pub fn position(position: f64) -> String {
    decimal(position)
}

/// A number with its sign.
pub fn signed(number: f64) -> String {
    format!("{}{}", if number < 0.0 { '−' } else { '+' }, grouped(number.abs()))
}

/// The change of a metric: better or worse as a sign and a colour, and its size. A lower position is better.
pub fn change(metric: Metric, change: &Change, with_percent: bool) -> Markup {
    let (absolute, part) = match metric {
        Metric::Clicks => (change.clicks.absolute.map(|count| count as f64), change.clicks.percent),
        Metric::Impressions => (change.impressions.absolute.map(|count| count as f64), change.impressions.percent),
        Metric::Ctr => (change.ctr.absolute.map(|rate| rate * 100.0), None),
        Metric::Position => (change.position.absolute, None),
    };
    let Some(absolute) = absolute else { return html! { span.flat { (NONE) } } };
    let size = match metric {
        Metric::Clicks | Metric::Impressions => signed(absolute),
        Metric::Ctr => format!("{}{} pt", if absolute < 0.0 { '−' } else { '+' }, decimal(absolute.abs())),
        Metric::Position => format!("{} {}", decimal(absolute.abs()), if absolute < 0.0 { "better" } else { "worse" }),
    };
    if is_zero(&size) {
        return unchanged(absolute);
    }
    let is_better = (absolute > 0.0) != (metric == Metric::Position);
    let part = part.filter(|_| with_percent).map(|part| format!(" ({})", percent_of_change(part.abs())));
    html! {
        span class=(if is_better { "up" } else { "down" }) {
            span aria-hidden="true" { (if is_better { "▲ " } else { "▼ " }) }
            (size) @if let Some(part) = part { (part) }
        }
    }
}

/// The size of a change of a count in percent, which may be more than 100.
fn percent_of_change(percent: f64) -> String {
    let shown = decimal(percent);
    if is_zero(&shown) && percent > 0.0 { "< 0.1 %".to_owned() } else { format!("{shown} %") }
}

/// Returns whether a number reads as zero.
fn is_zero(shown: &str) -> bool {
    !shown.chars().any(|digit| ('1'..='9').contains(&digit))
}

/// A change that reads as zero.
fn unchanged(change: f64) -> Markup {
    html! { span.flat { (if change == 0.0 { "no change" } else { "hardly any change" }) } }
}

/// The change of an index: better or worse as a sign and a colour, and its size.
pub fn points(change: f64) -> Markup {
    let size = decimal(change.abs());
    if is_zero(&size) {
        return unchanged(change);
    }
    let (class, sign, mark) = if change > 0.0 { ("up", '+', "▲ ") } else { ("down", '−', "▼ ") };
    html! { span class=(class) { span aria-hidden="true" { (mark) } (sign) (size) } }
}

/// A day without its year.
pub fn short_day(date: NaiveDate) -> String {
    date.format("%-d %b").to_string()
}

/// A day with its weekday.
pub fn weekday(date: NaiveDate) -> String {
    date.format("%a %-d %b %Y").to_string()
}

/// The first and the last day of a window.
pub fn window(Window { start_date, end_date }: Window) -> String {
    let end = end_date.format("%-d %b %Y");
    if start_date == end_date {
        end.to_string()
    } else if start_date.year() == end_date.year() {
        format!("{} – {end}", short_day(start_date))
    } else {
        format!("{} – {end}", start_date.format("%-d %b %Y"))
    }
}

#[cfg(test)]
mod tests {
    use api::models::{AbsoluteChange, CountChange};

    use super::*;

    fn of(clicks: i64, ctr: f64, position: f64) -> Change {
        let count = CountChange { absolute: Some(clicks), percent: Some(12.34) };
        let ratio = |value| AbsoluteChange { absolute: Some(value) };
        Change { clicks: count.clone(), impressions: count, ctr: ratio(ctr), position: ratio(position) }
    }

    #[test]
    fn a_change_is_said_in_the_words_of_its_metric() {
        for (metric, given, class, words) in [
            (Metric::Clicks, of(1_234, 0.0, 0.0), "up", "+1,234 (12.3 %)"),
            (Metric::Impressions, of(-9, 0.0, 0.0), "down", "−9 (12.3 %)"),
            (Metric::Clicks, of(0, 0.0, 0.0), "flat", "no change"),
            (Metric::Ctr, of(0, 0.0021, 0.0), "up", "+0.2 pt"),
            (Metric::Ctr, of(0, 0.0001, 0.0), "flat", "hardly any change"),
            (Metric::Ctr, of(0, 0.0, 0.0), "flat", "no change"),
            (Metric::Position, of(0, 0.0, 0.016), "flat", "hardly any change"),
            (Metric::Position, of(0, 0.0, -0.31), "up", "0.3 better"),
            (Metric::Position, of(0, 0.0, 1.0), "down", "1.0 worse"),
        ] {
            let text = change(metric, &given, true).into_string();
            assert!(text.contains(words) && text.contains(&format!("class=\"{class}\"")), "{text}");
        }
    }

    #[test]
    fn a_small_part_is_not_nothing_and_a_large_one_is_not_all() {
        let shares = [0.0, 0.000_4, 0.000_5, 0.123, 0.999_4, 0.999_6, 1.0].map(percent);
        assert_eq!(shares, ["0.0 %", "< 0.1 %", "0.1 %", "12.3 %", "99.9 %", "> 99.9 %", "100.0 %"]);
        let count = CountChange { absolute: Some(1), percent: Some(0.02) };
        let small = Change { clicks: count, ..of(0, 0.0, 0.0) };
        assert!(change(Metric::Clicks, &small, true).into_string().contains("+1 (&lt; 0.1 %)"));
        assert!(points(0.04).into_string().contains("hardly any change"));
    }

    #[test]
    fn a_window_names_a_year_once() {
        let day = |text: &str| text.parse().unwrap();
        for (start, end, words) in [
            ("2026-10-26", "2026-11-22", "26 Oct – 22 Nov 2026"),
            ("2025-12-30", "2026-01-02", "30 Dec 2025 – 2 Jan 2026"),
            ("2026-01-02", "2026-01-02", "2 Jan 2026"),
        ] {
            assert_eq!(window(Window { start_date: day(start), end_date: day(end) }), words);
        }
    }
}
