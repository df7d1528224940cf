//! The texts of a dimension (query or page), told apart by the conditions that they satisfy, and the fewest signed requests that
//! select some of them.
//!
//! A request can require any monotone function of conditions (each filter requires one clause, all filters hold) and exclude
//! clauses. Any other function is a signed sum of such: following inclusion upwards, its value changes a number of times, and each
//! change is one monotone function (Markov, "On the inversion complexity of a system of functions", 1957).

use std::collections::BTreeSet;

use super::clause::Clause;
use crate::wire::{Dimension, Filter, FilterOperator};

/// The most atoms, and so at most 512 patterns.
pub const MAX_ATOMS: usize = 9;

/// The most clauses of one request.
const MAX_CLAUSES: usize = 128;

/// Clauses that all hold.
pub type Atom = BTreeSet<Clause>;

/// The atoms that hold for a text, as bits.
pub type Pattern = u32;

/// The weight of a request, and its filters.
pub type Signed = (i32, Vec<Filter>);

/// Texts, told apart by the atoms that hold for them.
#[derive(Debug)]
pub struct Texts {
    dimension: Dimension,
    atoms: Vec<Atom>,
    patterns: Vec<Pattern>,
}

/// A request: any of the `least` patterns is included in the text's pattern, and none of the `excluded` atoms holds.
#[derive(Debug, Clone)]
struct Selection {
    weight: i32,
    least: Vec<Pattern>,
    excluded: Pattern,
}

impl Texts {
    /// At most [`MAX_ATOMS`] atoms.
    pub fn new(dimension: Dimension, atoms: Vec<Atom>) -> Self {
        let sources: Vec<Vec<Pattern>> = atoms.iter().map(|atom| sources(atom, &atoms)).collect();
        let possible = |pattern: &Pattern| is_closed(*pattern, &sources) && has_text(*pattern, &atoms);
        let patterns = (0..1 << atoms.len()).filter(possible).collect();
        Self { dimension, atoms, patterns }
    }

    /// The patterns that a text can have. The class of an anonymised query is behind them.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// The dimension of the texts.
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// The atoms, in the order of their bits.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The number of classes of texts.
    pub fn classes(&self) -> usize {
        self.patterns.len() + usize::from(self.hides())
    }

    /// Anonymised queries satisfy no condition, and no filter selects them.
    fn hides(&self) -> bool {
        self.dimension == Dimension::Query
    }

    /// Returns signed requests that select the classes in `block`, or `None` if one would need too many filters.
    pub fn cover(&self, block: &[bool]) -> Option<Vec<Signed>> {
        let chosen = |wanted: bool| -> BTreeSet<Pattern> {
            self.patterns
                .iter()
                .zip(block)
                .filter(|(_, inside)| **inside == wanted)
                .map(|(pattern, _)| *pattern)
                .collect()
        };
        let everything = (1, Vec::new());
        if !self.hides() || block.last() == Some(&false) {
            return self.requests(&chosen(true), 1);
        }
        let mut requests = vec![everything];
        requests.extend(self.requests(&chosen(false), -1)?);
        Some(requests)
    }

    fn requests(&self, block: &BTreeSet<Pattern>, sign: i32) -> Option<Vec<Signed>> {
        let mut requests = Vec::new();
        for selection in self.selections(block) {
            requests.extend(self.filters(&selection)?.into_iter().map(|filters| (sign * selection.weight, filters)));
        }
        Some(requests)
    }

    fn can_be_excluded(&self, atom: usize) -> bool {
        self.atoms[atom].len() == 1
    }

    /// Selections whose signed sum is `block`: one for each change of value on the way up from the smallest pattern. Excluding the
    /// atoms that hold nowhere in the block can make it fewer.
    fn selections(&self, block: &BTreeSet<Pattern>) -> Vec<Selection> {
        if block.is_empty() {
            return Vec::new();
        }
        let plain = self.levels(block, 0);
        let held = block.iter().fold(0, |held, pattern| held | pattern);
        let absent = (0..self.atoms.len()).filter(|atom| self.can_be_excluded(*atom) && held & (1 << atom) == 0);
        let narrowed = self.levels(block, absent.fold(0, |excluded, atom| excluded | 1 << atom));
        if narrowed.len() < plain.len() { narrowed } else { plain }
    }

    /// One selection for each change of value among the patterns without the `excluded` atoms.
    fn levels(&self, block: &BTreeSet<Pattern>, excluded: Pattern) -> Vec<Selection> {
        let mut here: Vec<Pattern> = self.patterns.iter().copied().filter(|pattern| pattern & excluded == 0).collect();
        here.sort_by_key(|pattern| pattern.count_ones());
        let mut changes: Vec<usize> = Vec::new();
        for (index, pattern) in here.iter().enumerate() {
            let below = (0..index).filter(|lower| here[*lower] & !pattern == 0).map(|lower| changes[lower]).max();
            let below = below.unwrap_or_default();
            changes.push(below + usize::from((below % 2 == 1) != block.contains(pattern)));
        }
        let most = changes.iter().copied().max().unwrap_or_default();
        let level = |level: usize| {
            let inside: Vec<Pattern> =
                here.iter().zip(&changes).filter(|(_, count)| **count >= level).map(|(pattern, _)| *pattern).collect();
            let least = if inside.len() == here.len() {
                vec![0]
            } else {
                inside.iter().copied().filter(|p| is_least(*p, &inside)).collect()
            };
            Selection { weight: if level % 2 == 1 { 1 } else { -1 }, least, excluded }
        };
        (1..=most).map(level).collect()
    }

