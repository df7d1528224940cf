//! A line of the table that a run prints.

use std::time::Duration;

/// A measured figure, what it is held against, and what is aimed at.
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The figure, with its unit.
    pub value: String,
    /// What it is held against, measured in the same run.
    pub baseline: String,
    /// The one in terms of the other.
    pub ratio: String,
    /// What is aimed at, and whether it is met.
    pub aim: Option<(String, bool)>,
}

impl Figure {
    /// A figure that stands for itself: no baseline, no aim.
    pub fn note(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value, baseline: String::new(), ratio: String::new(), aim: None }
    }

    /// All figures, one a line, in Markdown.
    pub fn table(figures: &[Self]) -> String {
        let mut lines =
            vec!["| figure | measured | baseline | ratio | aim |".to_owned(), "|---|---|---|---|---|".to_owned()];
        lines.extend(figures.iter().map(|figure| {
            let aim = figure
                .aim
                .as_ref()
                .map_or_else(String::new, |(aim, met)| format!("{aim}: {}", if *met { "met" } else { "MISSED" }));
            format!("| {} | {} | {} | {} | {aim} |", figure.name, figure.value, figure.baseline, figure.ratio)
        }));
        lines.join("\n")
    }
}

/// The middle one of several measurements.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// `12.3 ms`
pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
