//! Patterns of short texts. A validator accepts only a literal, so each field repeats its pattern; a test of the
//! document compares them.
//!
//! Displayed text must look like what it is. Names and texts contain no control characters and none that change the
//! direction of text (U+202A to U+202E, U+2066 to U+2069). Other characters without a glyph, such as joiners, need a
//! visible one beside them.

/// A name: at least one visible character, no control characters, none that change the direction of text.
pub const NAME_PATTERN: &str = r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0][^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$";

/// A longer text: like a name, but tabs and line breaks are allowed.
pub const TEXT_PATTERN: &str = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0][^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$";

/// A colour.
pub const COLOR_PATTERN: &str = "^#[0-9A-Fa-f]{6}$";

/// An e-mail address, checked loosely: only a sign-in proves that it exists.
pub const EMAIL_PATTERN: &str = r"^[^\s@\x00]+@[^\s@\x00]+\.[^\s@\x00]+$";

/// A branded keyword: at least one letter or digit, and no control characters.
pub const KEYWORD_PATTERN: &str = r"^[^\x00-\x1F\x7F]*[0-9A-Za-z\u00AA-\uFFFF][^\x00-\x1F\x7F]*$";

/// The value of a condition: anything that a database keeps.
pub const VALUE_PATTERN: &str = r"^[^\x00]+$";

/// Returns true if `text` may be displayed as a name.
#[must_use]
pub fn is_name(text: &str) -> bool {
    crate::shape::matches(NAME_PATTERN, text)
}
