//! Conditions in words.

use api::models::{Dimension, FilterCondition, FilterLogic, FilterOperator};
use common::names::{escapes::readable, pages::name_on};
use maud::{Markup, html};

use super::rows::cut;
use crate::web::dashboard::table;

/// The operators, each with its name in the API and in words.
pub const OPERATORS: [(FilterOperator, &str, &str); 5] = [
    (FilterOperator::Contains, "contains", "contains"),
    (FilterOperator::NotContains, "not_contains", "does not contain"),
    (FilterOperator::Equals, "equals", "is exactly"),
    (FilterOperator::OrList, "or_list", "is one of"),
    (FilterOperator::MatchesRegex, "matches_regex", "matches the expression"),
];

/// An operator in the API and in words.
pub fn named(operator: FilterOperator) -> (&'static str, &'static str) {
    let found = OPERATORS.into_iter().find(|(one, ..)| *one == operator);
    found.map_or(("", ""), |(_, name, words)| (name, words))
}

/// A condition on the numbers of a site with its dimension, as short as it can be.
pub fn said(condition: &FilterCondition, site: &str) -> Markup {
    let table = condition.dimension;
    let way = if condition.operator == FilterOperator::Equals { "" } else { named(condition.operator).1 };
    let value = if way.is_empty() && table == Dimension::Page {
        cut(&name_on(site, &condition.value))
    } else {
        shown(table, condition.operator, &condition.value)
    };
    html! {
        (table::row_name(table).to_lowercase()) " " (way) @if !way.is_empty() { " " }
        bdi dir=[direction(table)] { (value) }
    }
}

/// A condition on the rows of a table, which is known from what stands before it.
pub fn rule(table: Dimension, operator: FilterOperator, value: &str) -> Markup {
    quoted(table, operator, &shown(table, operator, value))
}

fn quoted(table: Dimension, operator: FilterOperator, value: &str) -> Markup {
    html! { (named(operator).1) " " bdi.quoted dir=[direction(table)] { (value) } }
}

/// The direction of a value: that of a URL is fixed.
fn direction(table: Dimension) -> Option<&'static str> {
    (table == Dimension::Page).then_some("ltr")
}

/// The value of a condition as people read it. Decoded, an expression would be another one.
fn shown(table: Dimension, operator: FilterOperator, value: &str) -> String {
    if table == Dimension::Page && operator != FilterOperator::MatchesRegex {
        cut(&readable(value))
    } else {
        cut(value)
    }
}

/// A condition with its dimension, as a part of a sentence.
pub fn clause(condition: &FilterCondition) -> Markup {
    let table = condition.dimension;
    html! { "the " (table::row_name(table).to_lowercase()) " " (rule(table, condition.operator, &condition.value)) }
}

/// The same for a program that asks the question again: it has the value as it is, whole.
pub fn raw_clause(condition: &FilterCondition) -> Markup {
    let table = condition.dimension;
    html! { "the " (table::row_name(table).to_lowercase()) " " (quoted(table, condition.operator, &condition.value)) }
}

/// Conditions as one sentence. A comma says that `and` binds tighter than `or`.
pub fn joined(conditions: impl Iterator<Item = (Option<FilterLogic>, Markup)>) -> Markup {
    html! {
        @for (index, (logic, words)) in conditions.enumerate() {
            @if index > 0 { (if logic == Some(FilterLogic::Or) { ", or " } else { " and " }) }
            (words)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(dimension: Dimension, operator: FilterOperator, value: &str) -> FilterCondition {
        FilterCondition { dimension, operator, value: value.to_owned(), logic: None }
    }

    #[test]
    fn values_are_decoded_for_people_unless_they_are_expressions_and_never_for_programs() {
        use Dimension::{Page, Query};
        use FilterOperator::{Contains, Equals, MatchesRegex};
        for (dimension, operator, value, chip, words, raw) in [
            (Page, Contains, "/%D7%A9", r#"page contains <bdi dir="ltr">/ש</bdi>"#, "/ש", "/%D7%A9"),
            (
                Page,
                Equals,
                "https://a.test/%D7%A9",
                r#"page <bdi dir="ltr">/ש</bdi>"#,
                "https://a.test/ש",
                "https://a.test/%D7%A9",
            ),
            (
                Page,
                MatchesRegex,
                "/%D7%A9(a|b)",
                r#"page matches the expression <bdi dir="ltr">/%D7%A9(a|b)</bdi>"#,
                "/%D7%A9(a|b)",
                "/%D7%A9(a|b)",
            ),
            (Query, Contains, "100%25", "query contains <bdi>100%25</bdi>", "100%25", "100%25"),
        ] {
            let condition = condition(dimension, operator, value);
            assert_eq!(said(&condition, "a.test").into_string(), chip);
            let direction = if dimension == Page { r#" dir="ltr""# } else { "" };
            for (drawn, value) in [(clause(&condition), words), (raw_clause(&condition), raw)] {
                let quoted = format!(r#"<bdi class="quoted"{direction}>{value}</bdi>"#);
                assert!(drawn.clone().into_string().ends_with(&quoted), "{}", drawn.into_string());
            }
        }
    }

    #[test]
    fn a_value_is_cut_for_people_only() {
        let long = condition(Dimension::Query, FilterOperator::Contains, &"é".repeat(1_000));
        let letters = |drawn: Markup| drawn.into_string().matches('é').count();
        assert!(letters(clause(&long)) < 1_000);
        assert_eq!(letters(raw_clause(&long)), 1_000);
    }
}
