//! Conditions joined by AND, in a form that can be intersected and sometimes merged.

use std::collections::BTreeSet;

use api::models::{FilterCondition, FilterDimension, FilterOperator as Operator};

use super::{
    countries::COUNTRIES,
    filter::{Condition, DEVICES, compile, list_items},
    keys::alternation,
    wire::{Dimension, Filter, FilterOperator, MAX_EXPRESSION},
};

/// The selected values of a dimension that partitions the traffic (country, device).
#[derive(Debug, Clone, PartialEq, Eq)]
enum Values {
    /// Only these values.
    Only(BTreeSet<usize>),
    /// All values except these, including values that are not known here.
    AllBut(BTreeSet<usize>),
}

/// A condition on query or page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Literal {
    operator: FilterOperator,
    expression: String,
}

/// Conditions joined by AND. No contradiction between them is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conjunct {
    query: BTreeSet<Literal>,
    page: BTreeSet<Literal>,
    countries: Values,
    devices: Values,
    appearances: BTreeSet<String>,
}

impl Values {
    fn all() -> Self {
        Self::AllBut(BTreeSet::new())
    }

    fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Only(a), Self::Only(b)) => Self::Only(a & b),
            (Self::Only(a), Self::AllBut(b)) | (Self::AllBut(b), Self::Only(a)) => Self::Only(a - b),
            (Self::AllBut(a), Self::AllBut(b)) => Self::AllBut(a | b),
        }
    }

    fn union(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Only(a), Self::Only(b)) => Self::Only(a | b),
            (Self::Only(a), Self::AllBut(b)) | (Self::AllBut(b), Self::Only(a)) => Self::AllBut(b - a),
            (Self::AllBut(a), Self::AllBut(b)) => Self::AllBut(a & b),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Only(values) if values.is_empty())
    }

    fn covers(&self, other: &Self) -> bool {
        self.union(other) == *self
    }

    /// Filters whose results add up to these values. Few values take one request each. Otherwise one request excludes all
    /// others, which is exact because the tables of known values are complete.
    fn requests(&self, dimension: Dimension, names: &[&str], room: usize) -> Vec<Vec<Filter>> {
        let filter = |operator, index: usize| Filter { dimension, operator, expression: names[index].to_owned() };
        let all_but = |excluded: &mut dyn Iterator<Item = usize>| {
            vec![excluded.map(|index| filter(FilterOperator::NotEquals, index)).collect::<Vec<_>>()]
        };
        match self {
            Self::AllBut(excluded) => all_but(&mut excluded.iter().copied()),
            Self::Only(values) if values.len() <= room.min(3) => {
                values.iter().map(|index| vec![filter(FilterOperator::Equals, *index)]).collect()
            }
            Self::Only(values) => all_but(&mut (0..names.len()).filter(|index| !values.contains(index))),
        }
    }
}

impl Conjunct {
    /// No condition at all.
    #[must_use]
    pub fn anything() -> Self {
        Self {
            query: BTreeSet::new(),
            page: BTreeSet::new(),
            countries: Values::all(),
            devices: Values::all(),
            appearances: BTreeSet::new(),
        }
    }

    /// Returns the alternatives that together express all of `conditions`. The list is empty if
    /// they contradict each other. Returns `None` if more than `room` are needed.
    #[must_use]
    pub fn all_of(conditions: &[Condition], room: usize) -> Option<Vec<Self>> {
        conditions
            .iter()
            .try_fold(vec![Self::anything()], |so_far, condition| both(&so_far, &Self::one(condition), room))
    }

    /// Returns the conjunction of both, or `None` if they contradict each other.
    #[must_use]
    pub fn and(&self, other: &Self) -> Option<Self> {
        let both = Self {
            query: &self.query | &other.query,
            page: &self.page | &other.page,
            countries: self.countries.intersection(&other.countries),
            devices: self.devices.intersection(&other.devices),
            appearances: &self.appearances | &other.appearances,
        };
        let possible = !both.countries.is_empty() && !both.devices.is_empty();
        (possible && !contradicts(&both.query) && !contradicts(&both.page)).then_some(both)
    }

