//! The output of commands. Servers and strangers wrote parts of it, and a terminal obeys some characters.

use std::io::{ErrorKind, IsTerminal as _, Write as _, stderr, stdout};

use serde::Serialize;

/// Returns whether a terminal shows a character as it is, and in its place.
fn is_plain(c: char) -> bool {
    !(c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// `text` without characters that a terminal would obey or that change its order.
#[must_use]
pub fn plain(text: &str) -> String {
    text.chars().map(|c| if c == '\n' || is_plain(c) { c } else { '\u{fffd}' }).collect()
}

/// [`plain`], as one line.
#[must_use]
pub fn plain_line(text: &str) -> String {
    plain(text).replace('\n', "\u{fffd}")
}

/// `value` as JSON, with escapes for the characters that [`plain`] replaces.
///
/// # Errors
/// The value cannot be JSON.
pub fn json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string_pretty(value)?;
    // Such characters are in strings only, and none is beyond the basic plane.
    let escaped = |c: char| if c == '\n' || is_plain(c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
    Ok(text.chars().map(escaped).collect())
}

/// Prints a line on stdout. A reader who has enough, such as `head`, is no failure.
pub(super) fn say(text: &str) -> std::io::Result<()> {
    match writeln!(stdout(), "{}", plain(text.trim_end_matches('\n'))) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// The last line of a terminal, while something takes long. It is cleared at the end.
pub(super) struct Progress {
    on_terminal: bool,
}

impl Progress {
    /// Nothing is said yet.
    pub fn new() -> Self {
        Self { on_terminal: stderr().is_terminal() }
    }

    /// Replaces the line.
    pub fn say(&self, text: &str) {
        if self.on_terminal {
            eprint!("\r{}\x1b[K", plain_line(text));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.on_terminal {
            eprint!("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_replaced_in_text_and_escaped_in_json() {
        let hostile = "a\u{1b}[2J\u{7f}\u{9b}\u{61c}\u{200f}\u{202e}\u{2066}";
        assert_eq!(plain(&format!("{hostile}\nb")), "a\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\nb");
        assert_eq!(plain_line("a\nb"), "a\u{fffd}b");
        let text = json(&[hostile, "שלום é\n"]).unwrap();
        assert_eq!(plain(&text), text);
        assert_eq!(serde_json::from_str::<[String; 2]>(&text).unwrap(), [hostile, "שלום é\n"]);
    }
}
