//! The values of conditions: lists, and comparison with the names of a finite list.

use api::models::{FilterCondition, FilterOperator as Operator};
use regex::RegexBuilder;

/// The values of an `or_list`, split on commas. `\,` is a comma inside a value. Values are trimmed, and empty ones dropped.
#[must_use]
pub fn list_items(value: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut characters = value.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, characters.peek()) {
            ('\\', Some(',')) => {
                characters.next();
                push(&mut items, ',');
            }
            (',', _) => items.push(String::new()),
            _ => push(&mut items, c),
        }
    }
    items.iter().map(|item| item.trim().to_owned()).filter(|item| !item.is_empty()).collect()
}

fn push(items: &mut [String], c: char) {
    if let Some(item) = items.last_mut() {
        item.push(c);
    }
}

/// Returns the test of the names that a condition selects or, if it is `not_contains`, excludes. Case is ignored. The operators are
/// evaluated here, because the search engine documents neither regular expressions nor parts of names on these dimensions.
#[must_use]
pub fn names(condition: &FilterCondition) -> Box<dyn Fn(&str) -> bool> {
    let folded = condition.value.to_lowercase();
    match condition.operator {
        Operator::Contains | Operator::NotContains => Box::new(move |name| name.to_lowercase().contains(&folded)),
        Operator::Equals => Box::new(move |name| name.to_lowercase() == folded),
        Operator::OrList => {
            let items = list_items(&folded);
            Box::new(move |name| items.contains(&name.to_lowercase()))
        }
        Operator::MatchesRegex => {
            let expression = compile(&format!("(?i:{})", condition.value));
            Box::new(move |name| expression.as_ref().is_ok_and(|expression| expression.is_match(name)))
        }
    }
}

/// Compiles an expression within size limits that keep a malicious one cheap.
fn compile(pattern: &str) -> Result<regex::Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(1 << 20).dfa_size_limit(1 << 20).nest_limit(50).build()
}

#[cfg(test)]
mod tests {
    use api::models::Dimension;

    use super::*;

    #[test]
    fn lists_split_on_commas_that_are_not_escaped() {
        assert_eq!(list_items(r"a, b\,c ,,d"), ["a", "b,c", "d"]);
        assert!(list_items(" , ,").is_empty());
        assert_eq!(list_items(r"a\b"), [r"a\b"]);
    }

    #[test]
    fn every_operator_is_compared_with_names_ignoring_case() {
        let table = [
            (Operator::Contains, "snip", &["PRODUCT_SNIPPETS", "REVIEW_SNIPPET"][..]),
            (Operator::NotContains, "snip", &["PRODUCT_SNIPPETS", "REVIEW_SNIPPET"]),
            (Operator::Equals, "video", &["VIDEO"]),
            (Operator::OrList, "video, Review_Snippet,none", &["REVIEW_SNIPPET", "VIDEO"]),
            (Operator::MatchesRegex, "^p|o$", &["PRODUCT_SNIPPETS", "VIDEO"]),
            (Operator::Contains, "none", &[]),
        ];
        for (operator, value, expected) in table {
            let dimension = Dimension::SearchAppearance;
            let holds = names(&FilterCondition { dimension, operator, value: value.to_owned(), logic: None });
            let found: Vec<&str> =
                ["PRODUCT_SNIPPETS", "REVIEW_SNIPPET", "VIDEO"].into_iter().filter(|name| holds(name)).collect();
            assert_eq!(found, expected, "{operator:?} {value}");
        }
    }
}