    /// Returns the disjunction of both if one conjunct can express it: one covers the other, or they differ in a single
    /// dimension whose alternatives can be merged.
    #[must_use]
    pub fn or(&self, other: &Self) -> Option<Self> {
        if self.covers(other) {
            return Some(self.clone());
        }
        if other.covers(self) {
            return Some(other.clone());
        }
        let united = [
            Self { countries: self.countries.union(&other.countries), ..self.clone() },
            Self { devices: self.devices.union(&other.devices), ..self.clone() },
        ];
        let same_but = |a: &Self| a.query == other.query && a.page == other.page && a.appearances == other.appearances;
        if same_but(self) && self.devices == other.devices {
            return united.into_iter().next();
        }
        if same_but(self) && self.countries == other.countries {
            return united.into_iter().nth(1);
        }
        let elsewhere_same =
            self.countries == other.countries && self.devices == other.devices && self.appearances == other.appearances;
        if elsewhere_same && self.page == other.page {
            return Some(Self { query: either(&self.query, &other.query)?, ..self.clone() });
        }
        if elsewhere_same && self.query == other.query {
            return Some(Self { page: either(&self.page, &other.page)?, ..self.clone() });
        }
        None
    }

    /// Returns whether every row that satisfies `other` is known to satisfy `self`.
    fn covers(&self, other: &Self) -> bool {
        self.query.is_subset(&other.query)
            && self.page.is_subset(&other.page)
            && self.appearances.is_subset(&other.appearances)
            && self.countries.covers(&other.countries)
            && self.devices.covers(&other.devices)
    }

    /// Returns requests whose results add up to this conjunct, or `None` if more than `room` are needed.
    #[must_use]
    pub fn requests(&self, room: usize) -> Option<Vec<Vec<Filter>>> {
        let codes: Vec<&str> = COUNTRIES.iter().map(|(code, _)| *code).collect();
        let text = |dimension, literals: &BTreeSet<Literal>| -> Vec<Filter> {
            let filters = literals.iter().cloned();
            filters.map(|l| Filter { dimension, operator: l.operator, expression: l.expression }).collect()
        };
        let mut common = text(Dimension::Query, &self.query);
        common.extend(text(Dimension::Page, &self.page));
        common.extend(self.appearances.iter().map(|name| Filter {
            dimension: Dimension::SearchAppearance,
            operator: FilterOperator::Equals,
            expression: name.clone(),
        }));
        let devices = self.devices.requests(Dimension::Device, &DEVICES, room);
        let countries = self.countries.requests(Dimension::Country, &codes, room / devices.len().max(1));
        let requests: Vec<Vec<Filter>> = countries
            .iter()
            .flat_map(|country| devices.iter().map(move |device| (country, device)))
            .map(|(country, device)| common.iter().chain(country).chain(device).cloned().collect())
            .collect();
        (requests.len() <= room).then_some(requests)
    }

    /// The alternatives that one condition expands to.
    fn one(condition: &Condition) -> Vec<Self> {
        let query = |operator, expression: &String| {
            vec![Self { query: [Literal { operator, expression: expression.clone() }].into(), ..Self::anything() }]
        };
        match condition {
            Condition::Branded(expression) => query(FilterOperator::IncludingRegex, expression),
            Condition::NonBranded(expression) => query(FilterOperator::ExcludingRegex, expression),
            Condition::Written(written) => Self::written(written),
        }
    }

    fn written(condition: &FilterCondition) -> Vec<Self> {
        match condition.dimension {
            FilterDimension::Query => vec![Self { query: [literal(condition)].into(), ..Self::anything() }],
            FilterDimension::Page => vec![Self { page: [literal(condition)].into(), ..Self::anything() }],
            FilterDimension::Country => {
                let codes: Vec<&str> = COUNTRIES.iter().map(|(code, _)| *code).collect();
                vec![Self { countries: values(condition, &codes), ..Self::anything() }]
            }
            FilterDimension::Device => vec![Self { devices: values(condition, &DEVICES), ..Self::anything() }],
            FilterDimension::SearchAppearance => list_of(condition)
                .into_iter()
                .map(|name| Self { appearances: [name.to_ascii_uppercase()].into(), ..Self::anything() })
                .collect(),
        }
        .into_iter()
        .filter(|conjunct| !conjunct.countries.is_empty() && !conjunct.devices.is_empty())
        .collect()
    }
}

