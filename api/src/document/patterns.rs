//! Patterns in the part of regular expressions that ECMA-262, Ruby, PCRE, Go and Java read alike, which is ASCII. Some of these engines
//! know no `\u`, others compare bytes. The pattern with characters beyond ASCII stands beside, as `x-pattern`.

use serde_json::{Value, json};

use super::each_object;
use crate::models::{KEYWORD_PATTERN, NAME_PATTERN, TEXT_PATTERN};

/// The patterns of the models, and what of them every engine reads alike.
const PORTABLE: [(&str, &str); 3] = [
    (NAME_PATTERN, r"^[^\x00-\x1F\x7F]*[^\x00-\x20\x7F][^\x00-\x1F\x7F]*$"),
    (TEXT_PATTERN, r"^[^\x00-\x08\x0B\x0C\x0E-\x1F\x7F]*[^\x00-\x20\x7F][^\x00-\x08\x0B\x0C\x0E-\x1F\x7F]*$"),
    (KEYWORD_PATTERN, r"^[^\x00-\x1F\x7F]+$"),
];

/// Writes the patterns that clients can use.
pub fn make_portable(document: &mut Value) {
    each_object(document, &mut |schema| {
        let Some(exact) = schema.get("pattern").and_then(Value::as_str).map(str::to_owned) else { return };
        if let Some((_, portable)) = PORTABLE.iter().find(|(pattern, _)| *pattern == exact) {
            schema.insert("pattern".to_owned(), json!(portable));
            // To engines of ECMAScript a character beyond U+FFFF is two of those below it.
            schema.insert("x-pattern".to_owned(), json!(exact.replace(r"\U0010FFFF", r"\uFFFF")));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{models::fits, shape::matches};

    #[test]
    fn what_the_service_takes_fits_the_pattern_of_clients() {
        for text in ["Größe", "שלום", "a", " a ", "a\u{a0}b", "🙂", "𝒜", "x\ty", "x\ny", "", " ", "\u{7f}", "a\u{1}"]
        {
            for (exact, portable) in PORTABLE {
                assert!(!fits(exact, text) || matches(portable, text), "{text:?} {exact}");
            }
        }
        for (_, portable) in PORTABLE {
            assert!(portable.is_ascii() && !portable.contains("\\u") && !portable.contains("\\p"), "{portable}");
        }
    }

    #[test]
    fn no_pattern_of_the_document_is_beyond_ascii() {
        let mut document = super::super::document(&super::super::Locations::relative());
        each_object(&mut document, &mut |schema| {
            let pattern = schema.get("pattern").and_then(Value::as_str).unwrap_or_default();
            assert!(pattern.is_ascii() && !pattern.contains("\\u"), "{pattern}");
        });
    }
}
