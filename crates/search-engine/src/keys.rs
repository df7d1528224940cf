//! Builds filters that select rows by key.

use super::wire::{Dimension, Filter, FilterOperator, MAX_EXPRESSION};

/// Characters around an alternation of keys.
const FRAME: usize = "^(?:)$".len();

/// Splits `keys` into the fewest filters that fit the expression limit. Each key matches exactly one. Escaping makes keys
/// longer, so a key that fills an expression alone gets an equality filter.
#[must_use]
pub fn any_of(dimension: Dimension, keys: &[String]) -> Vec<Filter> {
    let mut groups: Vec<(usize, Vec<&String>)> = Vec::new();
    for key in keys {
        let length = regex::escape(key).chars().count() + 1;
        match groups.last_mut() {
            Some((used, group)) if *used + length <= MAX_EXPRESSION => {
                *used += length;
                group.push(key);
            }
            _ => groups.push((FRAME + length, vec![key])),
        }
    }
    let filter = |(_, group): (usize, Vec<&String>)| match group.as_slice() {
        [one] => Filter { dimension, operator: FilterOperator::Equals, expression: (*one).clone() },
        many => Filter { dimension, operator: FilterOperator::IncludingRegex, expression: alternation(many) },
    };
    groups.into_iter().map(filter).collect()
}

/// The expression that matches exactly these texts.
#[must_use]
pub fn alternation(texts: &[impl AsRef<str>]) -> String {
    let escaped: Vec<String> = texts.iter().map(|text| regex::escape(text.as_ref())).collect();
    format!("^(?:{})$", escaped.join("|"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        // Each case compiles expressions of thousands of characters.
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_key_is_asked_for_once_within_the_longest_expression(
            keys in prop::collection::btree_set("[a-z.+*?() |\\\\é-]{1,600}", 0..50),
        ) {
            let keys: Vec<String> = keys.into_iter().collect();
            let filters = any_of(Dimension::Query, &keys);
            for filter in &filters {
                prop_assert!(filter.expression.chars().count() <= MAX_EXPRESSION);
            }
            for key in &keys {
                let satisfied = filters.iter().filter(|filter| match filter.operator {
                    FilterOperator::Equals => filter.expression == *key,
                    _ => regex::Regex::new(&filter.expression).unwrap().is_match(key),
                });
                prop_assert_eq!(satisfied.count(), 1);
            }
        }
    }

    #[test]
    fn the_longest_key_fits() {
        let filters = any_of(Dimension::Page, &["+".repeat(2_048), "a".to_owned()]);
        assert_eq!(filters.iter().map(|filter| filter.operator).collect::<Vec<_>>(), [FilterOperator::Equals; 2]);
    }
}
