//! Patterns of short texts. A validator takes only a literal, so the literals stand again at each field; a test of the
//! document keeps the two alike.
//!
//! What people are shown looks like what it is: control characters, and those that turn the direction of the text around them (U+202A
//! to U+202E, U+2066 to U+2069), stand in no name and no text. Other characters without a glyph, such as joiners, stand beside visible
//! ones.

/// A name: at least one visible character, no control characters, none that turn the direction of text.
pub const NAME_PATTERN: &str = r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0][^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$";

/// A longer text: the same, with tabs and line breaks.
pub const TEXT_PATTERN: &str = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0][^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$";

/// A colour.
pub const COLOR_PATTERN: &str = "^#[0-9A-Fa-f]{6}$";

/// An e-mail address, loosely: whether it exists shows when somebody signs in with it.
pub const EMAIL_PATTERN: &str = r"^[^\s@\x00]+@[^\s@\x00]+\.[^\s@\x00]+$";

/// A branded keyword: a letter or digit somewhere, and no control characters.
pub const KEYWORD_PATTERN: &str = r"^[^\x00-\x1F\x7F]*[0-9A-Za-z\u00AA-\uFFFF][^\x00-\x1F\x7F]*$";

/// Whether `text` may be shown as the name of something.
#[must_use]
pub fn is_name(text: &str) -> bool {
    crate::shape::matches(NAME_PATTERN, text)
}
