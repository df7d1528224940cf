//! Numbers for people on a terminal.

/// The position with one digit, or a dash without impressions.
#[must_use]
pub fn position(position: Option<f64>) -> String {
    position.map_or_else(dash, |position| format!("{position:.1}"))
}

/// The CTR in percent, or a dash without impressions. Only nothing is `0.0%`, and only all is `100.0%`.
#[must_use]
pub fn ctr(ctr: Option<f64>) -> String {
    let percent = |ctr: f64| match format!("{:.1}%", ctr * 100.0).as_str() {
        "0.0%" if ctr > 0.0 => "<0.1%".to_owned(),
        "100.0%" if ctr < 1.0 => ">99.9%".to_owned(),
        shown => shown.to_owned(),
    };
    ctr.map_or_else(dash, percent)
}

fn dash() -> String {
    "–".to_owned()
}

/// A whole number in full, such as `99,950`.
#[must_use]
pub fn grouped(number: u64) -> String {
    common::numbers::grouped(&number.to_string())
}

/// A whole number in full, or a dash where nothing was counted.
#[must_use]
pub fn count(number: Option<u64>) -> String {
    number.map_or_else(dash, grouped)
}

/// The change to `now` in percent, such as `+4.2%`, or in numbers from nothing. A dash without a comparison.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn change(now: u64, before: Option<u64>) -> String {
    match before {
        None => dash(),
        Some(0) if now > 0 => format!("+{}", grouped(now)),
        Some(before) => format!("{}%", signed((now as f64 - before as f64) / before.max(1) as f64 * 100.0)),
    }
}

/// The difference of two values with one digit, such as `-0.3`. A dash without both.
#[must_use]
pub fn difference(now: Option<f64>, before: Option<f64>) -> String {
    now.zip(before).map_or_else(dash, |(now, before)| signed(now - before))
}

/// A number with one digit and its sign. Only nothing is `0.0`: what is smaller than a digit has its sign.
fn signed(number: f64) -> String {
    if number == 0.0 { "0.0".to_owned() } else { format!("{number:+.1}") }
}

/// The most bars of a line. Where there are more days, several days are one bar.
const BARS_AT_MOST: usize = 60;

/// The clicks of days as a line of bars, from nothing to the highest.
#[must_use]
pub fn sparkline(days: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let together = days.len().div_ceil(BARS_AT_MOST).max(1);
    let sum = |days: &[u64]| days.iter().copied().map(u128::from).sum();
    let sums: Vec<u128> = days.chunks(together).map(sum).collect();
    let highest = sums.iter().copied().max().unwrap_or_default().max(1);
    sums.into_iter().map(|sum| BARS[usize::try_from(sum * 7 / highest).unwrap_or(7).min(7)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full_and_changes_with_their_sign() {
        let whole = [0, 7, 999, 1_000, 99_950, 1_234_567].map(grouped);
        assert_eq!(whole, ["0", "7", "999", "1,000", "99,950", "1,234,567"]);
        let changes = [(110, Some(100)), (95, Some(100)), (5, Some(0)), (0, Some(0)), (9_999, Some(10_000)), (5, None)];
        assert_eq!(changes.map(|(now, before)| change(now, before)), ["+10.0%", "-5.0%", "+5", "0.0%", "-0.0%", "–"]);
        let rates = [0.0, 0.000_4, 0.25, 0.999_6, 1.0].map(|rate| ctr(Some(rate)));
        assert_eq!(rates, ["0.0%", "<0.1%", "25.0%", ">99.9%", "100.0%"]);
    }

    #[test]
    fn a_line_of_bars_goes_from_nothing_to_the_highest() {
        assert_eq!(sparkline(&[0, 50, 100]), "▁▄█");
        assert_eq!(sparkline(&[0, 0]), "▁▁");
        assert_eq!(sparkline(&[u64::MAX, 0]), "█▁");
        assert_eq!(sparkline(&[u64::MAX; 120]), "█".repeat(60));
        assert_eq!(sparkline(&[1; 480]).chars().count(), 60);
        assert_eq!(sparkline(&[]), "");
    }
}
