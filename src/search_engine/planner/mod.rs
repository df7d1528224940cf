//! Turns a predicate into upstream requests that answer it exactly, or refuses it.
//!
//! The search engine can only AND filters. A predicate is converted to alternatives (disjunctive normal form). Alternatives
//! that differ in one dimension only are merged (a union of countries, one regular expression). The remaining ones are added
//! by inclusion and exclusion: `f(A or B) = f(A) + f(B) − f(A and B)`. Clicks, impressions and the weighted position sum are
//! additive over disjoint cells, so the signed sum is exact.
//!
//! Anonymised cells satisfy no query condition, including negative ones. The search engine drops them from a request with
//! any query filter, so a term includes them exactly if its alternative has no query condition. This is why the planner
//! never negates a query condition.

use super::{
    conjunct::{Conjunct, both},
    error::PlanError,
    filter::Predicate,
    wire::{Dimension, Filter, FilterOperator, MAX_EXPRESSION},
};

/// The maximum number of upstream requests for one part of a question.
pub const MAX_TERMS: usize = 15;

/// The planner gives up above this many alternatives, at any step, so that planning always stays fast.
const MAX_ALTERNATIVES: usize = 64;

/// One upstream request of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The factor of its result. Negative to subtract what was counted twice.
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

    /// The plan for all traffic whose query is known. Every text satisfies its condition, and anonymised queries satisfy none.
    #[must_use]
    pub fn identified() -> Self {
        let any = Filter {
            dimension: Dimension::Query,
            operator: FilterOperator::IncludingRegex,
            expression: ".*".to_owned(),
        };
        Self::everything().narrowed(&any)
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
    let mut alternatives = vec![Conjunct::anything()];
    for expression in &predicate.0 {
        let mut own = Vec::new();
        for run in &expression.0 {
            let room = MAX_ALTERNATIVES - own.len();
            own.extend(Conjunct::all_of(run, room).ok_or_else(|| too_complex(MAX_ALTERNATIVES + 1))?);
        }
        simplify(&mut own);
        alternatives = both(&alternatives, &own, MAX_ALTERNATIVES).ok_or_else(|| too_complex(MAX_ALTERNATIVES + 1))?;
        simplify(&mut alternatives);
    }
    let mut terms = Vec::new();
    for (weight, conjunct) in inclusion_exclusion(&alternatives)? {
        let room = MAX_TERMS.saturating_sub(terms.len());
        let requests = conjunct.requests(room).ok_or_else(|| too_complex(MAX_TERMS + 1))?;
        check_lengths(&requests)?;
        terms.extend(requests.into_iter().map(|filters| Term { weight, filters }));
    }
    Ok(Plan { terms })
}

fn check_lengths(requests: &[Vec<Filter>]) -> Result<(), PlanError> {
    let fits = |filter: &Filter| filter.expression.chars().count() <= MAX_EXPRESSION;
    if requests.iter().flatten().all(fits) {
        return Ok(());
    }
    Err(PlanError::TooComplex(format!(
        "filters: the values of one condition make an expression of more than {MAX_EXPRESSION} characters; use fewer or shorter values"
    )))
}

fn too_complex(needed: usize) -> PlanError {
    PlanError::TooComplex(format!(
        "filters: the conditions need {needed} or more combined requests and at most {MAX_TERMS} are made; use fewer \
         conditions joined by or, or put alternatives on one dimension into one or_list or matches_regex"
    ))
}

/// Merges alternatives until none can be merged, and drops those covered by another.
fn simplify(alternatives: &mut Vec<Conjunct>) {
    loop {
        let pair = pairs(alternatives.len()).find_map(|(i, j)| Some((i, j, alternatives[i].or(&alternatives[j])?)));
        let Some((i, j, merged)) = pair else { return };
        alternatives.remove(j);
        alternatives[i] = merged;
    }
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)))
}

/// Returns the signed intersections of all non-empty subsets. Equal ones are added and empty ones dropped.
fn inclusion_exclusion(alternatives: &[Conjunct]) -> Result<Vec<(f64, Conjunct)>, PlanError> {
    let mut sums: Vec<(f64, Conjunct)> = Vec::new();
    for alternative in alternatives {
        let crossed: Vec<(f64, Conjunct)> =
            sums.iter().filter_map(|(weight, conjunct)| Some((-weight, conjunct.and(alternative)?))).collect();
        for (weight, conjunct) in std::iter::once((1.0, alternative.clone())).chain(crossed) {
            match sums.iter_mut().find(|(_, known)| *known == conjunct) {
                Some((known, _)) => *known += weight,
                None => sums.push((weight, conjunct)),
            }
        }
        sums.retain(|(weight, _)| *weight != 0.0);
        if sums.len() > 4 * MAX_TERMS {
            return Err(too_complex(sums.len()));
        }
    }
    if sums.len() > MAX_TERMS { Err(too_complex(sums.len())) } else { Ok(sums) }
}

#[cfg(test)]
mod tests;
