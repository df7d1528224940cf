//! Observability for operators.

pub mod logs;
pub mod providers;
pub mod requests;
pub mod upstream;

use std::fmt::Display;

/// The number of characters of a stranger's text that a line of the log holds.
const MAX_QUOTED: usize = 300;

/// Text that a stranger may have written, for a line of the log. It is quoted and cut, so that it cannot pass for lines of its own.
#[must_use]
pub fn quoted(text: &impl Display) -> String {
    let text = text.to_string();
    let cut: String = text.chars().take(MAX_QUOTED).collect();
    let more = if cut.len() < text.len() { " (cut)" } else { "" };
    format!("{cut:?}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_stays_on_its_line_and_is_bounded() {
        let forged = "access_denied\n2026-11-22T12:00:00Z ERROR sightline: all is lost\u{1b}[31m\u{202e}";
        let line = quoted(&forged);
        assert!(line.starts_with("\"access_denied\\n2026") && line.ends_with("\\u{1b}[31m\\u{202e}\""), "{line}");
        assert!(!line.chars().any(char::is_control));
        let long = quoted(&"x".repeat(100_000));
        assert!(long.len() < 400 && long.ends_with("\" (cut)"), "{long}");
    }
}
