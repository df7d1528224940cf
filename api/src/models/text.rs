//! Patterns of short texts. A validator takes only a literal, so the literals stand again at each field; a test of the
//! document keeps the two alike.

/// A name: at least one visible character, no control characters.
pub const NAME_PATTERN: &str = r"^[^\x00-\x1F\x7F]*[^\s\x00-\x1F\x7F][^\x00-\x1F\x7F]*$";

/// A longer text: at least one visible character, line breaks allowed.
pub const TEXT_PATTERN: &str = r"^[^\x00]*[^\s\x00][^\x00]*$";

/// A colour.
pub const COLOR_PATTERN: &str = "^#[0-9A-Fa-f]{6}$";

/// An e-mail address, loosely: whether it exists shows when somebody signs in with it.
pub const EMAIL_PATTERN: &str = r"^[^\s@\x00]+@[^\s@\x00]+\.[^\s@\x00]+$";

/// A branded keyword: a letter or digit somewhere, and no control characters.
pub const KEYWORD_PATTERN: &str = r"^[^\x00-\x1F\x7F]*[0-9A-Za-z\u00AA-\uFFFF][^\x00-\x1F\x7F]*$";
