//! The expression that matches branded queries.
//!
//! A term matches between boundaries (the start, the end, or any character that is neither a letter nor a digit), ignoring
//! case. A run of punctuation or spaces inside a term matches any such run or none, so that `blue-widget` finds `blue
//! widget` and `bluewidget`, but `acme` does not find `acmeology`.

use unicode_normalization::UnicodeNormalization as _;

use super::wire::MAX_EXPRESSION;

/// The RE2 expression that finds nothing: the branded queries of a property without branded keywords.
pub const NOTHING: &str = r"[^\x00-\x{10FFFF}]";

/// Returns the RE2 expression that finds any of `terms`. Returns `None` if no term has a letter or digit, or if the
/// expression exceeds the search engine's limit.
#[must_use]
pub fn expression(terms: &[impl AsRef<str>]) -> Option<String> {
    let alternatives: Vec<String> = terms.iter().filter_map(|term| alternative(term.as_ref())).collect();
    let whole = format!(r"(?i:(?:^|[^\p{{L}}\p{{N}}])(?:{})(?:$|[^\p{{L}}\p{{N}}]))", alternatives.join("|"));
    (!alternatives.is_empty() && whole.chars().count() <= MAX_EXPRESSION).then_some(whole)
}

fn alternative(term: &str) -> Option<String> {
    // A combining mark is neither a letter nor a digit.
    let term: String = term.nfc().collect();
    let words: Vec<String> =
        term.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(regex::escape).collect();
    (!words.is_empty()).then(|| words.join(r"[^\p{L}\p{N}]*"))
}

#[cfg(test)]
mod tests {
    use analytics::brand_suggestions::{finds, words};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Compiling an expression takes long.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn suggestions_find_what_the_expression_finds(term in "[aé1 -]{1,5}", query in "[aÉ1 -]{0,9}") {
            let Some(expression) = expression(&[&term]) else { return Ok(()) };
            let found = regex::Regex::new(&expression).unwrap().is_match(&query);
            prop_assert_eq!(finds(&words(&term), &words(&query)), found);
        }
    }

    #[test]
    fn terms_match_between_boundaries() {
        let found = regex::Regex::new(&expression(&["Acme", "blue-widget"]).unwrap()).unwrap();
        for branded in ["acme", "ACME shoes", "buy acme.com", "my blue widget", "bluewidget", "blue - widget x"] {
            assert!(found.is_match(branded), "{branded}");
        }
        for other in ["acmeology", "macme", "blue widgets", "blues widget"] {
            assert!(!found.is_match(other), "{other}");
        }
    }

    #[test]
    fn a_term_finds_composed_queries_however_its_letters_are_written() {
        for term in ["cafe\u{301}", "caf\u{e9}"] {
            let found = regex::Regex::new(&expression(&[term]).unwrap()).unwrap();
            assert!(found.is_match("the caf\u{e9} menu") && !found.is_match("the cafe menu"), "{term:?}");
        }
    }

    #[test]
    fn metacharacters_are_literal_and_empty_terms_are_nothing() {
        assert_eq!(expression(&["!!"]), None);
        assert_eq!(expression(&[""; 0]), None);
        let found = regex::Regex::new(&expression(&["c++ (acme)"]).unwrap()).unwrap();
        assert!(found.is_match("c acme") && !found.is_match("cc acmes"));
    }

    #[test]
    fn nothing_is_found_without_terms() {
        let found = regex::Regex::new(NOTHING).unwrap();
        assert!(["", "acme", "\n", "\u{10FFFF}", "\0"].iter().all(|query| !found.is_match(query)));
    }

    #[test]
    fn a_list_too_long_for_the_search_engine_has_no_expression() {
        let terms: Vec<String> = (0..600).map(|n| format!("brandname{n}")).collect();
        assert_eq!(expression(&terms), None);
    }
}
