//! The only way out of a command. Servers, databases and strangers wrote parts of what a command prints, and a terminal obeys some
//! characters. So a command prints [`Text`] alone, whose lines are clean, by `say`, [`note`] or `Progress`; Clippy refuses other ways.

use std::{
    fmt::{self, Display},
    io::{self, ErrorKind, IsTerminal as _, Stderr, Stdout, Write as _},
};

use serde::Serialize;
use telemetry::logs;
use unicode_width::UnicodeWidthStr as _;

/// The most columns of a cell of a table, and of a name in a sentence.
const WIDEST: usize = 200;

/// The most characters of a column. Marks are above or below others, and take none.
const IN_A_COLUMN: usize = 4;

/// Returns whether a terminal shows a character as it is, and in its place.
fn is_plain(c: char) -> bool {
    !(c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// Returns one line without characters that a terminal would obey or that change its order.
fn line(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '\u{fffd}' }).collect()
}

/// Returns a name as a cell of a table or a sentence holds it: one clean line of at most 200 columns.
#[must_use]
pub fn short(text: &str) -> String {
    cut(&line(text), WIDEST)
}

/// Returns a text of at most so many columns of a terminal, the last one `…` if it had more. A character of Chinese, Japanese or Korean takes
/// two columns, and a mark none.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    let longest = most * IN_A_COLUMN;
    if text.chars().nth(longest).is_none() && text.width() <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars().take(longest) {
        kept.push(letter);
        if kept.width() >= most {
            kept.pop();
            break;
        }
    }
    kept.push('…');
    kept
}

/// The output of a command. Each line is cleaned when it is added, so that no text in a line begins another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text(Vec<String>);

impl Text {
    /// One line.
    #[must_use]
    pub fn line(text: impl Display) -> Self {
        Self::default().and(text)
    }

    /// Lines that this program wrote, or JSON of [`json`].
    #[must_use]
    pub fn own(text: &str) -> Self {
        Self(text.lines().map(line).collect())
    }

    /// The same text with one more line.
    #[must_use]
    pub fn and(mut self, text: impl Display) -> Self {
        self.0.push(line(&text.to_string()));
        self
    }

    /// The same text with another one below.
    #[must_use]
    pub fn above(mut self, below: Self) -> Self {
        self.0.extend(below.0);
        self
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

/// `value` as JSON, with escapes for the characters that a [`Text`] replaces.
///
/// # Errors
/// The value cannot be JSON.
pub fn json(value: &impl Serialize) -> Result<Text, serde_json::Error> {
    let text = serde_json::to_string_pretty(value)?;
    // Such characters are in strings only, and none is beyond the basic plane.
    let escaped = |c: char| if c == '\n' || is_plain(c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) };
    Ok(Text::own(&text.chars().map(escaped).collect::<String>()))
}

/// Prints a text on stdout. A reader who has enough, such as `head`, is no failure.
pub(super) fn say(text: &Text) -> io::Result<()> {
    match writeln!(stdout(), "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

/// Prints a text on stderr, for the person and not for a program that reads the output.
pub fn note(text: &Text) {
    // There is no other place to say that stderr is closed.
    let _ = writeln!(stderr(), "{text}");
}

/// Returns whether a person reads stdout.
pub(super) fn is_read() -> bool {
    stdout().is_terminal()
}

/// Returns whether a person reads stderr.
pub(super) fn is_watched() -> bool {
    stderr().is_terminal()
}

#[expect(clippy::disallowed_methods, reason = "this is the way out")]
fn stdout() -> Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "this is the way out")]
fn stderr() -> Stderr {
    io::stderr()
}

/// The last line of a terminal, while something takes long. It is cleared at the end.
pub(super) struct Progress {
    on_terminal: bool,
}

impl Progress {
    /// Nothing is said yet. A terminal that obeys no escape sequences could not clear the line.
    pub fn new() -> Self {
        Self { on_terminal: is_watched() && logs::takes_escapes() }
    }

    /// Replaces the line.
    pub fn say(&self, text: &str) {
        if self.on_terminal {
            let _ = write!(stderr(), "\r{}\x1b[K", short(text));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.on_terminal {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ESC, OSC, DEL, C1, marks of direction, and separators of lines.
    const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;x\u{7}\u{7f}\u{9b}\u{61c}\u{200f}\u{202e}\u{2066}\r\u{2028}";

    #[test]
    fn what_a_terminal_would_obey_is_replaced_in_text_and_escaped_in_json() {
        let clean = "a\u{fffd}[2J\u{fffd}]0;x\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}";
        assert_eq!(Text::line(HOSTILE).and("b\nc").to_string(), format!("{clean}\nb\u{fffd}c"));
        assert_eq!(Text::own(&format!("{HOSTILE}\nb\n")).to_string(), format!("{clean}\nb"));
        let printed = json(&[HOSTILE, "שלום é\n"]).unwrap().to_string();
        assert_eq!(serde_json::from_str::<[String; 2]>(&printed).unwrap(), [HOSTILE, "שלום é\n"]);
        assert!(!printed.contains('\u{fffd}') && printed.lines().count() == 4, "{printed}");
    }

    #[test]
    fn a_text_is_cut_by_columns_and_not_by_characters() {
        for (text, cut_to_five) in [
            ("abcde", "abcde"),
            ("abcdef", "abcd…"),
            ("检索词", "检索…"),
            ("a检索词", "a检…"),
            ("检索", "检索"),
            ("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}"),
            ("e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}x", "e\u{301}e\u{301}e\u{301}e\u{301}…"),
            ("ｗｉｄｅ", "ｗｉ…"),
        ] {
            assert_eq!(cut(text, 5), cut_to_five);
        }
        let marks = format!("e{}", "\u{301}".repeat(70_000));
        assert_eq!(cut(&marks, 5).chars().count(), 21, "marks without end are cut as well");
    }

    #[test]
    fn a_name_is_one_line_of_200_columns() {
        assert_eq!(short("a\nb"), "a\u{fffd}b");
        assert_eq!(short(&"é".repeat(200)), "é".repeat(200));
        assert_eq!(short(&"é".repeat(70_000)), format!("{}…", "é".repeat(199)));
    }
}
