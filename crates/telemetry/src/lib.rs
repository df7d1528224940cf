//! Log lines, metrics and traces for operators. Text of strangers is made safe for a line of the log.

pub mod database;
pub mod events;
pub mod formats;
pub mod logs;
pub mod pace;
pub mod polls;
pub mod process;
pub mod providers;
pub mod requests;
pub mod sums;
mod text;
pub mod traces;
pub mod upstream;

use std::fmt::Display;

/// The number of characters of a stranger's text that a line of the log holds.
const MAX_QUOTED: usize = 300;

/// The words in place of an e-mail address.
const ADDRESS: &str = "(an address)";

/// Text that a stranger may have written, for a line of the log. It is quoted and cut, so that it cannot pass for lines of its own, and
/// has no e-mail addresses: other services name people in their errors.
#[must_use]
pub fn quoted(text: &impl Display) -> String {
    let text = without_addresses(&text.to_string());
    let cut: String = text.chars().take(MAX_QUOTED).collect();
    let more = if cut.len() < text.len() { " (cut)" } else { "" };
    format!("{cut:?}{more}")
}

/// Replaces everything in `text` that may be an e-mail address, also where `@` is percent-encoded.
#[must_use]
pub fn without_addresses(text: &str) -> String {
    let is_apart = |c: char| c.is_whitespace() || "\"'`<>()[]{},;:=&".contains(c);
    let names = |word: &str| {
        let sides = ["@", "%40"].map(|at| word.split_once(at));
        sides.into_iter().flatten().any(|(name, host)| !name.is_empty() && !host.is_empty())
    };
    let words = text.split_inclusive(is_apart).map(|word| {
        let bare = word.trim_end_matches(is_apart);
        if names(bare) { format!("{ADDRESS}{}", &word[bare.len()..]) } else { word.to_owned() }
    });
    words.collect()
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

    #[test]
    fn addresses_that_other_services_name_are_left_out() {
        for (said, kept) in [
            ("User account 'Ann.Lee+x@corp.example' is gone", "User account '(an address)' is gone"),
            (
                "<ann@localhost>, \"bob@corp.example\"; mailto:a@b.test",
                "<(an address)>, \"(an address)\"; mailto:(an address)",
            ),
            ("GET https://id.example/?hint=ann%40corp.example&x=1", "GET https://id.example/?hint=(an address)&x=1"),
            ("ann@corp.example", "(an address)"),
            ("ann@corp.example\nü@ü.test", "(an address)\n(an address)"),
            ("an @ sign, @corp and ann@ name nobody", "an @ sign, @corp and ann@ name nobody"),
        ] {
            assert_eq!(without_addresses(said), kept);
        }
        let late = format!("{} ann@corp.example", "x".repeat(MAX_QUOTED - 5));
        assert!(!quoted(&late).contains("ann"), "also where the text is cut");
    }
}
