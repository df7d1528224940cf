//! One line of the table that a run prints.

use std::time::Duration;

/// A measured figure with its baseline and its target.
pub struct Figure {
    /// Name of the figure.
    pub name: String,
    /// The figure, with its unit.
    pub value: String,
    /// The baseline, measured in the same run.
    pub baseline: String,
    /// The ratio of the figure to its baseline.
    pub ratio: String,
    /// The target, and true if it is met.
    pub aim: Option<(String, bool)>,
}

impl Figure {
    /// A figure without baseline and target.
    pub fn note(name: &str, value: String) -> Self {
        Self { name: name.to_owned(), value, baseline: String::new(), ratio: String::new(), aim: None }
    }

    /// All figures as a Markdown table, one per line.
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

/// Median of several times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// `12.3 ms`
pub fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
