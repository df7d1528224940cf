//! Conditions as users write them, and the predicate of a question.

use api::models::{self, FilterCondition, FilterLogic, FilterOperator as Operator};
use common::plain_text::quoted;

pub use super::matching::list_items;
use super::{
    appearances::Appearances,
    countries, re2,
    wire::{Dimension, MAX_EXPRESSION},
};

/// The search engine's device names.
pub const DEVICES: [&str; 3] = ["DESKTOP", "MOBILE", "TABLET"];

/// One condition on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A condition from a filter, a segment or a topic cluster.
    Written(FilterCondition),
    /// The query matches the expression of the property's branded keywords.
    Branded(String),
    /// The query is not anonymised and does not match the expression.
    NonBranded(String),
}

impl Condition {
    /// The dimension that the condition tests.
    #[must_use]
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Branded(_) | Self::NonBranded(_) => Dimension::Query,
            Self::Written(condition) => condition.dimension.into(),
        }
    }
}

/// Conditions joined as in SQL, as alternatives of conditions that hold together: `a and b or c` is `[[a, b], [c]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression(pub Vec<Vec<Condition>>);

impl Expression {
    /// Groups a list of conditions. `logic` joins each condition to the one before it, and `and` binds tighter than `or`.
    /// The list must not be empty.
    #[must_use]
    pub fn of(conditions: &[FilterCondition]) -> Self {
        let mut alternatives: Vec<Vec<Condition>> = Vec::new();
        for condition in conditions {
            let written = Condition::Written(condition.clone());
            match alternatives.last_mut() {
                Some(run) if condition.logic.unwrap_or_default() == FilterLogic::And => run.push(written),
                _ => alternatives.push(vec![written]),
            }
        }
        Self(alternatives)
    }
}

/// A condition on the traffic.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Predicate {
    /// Expressions joined by AND: the classification and the filters, each in parentheses.
    pub expressions: Vec<Expression>,
    /// The number of the first expressions that are part of every question: those of a share link.
    pub kept: usize,
    /// The search appearances that conditions can select.
    pub appearances: Appearances,
}

impl Predicate {
    /// The predicate of some expressions, of which none is on search appearances.
    #[must_use]
    pub fn of(expressions: Vec<Expression>) -> Self {
        Self { expressions, ..Self::default() }
    }

    /// The predicate of the expressions that are part of every question.
    #[must_use]
    pub fn of_every_question(&self) -> Self {
        Self { expressions: self.expressions[..self.kept].to_vec(), ..self.clone() }
    }

    /// The written conditions on search appearances.
    pub fn on_appearances(&self) -> impl Iterator<Item = &FilterCondition> {
        self.conditions().filter_map(|condition| match condition {
            Condition::Written(written) if written.dimension == models::Dimension::SearchAppearance => Some(written),
            _ => None,
        })
    }

    /// Every condition in the predicate.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.expressions.iter().flat_map(|expression| expression.0.iter().flatten())
    }

    /// The dimensions that the conditions test.
    #[must_use]
    pub fn dimensions(&self) -> Vec<Dimension> {
        let mut found: Vec<_> = self.conditions().map(Condition::dimension).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns whether every upstream request must count by page, so that all numbers of a response use the same
    /// aggregation.
    #[must_use]
    pub fn forces_by_page(&self) -> bool {
        self.conditions().any(|c| matches!(c.dimension(), Dimension::Page | Dimension::SearchAppearance))
    }

    /// The predicate with every condition on the query replaced by true.
    #[must_use]
    pub fn without_queries(&self) -> Self {
        let (always, own) = self.expressions.split_at(self.kept);
        let kept = own.iter().map(|expression| {
            let runs = expression.0.iter();
            let stripped = runs.map(|run| run.iter().filter(|c| c.dimension() != Dimension::Query).cloned().collect());
            Expression(stripped.collect())
        });
        let kept = kept.filter(|expression: &Expression| expression.0.iter().all(|run| !run.is_empty()));
        Self { expressions: always.iter().cloned().chain(kept).collect(), ..self.clone() }
    }
}