    /// The requests of a selection. There are several if an expression is too long for one filter.
    fn filters(&self, selection: &Selection) -> Option<Vec<Vec<Filter>>> {
        let mut clauses: Vec<Clause> = Vec::new();
        for (index, pattern) in selection.least.iter().enumerate() {
            let own: Vec<&Clause> = self.held(*pattern).flatten().collect();
            clauses = if index == 0 {
                own.into_iter().cloned().collect()
            } else {
                clauses.iter().flat_map(|clause| own.iter().map(|other| clause.or(other))).collect()
            };
            clauses = strongest(clauses);
            if clauses.len() > MAX_CLAUSES {
                return None;
            }
        }
        let mut requests: Vec<Vec<Filter>> = vec![Vec::new()];
        for required in clauses.iter().map(|clause| clause.required(self.dimension)) {
            let joined = |request: &Vec<Filter>| -> Vec<Vec<Filter>> {
                required.iter().map(|filters| [request.as_slice(), filters].concat()).collect()
            };
            requests = requests.iter().flat_map(joined).collect();
        }
        let excluded: Vec<Clause> = self.held(selection.excluded).flatten().cloned().collect();
        let excluded: Vec<Filter> =
            weakest(excluded).iter().flat_map(|clause| clause.excluded(self.dimension)).collect();
        for request in &mut requests {
            request.extend(excluded.iter().cloned());
        }
        if self.hides() && requests.iter().any(Vec::is_empty) {
            requests = vec![vec![identified()]];
        }
        Some(requests)
    }

    fn held(&self, pattern: Pattern) -> impl Iterator<Item = &Atom> {
        self.atoms.iter().enumerate().filter(move |(index, _)| pattern & (1 << index) != 0).map(|(_, atom)| atom)
    }
}

/// The filter that every query satisfies that is not anonymised.
pub fn identified() -> Filter {
    Filter { dimension: Dimension::Query, operator: FilterOperator::IncludingRegex, expression: ".*".to_owned() }
}

/// Returns whether no other pattern of `all` is included in `pattern`.
fn is_least(pattern: Pattern, all: &[Pattern]) -> bool {
    !all.iter().any(|other| *other != pattern && other & !pattern == 0)
}

/// The clauses that none of the others implies.
fn strongest(clauses: Vec<Clause>) -> Vec<Clause> {
    remaining(clauses, |clause, other| other.implies(clause))
}

/// The clauses that imply none of the others.
fn weakest(clauses: Vec<Clause>) -> Vec<Clause> {
    remaining(clauses, Clause::implies)
}

fn remaining(clauses: Vec<Clause>, is_redundant_beside: impl Fn(&Clause, &Clause) -> bool) -> Vec<Clause> {
    let mut kept: Vec<Clause> = Vec::new();
    for clause in clauses {
        if !kept.iter().any(|other| is_redundant_beside(&clause, other)) {
            kept.retain(|other| !is_redundant_beside(other, &clause));
            kept.push(clause);
        }
    }
    kept
}

/// For each clause of an atom, the atoms of which it is known to follow.
fn sources(atom: &Atom, atoms: &[Atom]) -> Vec<Pattern> {
    let of = |wanted: &Clause| {
        let sources = atoms.iter().enumerate().filter(|(_, other)| other.iter().any(|clause| clause.implies(wanted)));
        sources.fold(0, |pattern, (index, _)| pattern | 1 << index)
    };
    atom.iter().map(of).collect()
}

/// Returns whether no atom outside `pattern` is known to follow from those in it.
fn is_closed(pattern: Pattern, sources: &[Vec<Pattern>]) -> bool {
    let follows = |sources: &Vec<Pattern>| sources.iter().all(|source| source & pattern != 0);
    !sources.iter().enumerate().any(|(index, sources)| pattern & (1 << index) == 0 && follows(sources))
}

/// Returns whether a text can satisfy the atoms of `pattern` and none of the others, if some clause names all texts that satisfy it.
fn has_text(pattern: Pattern, atoms: &[Atom]) -> bool {
    let (held, others): (Vec<_>, Vec<_>) = atoms.iter().enumerate().partition(|(index, _)| pattern & (1 << index) != 0);
    let named = held.iter().flat_map(|(_, atom)| *atom).filter_map(Clause::texts).reduce(|a, b| &a & &b);
    let is_free = |text: &str| !others.iter().any(|(_, atom)| atom.iter().all(|clause| clause.holds_for(text)));
    named.is_none_or(|texts| texts.into_iter().any(is_free))
}