/// Returns the distinct conjunctions of one of `left` and one of `right`, or `None` if there are more than `room`.
#[must_use]
pub fn both(left: &[Conjunct], right: &[Conjunct], room: usize) -> Option<Vec<Conjunct>> {
    let mut found = Vec::new();
    for conjunct in left.iter().flat_map(|left| right.iter().filter_map(|right| left.and(right))) {
        if !found.contains(&conjunct) {
            found.push(conjunct);
        }
        if found.len() > room {
            return None;
        }
    }
    Some(found)
}

fn list_of(condition: &FilterCondition) -> Vec<String> {
    match condition.operator {
        Operator::OrList => list_items(&condition.value),
        _ => vec![condition.value.clone()],
    }
}

/// A condition on query or page as one upstream filter.
fn literal(condition: &FilterCondition) -> Literal {
    let value = &condition.value;
    let (operator, expression) = match condition.operator {
        Operator::Contains => (FilterOperator::Contains, value.clone()),
        Operator::NotContains => (FilterOperator::NotContains, value.clone()),
        Operator::Equals => (FilterOperator::Equals, value.clone()),
        Operator::MatchesRegex => (FilterOperator::IncludingRegex, value.clone()),
        Operator::OrList => match list_items(value).as_slice() {
            [one] => (FilterOperator::Equals, one.clone()),
            many => (FilterOperator::IncludingRegex, alternation(many)),
        },
    };
    Literal { operator, expression }
}

/// The values of `names` that a condition on country or device selects. Case is ignored. The operators are evaluated here,
/// because the search engine does not document its regular expressions on these dimensions.
fn values(condition: &FilterCondition, names: &[&str]) -> Values {
    let folded = condition.value.to_lowercase();
    let matching = |holds: &dyn Fn(&str) -> bool| {
        (0..names.len()).filter(|index| holds(&names[*index].to_lowercase())).collect::<BTreeSet<_>>()
    };
    match condition.operator {
        Operator::Contains => Values::Only(matching(&|name| name.contains(&folded))),
        Operator::NotContains => Values::AllBut(matching(&|name| name.contains(&folded))),
        Operator::MatchesRegex => {
            let expression = compile(&format!("(?i:{})", condition.value));
            Values::Only(matching(&|name| expression.as_ref().is_ok_and(|e| e.is_match(name))))
        }
        Operator::Equals | Operator::OrList => {
            let wanted: Vec<String> = list_of(condition).iter().map(|value| value.to_lowercase()).collect();
            Values::Only(matching(&|name| wanted.iter().any(|w| w == name)))
        }
    }
}

/// Returns whether a text would have to equal two different values.
fn contradicts(literals: &BTreeSet<Literal>) -> bool {
    literals.iter().filter(|literal| literal.operator == FilterOperator::Equals).count() > 1
}

/// Returns one positive literal equivalent to "either side holds", if each side is a single positive literal.
fn either(left: &BTreeSet<Literal>, right: &BTreeSet<Literal>) -> Option<BTreeSet<Literal>> {
    let single = |set: &BTreeSet<Literal>| set.iter().next().filter(|_| set.len() == 1).and_then(alternative);
    let expression = format!("{}|{}", single(left)?, single(right)?);
    let fits = expression.chars().count() <= MAX_EXPRESSION;
    fits.then(|| [Literal { operator: FilterOperator::IncludingRegex, expression }].into())
}

/// A positive literal as an alternative of a regular expression.
fn alternative(literal: &Literal) -> Option<String> {
    match literal.operator {
        FilterOperator::Equals => Some(format!("^(?:{})$", regex::escape(&literal.expression))),
        FilterOperator::Contains => Some(format!("(?i:{})", regex::escape(&literal.expression))),
        FilterOperator::IncludingRegex => Some(format!("(?:{})", literal.expression)),
        FilterOperator::NotEquals | FilterOperator::NotContains | FilterOperator::ExcludingRegex => None,
    }
}