/// Validates a condition. The error says what is allowed.
pub fn check(condition: &FilterCondition) -> Result<(), String> {
    let value = &condition.value;
    let values = match condition.operator {
        Operator::OrList => list_items(value),
        _ => vec![value.clone()],
    };
    if values.is_empty() {
        return Err("or_list needs at least one value between commas".to_owned());
    }
    let whole_values = matches!(condition.operator, Operator::Equals | Operator::OrList);
    let unknown = |known: &dyn Fn(&str) -> bool| values.iter().find(|v| whole_values && !known(v)).cloned();
    match condition.dimension {
        models::Dimension::Country => {
            if let Some(code) = unknown(&|code| countries::index_of(code).is_some()) {
                return Err(format!(
                    "unknown country {}; use ISO 3166-1 alpha-3 codes such as usa, or zzz for unknown",
                    quoted(&code)
                ));
            }
        }
        models::Dimension::Device => {
            if let Some(device) = unknown(&|device| DEVICES.contains(&device.to_ascii_uppercase().as_str())) {
                return Err(format!("unknown device {}; use DESKTOP, MOBILE or TABLET", quoted(&device)));
            }
        }
        models::Dimension::SearchAppearance => {
            let named = |name: &str| name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            if let Some(name) = unknown(&named) {
                return Err(format!(
                    "{} is not a search appearance; names are letters and underscores, such as VIDEO",
                    quoted(&name)
                ));
            }
        }
        _ => {}
    }
    if condition.operator == Operator::MatchesRegex { check_regex(value) } else { Ok(()) }
}

fn check_regex(pattern: &str) -> Result<(), String> {
    if pattern.len() > MAX_EXPRESSION {
        return Err(format!("the expression is longer than {MAX_EXPRESSION} characters"));
    }
    re2::check(pattern).map_err(|problem| format!("not an RE2 expression: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(dimension: models::Dimension, operator: Operator, value: &str) -> FilterCondition {
        FilterCondition { dimension, operator, value: value.to_owned(), logic: None }
    }

    #[test]
    fn what_means_nothing_is_refused() {
        use models::Dimension::{Country, Device, Query, SearchAppearance};
        let refused = [
            (Query, Operator::OrList, " , "),
            (Query, Operator::MatchesRegex, "("),
            (Query, Operator::MatchesRegex, r"(a)\1"),
            (Query, Operator::MatchesRegex, "a(?=b)"),
            (Country, Operator::Equals, "us"),
            (Country, Operator::OrList, "usa,atlantis"),
            (Device, Operator::Equals, "WATCH"),
            (Query, Operator::MatchesRegex, "(?x)a # b"),
            (SearchAppearance, Operator::MatchesRegex, "("),
            (SearchAppearance, Operator::Equals, "two words"),
            (SearchAppearance, Operator::OrList, "VIDEO,größe"),
        ];
        for (dimension, operator, value) in refused {
            assert!(check(&condition(dimension, operator, value)).is_err(), "{dimension:?} {operator:?} {value}");
        }
        assert!(check(&condition(Country, Operator::OrList, "USA, gbr")).is_ok());
        assert!(check(&condition(Country, Operator::Contains, "us")).is_ok());
    }

    #[test]
    fn a_refused_value_is_quoted_as_it_was_typed() {
        use models::Dimension::{Country, Device, SearchAppearance};
        for dimension in [Country, Device, SearchAppearance] {
            let said = check(&condition(dimension, Operator::Equals, "e\u{301}\\d\u{202e}\"s")).unwrap_err();
            // Invisible characters are left out, and quotation marks become single ones.
            assert!(said.contains("\"e\u{301}\\d's\""), "{said}");
        }
    }

    #[test]
    fn and_binds_tighter_than_or() {
        let or = |value: &str| FilterCondition {
            logic: Some(FilterLogic::Or),
            ..condition(models::Dimension::Query, Operator::Contains, value)
        };
        let and = |value: &str| condition(models::Dimension::Query, Operator::Contains, value);
        let sizes: Vec<usize> =
            Expression::of(&[and("a"), and("b"), or("c"), and("d"), or("e")]).0.iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 2, 1]);
    }
}
