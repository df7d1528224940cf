//! Conditions on a text (query or page) that one filter can require or exclude: the text satisfies any of some alternatives.

use std::collections::BTreeSet;

use api::models::{FilterCondition, FilterOperator as Operator};

use super::spelling::spellings;
use crate::{
    keys::alternation,
    matching::list_items,
    wire::{Dimension, Filter, FilterOperator, MAX_EXPRESSION},
};

/// One way to satisfy a clause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alternative {
    /// The text is this one.
    Exact(String),
    /// The text contains this one, ignoring case.
    Contains(String),
    /// The text matches this RE2 expression.
    Pattern(String),
}

impl Alternative {
    /// Returns whether every text that satisfies `self` contains what `other` looks for.
    fn contains(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(text) | Self::Contains(text), Self::Contains(part)) => {
                text.is_ascii() && text.to_ascii_lowercase().contains(&part.to_ascii_lowercase())
            }
            _ => false,
        }
    }

    /// The alternative as a part of a longer expression.
    fn part(&self) -> String {
        match self {
            Self::Exact(text) => format!("^(?:{})$", regex::escape(text)),
            Self::Contains(text) => format!("(?i:{})", regex::escape(text)),
            Self::Pattern(expression) => format!("(?:{expression})"),
        }
    }
}

/// The text satisfies at least one of these alternatives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clause(BTreeSet<Alternative>);

impl Clause {
    /// The clause that one expression makes.
    pub fn pattern(expression: &str) -> Self {
        Self([Alternative::Pattern(expression.to_owned())].into())
    }

    /// The clause of a condition, and whether the condition requires it.
    pub fn of(condition: &FilterCondition) -> (Self, bool) {
        let value = || vec![condition.value.clone()];
        let (values, alternative): (Vec<String>, fn(String) -> Alternative) = match condition.operator {
            Operator::Contains | Operator::NotContains => (value(), Alternative::Contains),
            Operator::Equals => (value(), Alternative::Exact),
            Operator::MatchesRegex => (value(), Alternative::Pattern),
            Operator::OrList => (list_items(&condition.value), Alternative::Exact),
        };
        let spellings = values.iter().flat_map(|value| spellings(condition, value));
        (Self(spellings.map(alternative).collect()), condition.operator != Operator::NotContains)
    }

    /// Either clause.
    pub fn or(&self, other: &Self) -> Self {
        Self(&self.0 | &other.0)
    }

    /// Returns whether every text that satisfies `self` is known to satisfy `other`.
    pub fn implies(&self, other: &Self) -> bool {
        self.0.iter().all(|alternative| other.follows_from(alternative))
    }

    /// The texts that can satisfy the clause, if it names them all.
    pub fn texts(&self) -> Option<BTreeSet<&str>> {
        let texts = self.0.iter().map(|alternative| match alternative {
            Alternative::Exact(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns whether `text` is known to satisfy the clause.
    pub fn holds_for(&self, text: &str) -> bool {
        self.follows_from(&Alternative::Exact(text.to_owned()))
    }

    fn follows_from(&self, alternative: &Alternative) -> bool {
        self.0.contains(alternative) || self.0.iter().any(|own| alternative.contains(own))
    }

    /// Filters that select the texts that satisfy the clause. Each list is one request, and the requests do not overlap. It is one
    /// list of one filter unless the expression would be too long.
    pub fn required(&self, dimension: Dimension) -> Vec<Vec<Filter>> {
        let chunks = self.chunks();
        let lists = (0..chunks.len()).map(|index| {
            let earlier = chunks[..index].iter().map(|chunk| filter(dimension, chunk, false));
            std::iter::once(filter(dimension, &chunks[index], true)).chain(earlier).collect()
        });
        lists.collect()
    }

    /// Filters that select the texts that do not satisfy the clause. All hold.
    pub fn excluded(&self, dimension: Dimension) -> Vec<Filter> {
        self.chunks().iter().map(|chunk| filter(dimension, chunk, false)).collect()
    }

    /// The alternatives in as few groups as fit the length of an expression. An alternative that fills an expression when it is
    /// escaped has its own group, which needs no escaping.
    fn chunks(&self) -> Vec<Vec<&Alternative>> {
        let mut chunks: Vec<(usize, Vec<&Alternative>)> = Vec::new();
        for alternative in &self.0 {
            let length = alternative.part().chars().count() + 1;
            match chunks.last_mut() {
                Some((used, chunk)) if *used + length <= MAX_EXPRESSION => {
                    *used += length;
                    chunk.push(alternative);
                }
                _ => chunks.push((length, vec![alternative])),
            }
        }
        chunks.into_iter().map(|(_, chunk)| chunk).collect()
    }
}

/// The filter that requires or excludes any of some alternatives.
fn filter(dimension: Dimension, alternatives: &[&Alternative], required: bool) -> Filter {
    use FilterOperator::{Contains, Equals, ExcludingRegex, IncludingRegex, NotContains, NotEquals};
    let (operators, expression) = match alternatives {
        [Alternative::Exact(text)] => ([Equals, NotEquals], text.clone()),
        [Alternative::Contains(text)] => ([Contains, NotContains], text.clone()),
        [Alternative::Pattern(expression)] => ([IncludingRegex, ExcludingRegex], expression.clone()),
        many => ([IncludingRegex, ExcludingRegex], joined(many)),
    };
    Filter { dimension, operator: operators[usize::from(!required)], expression }
}

/// The expression that matches any of some alternatives.
fn joined(alternatives: &[&Alternative]) -> String {
    let mut texts = Vec::new();
    let mut parts = Vec::new();
    for alternative in alternatives {
        match alternative {
            Alternative::Exact(text) => texts.push(text),
            other => parts.push(other.part()),
        }
    }
    if !texts.is_empty() {
        parts.insert(0, alternation(&texts));
    }
    parts.join("|")
}
