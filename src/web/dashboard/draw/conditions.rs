//! Conditions in words.

use api::models::{FilterCondition, FilterDimension, FilterLogic, FilterOperator};
use common::names::{escapes::readable, pages::name_on};
use maud::{Markup, html};

use super::rows::cut;
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

/// A condition on the numbers of a site with its dimension, as short as it can be.
pub fn said(condition: &FilterCondition, site: &str) -> Markup {
    let table = table(condition.dimension);
    let way = if condition.operator == FilterOperator::Equals { "" } else { named(condition.operator).1 };
    html! {
        (table.row_name().to_lowercase()) " " (way) @if !way.is_empty() { " " }
        bdi {
            @if way.is_empty() && table == Table::Pages { (cut(&name_on(site, &condition.value))) }
            @else { (shown(table, &condition.value)) }
        }
    }
}

/// A condition on the rows of a table, which is known from what stands before it.
pub fn rule(table: Table, operator: FilterOperator, value: &str) -> Markup {
    html! { (named(operator).1) " " bdi.quoted { (shown(table, value)) } }
}

/// The value of a condition as people read it.
fn shown(table: Table, value: &str) -> String {
    if table == Table::Pages { cut(&readable(value)) } else { cut(value) }
}

/// A condition with its dimension, as a part of a sentence.
pub fn clause(condition: &FilterCondition) -> Markup {
    let table = table(condition.dimension);
    html! { "the " (table.row_name().to_lowercase()) " " (rule(table, condition.operator, &condition.value)) }
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
