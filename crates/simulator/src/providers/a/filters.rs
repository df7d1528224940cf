//! Filters and orders of provider A.

use std::cmp::Ordering;

use regex::Regex;
use serde_json::Value;

use crate::providers::values::{comparable, order, same};

/// Conditions in one filter, at most.
const MOST: usize = 8;

/// A filter: a condition, or several with `and` and `or` between them, taken from left to right.
#[derive(Debug)]
pub(super) enum Filters {
    Condition { field: String, operator: String, value: Value, pattern: Option<Regex> },
    Chain(Vec<(bool, Filters)>),
}

const OPERATORS: [&str; 14] =
    ["=", "<>", "<", "<=", ">", ">=", "in", "not_in", "like", "not_like", "ilike", "not_ilike", "regex", "not_regex"];

/// The value at a path such as `keyword_info.search_volume`.
fn at<'a>(row: &'a Value, field: &str) -> Option<&'a Value> {
    field.split('.').try_fold(row, |value, step| value.get(step))
}

/// A pattern in which `%` stands for any text, as a regular expression.
fn like(pattern: &str) -> String {
    format!("(?s)^{}$", pattern.split('%').map(regex::escape).collect::<Vec<_>>().join(".*"))
}

impl Filters {
    /// Parses a filter, or returns `None` if it is not one.
    pub fn parse(value: &Value) -> Option<Self> {
        Self::nested(value).filter(|filter| filter.conditions() <= MOST)
    }

    fn nested(value: &Value) -> Option<Self> {
        let parts = value.as_array()?;
        if let [Value::String(field), Value::String(operator), value] = parts.as_slice() {
            return Self::condition(field, operator, value);
        }
        let mut chain = vec![(true, Self::nested(parts.first()?)?)];
        for pair in parts[1..].chunks(2) {
            let [Value::String(word), part] = pair else { return None };
            let and = match word.as_str() {
                "and" => true,
                "or" => false,
                _ => return None,
            };
            chain.push((and, Self::nested(part)?));
        }
        Some(Self::Chain(chain))
    }

    fn condition(field: &str, operator: &str, value: &Value) -> Option<Self> {
        let known = OPERATORS.contains(&operator);
        let text = value.as_str();
        let pattern = match operator.trim_start_matches("not_") {
            "like" => Some(Regex::new(&like(text?)).ok()?),
            "ilike" => Some(Regex::new(&format!("(?i){}", like(text?))).ok()?),
            "regex" => Some(Regex::new(text?).ok()?),
            "in" if !value.is_array() => return None,
            _ => None,
        };
        let (field, operator) = (field.to_owned(), operator.to_owned());
        known.then(|| Self::Condition { field, operator, value: value.clone(), pattern })
    }

    fn conditions(&self) -> usize {
        match self {
            Self::Condition { .. } => 1,
            Self::Chain(chain) => chain.iter().map(|(_, part)| part.conditions()).sum(),
        }
    }

    /// Returns whether every field of the filter is one of `row`.
    pub fn knows(&self, row: &Value) -> bool {
        match self {
            Self::Condition { field, .. } => at(row, field).is_some(),
            Self::Chain(chain) => chain.iter().all(|(_, part)| part.knows(row)),
        }
    }

    /// Returns whether `row` passes.
    pub fn admits(&self, row: &Value) -> bool {
        match self {
            Self::Chain(chain) => {
                chain.iter().fold(
                    true,
                    |so_far, (and, part)| {
                        if *and { so_far && part.admits(row) } else { so_far || part.admits(row) }
                    },
                )
            }
            Self::Condition { field, operator, value, pattern } => {
                let found = at(row, field).unwrap_or(&Value::Null);
                let matches = || {
                    let text = found.as_str();
                    text.is_some_and(|text| pattern.as_ref().is_some_and(|pattern| pattern.is_match(text)))
                };
                let listed = || value.as_array().is_some_and(|list| list.iter().any(|item| same(item, found)));
                let compares = |wanted: fn(Ordering) -> bool| comparable(found, value) && wanted(order(found, value));
                match operator.as_str() {
                    "=" => same(found, value),
                    "<>" => !same(found, value),
                    "<" => compares(Ordering::is_lt),
                    "<=" => compares(Ordering::is_le),
                    ">" => compares(Ordering::is_gt),
                    ">=" => compares(Ordering::is_ge),
                    "in" => listed(),
                    "not_in" => !listed(),
                    operator if operator.starts_with("not_") => !matches(),
                    _ => matches(),
                }
            }
        }
    }
}

/// An order: up to three fields, each ascending or descending.
#[derive(Debug)]
pub(super) struct Order(Vec<(String, bool)>);

impl Order {
    /// Parses a list of `FIELD,asc` and `FIELD,desc`, or returns `None` if it is not one.
    pub fn parse(value: &Value) -> Option<Self> {
        let rules = value.as_array()?;
        let rule = |rule: &Value| {
            let (field, direction) = rule.as_str()?.split_once(',')?;
            match direction.trim() {
                "asc" => Some((field.trim().to_owned(), false)),
                "desc" => Some((field.trim().to_owned(), true)),
                _ => None,
            }
        };
        if !(1..=3).contains(&rules.len()) {
            return None;
        }
        rules.iter().map(rule).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Returns whether every field of the order is one of `row`.
    pub fn knows(&self, row: &Value) -> bool {
        self.0.iter().all(|(field, _)| at(row, field).is_some())
    }

    /// Sorts rows. Equal rows keep their order.
    pub fn sort(&self, rows: &mut [Value]) {
        rows.sort_by(|a, b| {
            let compare = |(field, descending): &(String, bool)| {
                let (a, b) = (at(a, field).unwrap_or(&Value::Null), at(b, field).unwrap_or(&Value::Null));
                if *descending { order(b, a) } else { order(a, b) }
            };
            self.0.iter().map(compare).fold(Ordering::Equal, Ordering::then)
        });
    }
}
