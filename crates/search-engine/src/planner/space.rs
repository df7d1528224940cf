//! The traffic, divided into cells by the conditions of a formula: within one cell every condition holds or fails.

use std::collections::BTreeSet;

use super::{
    formula::{Formula, OnText, Run},
    texts::{Atom, MAX_ATOMS, Pattern, Signed, Texts},
    values::Values,
};
use crate::{
    appearances::{Appearances, held},
    wire::{Dimension, Filter, FilterOperator},
};

/// The most cells.
const MAX_CELLS: usize = 4_096;

/// One dimension, divided into classes by the conditions on it.
#[derive(Debug)]
pub enum Axis {
    /// Sets of search appearances. A request can require some, and no request can exclude any.
    Appearances(Vec<String>, Vec<u64>),
    /// Queries or pages.
    Texts(Texts),
    /// Countries or devices. One request selects any of the classes.
    Values(Dimension, Vec<Values>),
}

/// The filters of a request on one dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Factor {
    /// These filters.
    Filters(Vec<Filter>),
    /// Filters for these values.
    Values(Dimension, Values),
}

/// Cells, and the cells that satisfy a formula.
#[derive(Debug)]
pub struct Space {
    /// The dimensions.
    pub axes: Vec<Axis>,
    /// For each cell 1 if it satisfies the formula, else 0. The classes of the last axis are next to each other.
    pub cells: Vec<i32>,
}

impl Axis {
    /// The number of classes.
    pub fn classes(&self) -> usize {
        match self {
            Self::Appearances(_, sets) => sets.len(),
            Self::Texts(texts) => texts.classes(),
            Self::Values(_, classes) => classes.len(),
        }
    }

    /// The classes that satisfy an alternative.
    fn fits(&self, run: &Run) -> Vec<bool> {
        match self {
            Self::Appearances(names, sets) => sets.iter().map(|set| has_appearances(run, names, *set)).collect(),
            Self::Texts(texts) => {
                let conditions = if texts.dimension() == Dimension::Query { &run.query } else { &run.page };
                let fits = texts.patterns().iter().map(|pattern| satisfies(texts, *pattern, conditions));
                // Behind the patterns may be the class of anonymised queries.
                fits.chain(std::iter::repeat(conditions.is_anything())).take(self.classes()).collect()
            }
            Self::Values(dimension, classes) => {
                let values = if *dimension == Dimension::Country { &run.countries } else { &run.devices };
                classes.iter().map(|class| values.covers(class)).collect()
            }
        }
    }

    /// Returns signed requests that select the classes in `block`, or `None` if no request can be made of them.
    pub fn cover(&self, block: &[bool]) -> Option<Vec<(i32, Factor)>> {
        match self {
            Self::Texts(texts) => {
                let factor = |(weight, filters): Signed| (weight, Factor::Filters(filters));
                Some(texts.cover(block)?.into_iter().map(factor).collect())
            }
            Self::Values(dimension, classes) => {
                let chosen = classes.iter().zip(block).filter(|(_, inside)| **inside).map(|(class, _)| class.clone());
                let values = chosen.reduce(|all, class| all.union(&class))?;
                Some(vec![(1, Factor::Values(*dimension, values))])
            }
            Self::Appearances(..) => None,
        }
    }
}

/// The factor that requires a set of search appearances.
pub fn together(names: &[String], set: u64) -> Factor {
    let filter = |name: &String| Filter {
        dimension: Dimension::SearchAppearance,
        operator: FilterOperator::Equals,
        expression: name.clone(),
    };
    Factor::Filters(held(set, names).map(filter).collect())
}

impl Space {
    /// Returns `None` if there are more than `MAX_CELLS`.
    pub fn of(formula: &Formula, known: &Appearances) -> Option<Self> {
        let runs = || formula.iter().flatten();
        let names: BTreeSet<&String> = runs().flat_map(|run| &run.appearances).flat_map(|(names, _)| names).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let sets = known.sets(&names, MAX_CELLS)?;
        let axes = vec![
            Axis::Appearances(names, sets),
            Axis::Texts(texts(Dimension::Query, runs().map(|run| &run.query))?),
            Axis::Texts(texts(Dimension::Page, runs().map(|run| &run.page))?),
            Axis::Values(Dimension::Country, classes(runs().map(|run| &run.countries))?),
            Axis::Values(Dimension::Device, classes(runs().map(|run| &run.devices))?),
        ];
        let sizes: Vec<usize> = axes.iter().map(Axis::classes).collect();
        let size = sizes.iter().try_fold(1, |size: usize, more| size.checked_mul(*more))?;
        let fits = |run: &Run| -> Fits { axes.iter().map(|axis| axis.fits(run)).collect() };
        let formula: Vec<Vec<Fits>> = formula.iter().map(|runs| runs.iter().map(fits).collect()).collect();
        let holds = |cell: usize| {
            let place = place(cell, &sizes);
            let fit = |fits: &Fits| fits.iter().zip(&place).all(|(fits, class)| fits[*class]);
            formula.iter().all(|runs| runs.iter().any(fit))
        };
        let cells = (size <= MAX_CELLS).then(|| (0..size).map(|cell| i32::from(holds(cell))).collect())?;
        Some(Self { axes, cells })
    }
}

/// For each axis, the classes that satisfy an alternative.
type Fits = Vec<Vec<bool>>;

/// The texts that the conditions of some alternatives tell apart.
fn texts<'c>(dimension: Dimension, conditions: impl Iterator<Item = &'c OnText>) -> Option<Texts> {
    let atoms: BTreeSet<&Atom> =
        conditions.flat_map(|conditions| conditions.required.iter().chain(&conditions.refused)).collect();
    (atoms.len() <= MAX_ATOMS).then(|| Texts::new(dimension, atoms.into_iter().cloned().collect()))
}

/// The classes of values that some sets tell apart.
fn classes<'v>(sets: impl Iterator<Item = &'v Values>) -> Option<Vec<Values>> {
    let mut classes = vec![Values::all()];
    for set in sets {
        let parts = classes.iter().flat_map(|class| [class.intersection(set), class.intersection(&set.complement())]);
        classes = parts.filter(|class| !class.is_empty()).collect();
        if classes.len() > MAX_CELLS {
            return None;
        }
    }
    Some(classes)
}

/// The class on each axis of a cell.
fn place(mut cell: usize, sizes: &[usize]) -> Vec<usize> {
    let mut place = vec![0; sizes.len()];
    for (class, size) in place.iter_mut().zip(sizes).rev() {
        *class = cell % size;
        cell /= size;
    }
    place
}

fn has_appearances(run: &Run, names: &[String], set: u64) -> bool {
    let has = |name: &String| names.binary_search(name).is_ok_and(|index| set & (1 << index) != 0);
    run.appearances.iter().all(|(wanted, required)| wanted.iter().any(has) == *required)
}

fn satisfies(texts: &Texts, pattern: Pattern, conditions: &OnText) -> bool {
    let holds = |atom: &Atom| texts.atoms().binary_search(atom).is_ok_and(|index| pattern & (1 << index) != 0);
    conditions.required.iter().all(holds) && !conditions.refused.iter().any(holds)
}
