//! Conditions in words.

use api::models::{FilterCondition, FilterDimension, FilterLogic, FilterOperator};
use maud::{Markup, html};

use super::rows::shown;
use crate::web::dashboard::table::Table;

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

fn table(dimension: FilterDimension) -> Table {
    match dimension {
        FilterDimension::Query => Table::Queries,
        FilterDimension::Page => Table::Pages,
        FilterDimension::Country => Table::Countries,
        FilterDimension::Device => Table::Devices,
        FilterDimension::SearchAppearance => Table::Appearances,
    }
}

/// A condition with its dimension, as short as it can be.
pub fn said(condition: &FilterCondition) -> Markup {
    let table = table(condition.dimension);
    let way = if condition.operator == FilterOperator::Equals { "" } else { named(condition.operator).1 };
    html! {
        (table.row_name().to_lowercase()) " " (way) @if !way.is_empty() { " " }
        bdi { (shown(table, &condition.value)) }
    }
}

/// A condition whose dimension is known from what stands before it.
pub fn rule(operator: FilterOperator, value: &str) -> Markup {
    html! { (named(operator).1) " " bdi.quoted { (shown(Table::Queries, value)) } }
}

/// A condition with its dimension, as a part of a sentence.
pub fn clause(condition: &FilterCondition) -> Markup {
    html! {
        "the " (table(condition.dimension).row_name().to_lowercase()) " " (rule(condition.operator, &condition.value))
    }
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
