//! Turns a predicate into upstream requests that answer it exactly, or refuses it.
//!
//! The search engine can only AND filters, and cannot exclude a search appearance. Clicks, impressions and the weighted position sum
//! are additive over disjoint cells, so a signed sum of requests is exact if each cell that satisfies the predicate is counted
//! once, and every other cell not at all. The traffic is divided into cells by the conditions (`space.rs`), and `search.rs` looks
//! for the fewest requests that count them so.
//!
//! Anonymised cells satisfy no query condition, including negative ones. The search engine drops them from a request with
//! any query filter, so they are a class of queries of their own, which only a request without a query filter counts.

mod clause;
mod formula;
mod search;
mod space;
mod spelling;
mod texts;
mod trees;
mod values;

use self::{
    formula::{formula, merged},
    search::{Product, products},
    space::{Factor, Space},
};
use super::{
    appearances::Names,
    countries::COUNTRIES,
    error::PlanError,
    filter::{DEVICES, Predicate},
    wire::{Dimension, Filter, FilterOperator},
};

/// The maximum number of upstream requests for one part of a question.
pub const MAX_TERMS: usize = 24;

/// One upstream request of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The factor of its result. A negative one subtracts rows that were counted twice.
    pub weight: f64,
    /// Filters, all of which must hold.
    pub filters: Vec<Filter>,
}

impl Term {
    /// Returns whether the weight is 1.
    #[must_use]
    pub fn counts_once(&self) -> bool {
        (self.weight - 1.0).abs() < f64::EPSILON
    }
}

/// Signed requests whose sum answers a predicate. No terms: nothing can satisfy it.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The requests.
    pub terms: Vec<Term>,
}

impl Plan {
    /// The plan for all traffic.
    #[must_use]
    pub fn everything() -> Self {
        Self { terms: vec![Term { weight: 1.0, filters: Vec::new() }] }
    }

    /// The plan for all traffic whose query is known.
    #[must_use]
    pub fn identified() -> Self {
        Self::everything().narrowed(&texts::identified())
    }

    /// The plan for the traffic that has all of some search appearances.
    #[must_use]
    pub fn with_appearances(names: &Names) -> Self {
        let filters = names.iter().map(|name| Filter {
            dimension: Dimension::SearchAppearance,
            operator: FilterOperator::Equals,
            expression: name.clone(),
        });
        Self { terms: vec![Term { weight: 1.0, filters: filters.collect() }] }
    }

    /// Returns the plan restricted to rows that also satisfy `filter`.
    #[must_use]
    pub fn narrowed(&self, filter: &Filter) -> Self {
        let mut narrowed = self.clone();
        narrowed.terms.iter_mut().for_each(|term| term.filters.push(filter.clone()));
        narrowed
    }
}

/// Returns the plan that answers `predicate` exactly.
pub fn plan(predicate: &Predicate) -> Result<Plan, PlanError> {
    let whole = formula(predicate);
    let mut needed: Option<usize> = None;
    for formula in [whole.clone(), merged(whole)] {
        let space = Space::of(&formula, &predicate.appearances);
        let Some(products) = space.and_then(|space| products(&space)).map(united) else { continue };
        if products.len() <= MAX_TERMS {
            return Ok(Plan { terms: terms(&products) });
        }
        needed = needed.into_iter().chain([products.len()]).min();
    }
    Err(too_complex(needed))
}

/// The refusal of conditions whose shortest known plan takes `needed` requests, or that were too many to plan.
fn too_complex(needed: Option<usize>) -> PlanError {
    let needed = match needed {
        Some(needed) => format!(
            "the conditions take {needed} upstream requests for each part of the answer, and at most {MAX_TERMS} are made"
        ),
        None => format!(
            "the conditions combine in more ways than can be planned, and no way to answer them by at most {MAX_TERMS} upstream \
             requests for each part of the answer was found"
        ),
    };
    PlanError::TooComplex(format!(
        "filters: {needed}; use fewer conditions joined by or, select fewer search appearances, or put alternatives on one \
         dimension into one or_list or matches_regex"
    ))
}

/// Adds up the products with equal factors.
fn united(products: Vec<Product>) -> Vec<Product> {
    let mut united: Vec<Product> = Vec::new();
    for product in products {
        match united.iter_mut().find(|known| known.factors == product.factors) {
            Some(known) => known.weight += product.weight,
            None => united.push(product),
        }
    }
    united.retain(|product| product.weight != 0);
    united
}

/// The requests of at most [`MAX_TERMS`] products.
fn terms(products: &[Product]) -> Vec<Term> {
    let mut terms = Vec::new();
    for (index, product) in products.iter().enumerate() {
        let others = products.len() - index - 1;
        let requests = requests(product, MAX_TERMS - terms.len() - others);
        terms.extend(requests.into_iter().map(|filters| Term { weight: product.weight.into(), filters }));
    }
    terms
}

/// The filters of each request of a product, at most `room` lists of them.
fn requests(product: &Product, room: usize) -> Vec<Vec<Filter>> {
    let codes: Vec<&str> = COUNTRIES.iter().map(|(code, _)| *code).collect();
    let mut requests: Vec<Vec<Filter>> = vec![Vec::new()];
    for factor in &product.factors {
        let choices = match factor {
            Factor::Filters(filters) => vec![filters.clone()],
            Factor::Values(dimension, values) => {
                let names = if *dimension == Dimension::Country { &codes[..] } else { &DEVICES };
                values.requests(*dimension, names, room / requests.len())
            }
        };
        requests = choices
            .iter()
            .flat_map(|more| requests.iter().map(|filters| [filters.as_slice(), more].concat()))
            .collect();
    }
    for filters in &mut requests {
        filters.sort_unstable();
        filters.dedup();
    }
    requests
}

#[cfg(test)]
mod tests;
