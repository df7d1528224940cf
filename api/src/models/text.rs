//! Names, and the patterns of other short texts. A validator accepts only a literal, so each field of another text repeats its
//! pattern; a test of the document compares them.
//!
//! Displayed text must look like what it is. Names, texts and keywords contain no control characters and none that change the
//! direction of text (U+202A to U+202E, U+2066 to U+2069). Other characters without a glyph, such as joiners, need a
//! visible one beside them. [`fits`] decides, by the tables of Unicode. The patterns say of it what a regular expression can say that
//! engines with and without characters beyond U+FFFF read alike.

use std::{borrow::Cow, ops::Deref};

use common::{
    mail_address::is_visible,
    plain_text::{is_line, is_seen, is_turned},
};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde_json::Value;

use crate::shape::matches;

/// The pattern of a name: at least one visible character, no control characters, none that change the direction of text.
pub const NAME_PATTERN: &str = r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0][^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$";

/// The pattern of a name in words.
pub const NAME_IN_WORDS: &str =
    "must hold a visible character, no control characters and none that turn the direction of text";

/// A longer text: like a name, but tabs and line breaks are allowed.
pub const TEXT_PATTERN: &str = r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*[^\s\x00-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0][^\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$";

/// A colour.
pub const COLOR_PATTERN: &str = "^#[0-9A-Fa-f]{6}$";

/// One e-mail address and nothing around it, checked loosely: only a sign-in proves that it exists.
pub const EMAIL_PATTERN: &str = r#"^[^\s@\x00",:;<>()\[\]\\]+@[^\s@\x00",:;<>()\[\]\\]+\.[^\s@\x00",:;<>()\[\]\\.]+$"#;

/// A branded keyword: at least one letter or digit, no control characters, none that change the direction of text.
pub const KEYWORD_PATTERN: &str = r"^[^\x00-\x1F\x7F]*[0-9A-Za-z\u00AA-\U0010FFFF][^\x00-\x1F\x7F]*$";

/// The value of a condition: anything that a database keeps.
pub const VALUE_PATTERN: &str = r"^[^\x00]+$";

/// Returns true if `text` is what the pattern of its field stands for.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    match pattern {
        NAME_PATTERN => is_name(text),
        TEXT_PATTERN => is_name(&text.replace(['\t', '\n', '\r'], " ")),
        KEYWORD_PATTERN => is_line(text) && !is_turned(text) && text.chars().any(char::is_alphanumeric),
        EMAIL_PATTERN => matches(pattern, text) && is_visible(text),
        other => matches(other, text),
    }
}

/// Returns true if `text` may be displayed as a name.
fn is_name(text: &str) -> bool {
    is_line(text) && !is_turned(text) && is_seen(text)
}

/// A name. Each field states the maximum length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Type for Name {
    const IS_REQUIRED: bool = true;

    type RawElementValueType = String;
    type RawValueType = String;

    fn name() -> Cow<'static, str> {
        String::name()
    }

    fn schema_ref() -> MetaSchemaRef {
        let pattern = Some(NAME_PATTERN.to_owned());
        String::schema_ref().merge(MetaSchema { min_length: Some(1), pattern, ..MetaSchema::ANY })
    }

    fn as_raw_value(&self) -> Option<&String> {
        Some(&self.0)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a String> + 'a> {
        self.0.raw_element_iter()
    }
}

impl ToJSON for Name {
    fn to_json(&self) -> Option<Value> {
        self.0.to_json()
    }
}

impl ParseFromJSON for Name {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        let text = String::parse_from_json(value).map_err(ParseError::propagate)?;
        if is_name(&text) { Ok(Self(text)) } else { Err(ParseError::custom(NAME_IN_WORDS)) }
    }
}
