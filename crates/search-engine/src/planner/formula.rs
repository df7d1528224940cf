//! A predicate with its conditions grouped by dimension.

use std::collections::BTreeSet;

use api::models::{self, FilterCondition, FilterOperator as Operator};

use super::{clause::Clause, texts::Atom, values::Values};
use crate::{
    appearances::Appearances,
    countries::COUNTRIES,
    filter::{Condition, DEVICES, Predicate},
};

/// Conditions on one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnText {
    /// Atoms that all hold.
    pub required: BTreeSet<Atom>,
    /// Atoms of which none holds.
    pub refused: BTreeSet<Atom>,
}

/// Conditions that hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Conditions on the query. They leave anonymised queries out.
    pub query: OnText,
    /// Conditions on the page.
    pub page: OnText,
    /// The selected countries.
    pub countries: Values,
    /// The selected devices.
    pub devices: Values,
    /// Sets of search appearances, and whether one of the set is required or none allowed.
    pub appearances: BTreeSet<(BTreeSet<String>, bool)>,
}

/// Alternatives, joined by AND.
pub type Formula = Vec<Vec<Run>>;

/// Returns the formula of a predicate.
pub fn formula(predicate: &Predicate) -> Formula {
    let run = |conditions: &Vec<Condition>| {
        let mut run = Run::anything();
        for condition in conditions {
            run.add(condition, &predicate.appearances);
        }
        run
    };
    let runs = predicate.expressions.iter().map(|expression| expression.0.iter().map(run));
    runs.map(|runs| runs.filter(|run| !run.is_contradictory()).collect()).collect()
}

/// Returns the formula with fewer atoms: alternatives that differ in one dimension become one where that dimension can express
/// either, and conditions on a text that are required or refused together become one.
pub fn merged(mut formula: Formula) -> Formula {
    for runs in &mut formula {
        runs.iter_mut().for_each(Run::merge_within);
        while let Some((kept, dropped, merged)) = mergeable(runs) {
            runs.remove(dropped);
            runs[kept] = merged;
        }
    }
    formula
}

fn mergeable(runs: &[Run]) -> Option<(usize, usize, Run)> {
    let pairs = (0..runs.len()).flat_map(|i| (i + 1..runs.len()).map(move |j| (i, j)));
    pairs.into_iter().find_map(|(i, j)| Some((i, j, runs[i].or(&runs[j])?)))
}

impl OnText {
    /// Returns whether nothing is required or refused.
    pub fn is_anything(&self) -> bool {
        self.required.is_empty() && self.refused.is_empty()
    }

    /// Either, if one clause that is required can express it, or one atom that is refused.
    fn or(&self, other: &Self) -> Option<Self> {
        match (self.single()?, other.single()?) {
            ((one, true), (another, true)) => match (single(one), single(another)) {
                (Some(one), Some(another)) => {
                    Some(Self { required: [[one.or(another)].into()].into(), ..Self::default() })
                }
                _ => None,
            },
            ((one, false), (another, false)) => Some(Self { refused: [one | another].into(), ..Self::default() }),
            _ => None,
        }
    }

    /// The only atom, and whether it is required.
    fn single(&self) -> Option<(&Atom, bool)> {
        let mut atoms =
            self.required.iter().map(|atom| (atom, true)).chain(self.refused.iter().map(|atom| (atom, false)));
        atoms.next().filter(|_| atoms.next().is_none())
    }

    /// Makes one atom of the required ones, and one clause of the refused ones.
    fn merge_within(&mut self) {
        if !self.required.is_empty() {
            self.required = [self.required.iter().flatten().cloned().collect()].into();
        }
        let clauses = self.refused.iter().filter_map(single);
        if let Some(clause) = clauses.cloned().reduce(|all, clause| all.or(&clause)) {
            self.refused.retain(|atom| single(atom).is_none());
            self.refused.insert([clause].into());
        }
    }

    fn add(&mut self, clause: Clause, required: bool) {
        let atoms = if required { &mut self.required } else { &mut self.refused };
        atoms.insert([clause].into());
    }
}

impl Run {
    fn anything() -> Self {
        Self {
            query: OnText::default(),
            page: OnText::default(),
            countries: Values::all(),
            devices: Values::all(),
            appearances: BTreeSet::new(),
        }
    }

    fn add(&mut self, condition: &Condition, known: &Appearances) {
        match condition {
            Condition::Branded(expression) => self.query.add(Clause::pattern(expression), true),
            Condition::NonBranded(expression) => self.query.add(Clause::pattern(expression), false),
            Condition::Written(written) => self.add_written(written, known),
        }
    }

    fn add_written(&mut self, condition: &FilterCondition, known: &Appearances) {
        let (clause, required) = Clause::of(condition);
        match condition.dimension {
            models::Dimension::Query => self.query.add(clause, required),
            models::Dimension::Page => self.page.add(clause, required),
            models::Dimension::Country => {
                let codes: Vec<&str> = COUNTRIES.iter().map(|(code, _)| *code).collect();
                self.countries = self.countries.intersection(&Values::selected(condition, &codes));
            }
            models::Dimension::Device => {
                self.devices = self.devices.intersection(&Values::selected(condition, &DEVICES));
            }
            models::Dimension::SearchAppearance => {
                let required = condition.operator != Operator::NotContains;
                self.appearances.insert((known.selected(condition), required));
            }
        }
    }

    fn is_contradictory(&self) -> bool {
        let nothing = (BTreeSet::new(), true);
        self.countries.is_empty() || self.devices.is_empty() || self.appearances.contains(&nothing)
    }

    fn merge_within(&mut self) {
        self.query.merge_within();
        self.page.merge_within();
    }

    /// Either, if they differ in one dimension that can express it.
    fn or(&self, other: &Self) -> Option<Self> {
        let candidates = [
            Some(Self { countries: self.countries.union(&other.countries), ..self.clone() }),
            Some(Self { devices: self.devices.union(&other.devices), ..self.clone() }),
            self.query.or(&other.query).map(|query| Self { query, ..self.clone() }),
            self.page.or(&other.page).map(|page| Self { page, ..self.clone() }),
        ];
        let differs = [
            self.countries != other.countries,
            self.devices != other.devices,
            self.query != other.query,
            self.page != other.page,
            self.appearances != other.appearances,
        ];
        let different = differs.iter().filter(|differs| **differs).count();
        match different {
            0 => Some(self.clone()),
            1 => candidates.into_iter().zip(differs).find_map(|(candidate, differs)| candidate.filter(|_| differs)),
            _ => None,
        }
    }
}

/// The only clause of an atom.
fn single(atom: &Atom) -> Option<&Clause> {
    atom.first().filter(|_| atom.len() == 1)
}
