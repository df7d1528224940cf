//! Looks for few signed requests that add up to the cells of a space.
//!
//! A request is a product: it selects some classes on each axis. The search takes one axis after the other. On one
//! axis it groups the classes whose cells on the other axes are equal, and adds the groups up along a tree: each node
//! adds (its value − its parent's) to its whole subtree. Groups beside each other are a partition, a group with all others below
//! it is a complement, and groups below each other are nested. Search appearances overlap, so on their axis there is one way only,
//! inclusion and exclusion.

use std::{collections::HashMap, rc::Rc};

use super::{
    space::{Axis, Factor, Space, together},
    trees::trees,
};

/// The most requests that the search adds up.
const MAX_PRODUCTS: usize = 256;

/// The most numbers that the search looks at. Behind that it takes the first way that it finds, so that planning always ends soon.
const MAX_STEPS: usize = 1_500_000;

/// A signed request: a factor on some axes, and everything on the others.
#[derive(Debug, Clone, PartialEq)]
pub struct Product {
    /// The weight of its result.
    pub weight: i32,
    /// The factors, at most one for each axis.
    pub factors: Vec<Factor>,
}

/// Requests, or `None` if no way was found.
type Found = Option<Rc<Vec<Product>>>;

/// The covers of blocks, by axis.
type Covers = HashMap<(usize, Vec<bool>), Option<Rc<Vec<(i32, Factor)>>>>;

/// Numbers for the cells on some axes. The classes of the last axis are next to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Cells {
    axes: Vec<usize>,
    numbers: Vec<i32>,
}

struct Search<'s> {
    axes: &'s [Axis],
    covers: Covers,
    known: HashMap<Cells, Found>,
    steps: usize,
}

/// Returns requests that add up to the cells of `space`, or `None` if more than [`MAX_PRODUCTS`] are needed as far as the search finds.
pub fn products(space: &Space) -> Option<Vec<Product>> {
    let mut search = Search { axes: &space.axes, covers: HashMap::new(), known: HashMap::new(), steps: 0 };
    let cells = Cells { axes: (0..space.axes.len()).collect(), numbers: space.cells.clone() };
    search.found(cells).map(|products| products.to_vec())
}

impl Search<'_> {
    /// Returns requests that add up to `cells`.
    fn found(&mut self, cells: Cells) -> Found {
        let Some((cells, unit)) = self.simplified(cells) else { return Some(Rc::new(Vec::new())) };
        let products = if let Some(known) = self.known.get(&cells) {
            known.clone()
        } else {
            let found = self.divided(&cells).map(Rc::new);
            self.known.insert(cells, found.clone());
            found
        };
        products.map(|products| if unit == 1 { products } else { Rc::new(times(unit, &[], &products).collect()) })
    }

    /// Drops the axes on which the cells do not differ, and divides by the common factor. Returns `None` if all are 0.
    fn simplified(&mut self, mut cells: Cells) -> Option<(Cells, i32)> {
        let mut index = 0;
        while index < cells.axes.len() {
            let slices = self.slices(&cells, index);
            if slices.iter().all(|slice| *slice == slices[0]) {
                cells = slices.into_iter().next()?;
            } else {
                index += 1;
            }
        }
        let first = *cells.numbers.iter().find(|number| **number != 0)?;
        let unit = cells.numbers.iter().fold(0, |unit, number| common_factor(unit, *number)) * first.signum();
        cells.numbers.iter_mut().for_each(|number| *number /= unit);
        Some((cells, unit))
    }

    /// The cells of each class on the axis at `index`.
    fn slices(&mut self, cells: &Cells, index: usize) -> Vec<Cells> {
        self.steps += cells.numbers.len();
        let size = |axis: &usize| self.axes[*axis].classes();
        let stride: usize = cells.axes[index + 1..].iter().map(size).product();
        let classes = size(&cells.axes[index]);
        let axes: Vec<usize> = cells.axes.iter().copied().filter(|axis| *axis != cells.axes[index]).collect();
        let slice = |class: usize| {
            let rows =
                cells.numbers.chunks(stride * classes).flat_map(|row| &row[class * stride..(class + 1) * stride]);
            Cells { axes: axes.clone(), numbers: rows.copied().collect() }
        };
        (0..classes).map(slice).collect()
    }

    /// Takes the first axis.
    fn divided(&mut self, cells: &Cells) -> Option<Vec<Product>> {
        let Some(first) = cells.axes.first() else { return Some(vec![Product { weight: 1, factors: Vec::new() }]) };
        match &self.axes[*first] {
            Axis::Appearances(names, sets) => self.by_inclusion(cells, names, sets),
            _ => self.by_trees(cells, *first),
        }
    }

    fn is_exhausted(&self) -> bool {
        self.steps > MAX_STEPS
    }

    /// Adds up sets of search appearances: each set, smaller ones first, adds the part that the sets within it lack.
    fn by_inclusion(&mut self, cells: &Cells, names: &[String], sets: &[u64]) -> Option<Vec<Product>> {
        let mut lacks = self.slices(cells, 0);
        let mut products = Vec::new();
        for (place, set) in sets.iter().enumerate() {
            let lack = lacks[place].clone();
            for (own, larger) in lacks.iter_mut().zip(sets).skip(place + 1) {
                if set & !larger == 0 {
                    *own = difference(own, &lack);
                }
            }
            let factor = if *set == 0 { Vec::new() } else { vec![together(names, *set)] };
            let rest = self.found(lack)?;
            products.extend(times(1, &factor, &rest));
            if products.len() > MAX_PRODUCTS {
                return None;
            }
        }
        Some(products)
    }

    /// Groups the classes with equal cells, and adds the groups up along the tree that takes the fewest requests.
    fn by_trees(&mut self, cells: &Cells, axis: usize) -> Option<Vec<Product>> {
        let slices = self.slices(cells, 0);
        let nothing = Cells { axes: slices.first()?.axes.clone(), numbers: vec![0; slices.first()?.numbers.len()] };
        // The first group is the root: it has nothing to add.
        let mut groups = vec![nothing.clone()];
        for slice in &slices {
            if !groups.contains(slice) {
                groups.push(slice.clone());
            }
        }
        let mut best: Option<Vec<Product>> = None;
        for tree in self.candidates(&groups) {
            if best.is_some() && self.is_exhausted() {
                break;
            }
            let found = self.along(&tree, &groups, &slices, axis, best.as_ref().map_or(usize::MAX, Vec::len));
            best = fewer(best, found);
        }
        best
    }

    /// The trees to try.
    fn candidates(&mut self, groups: &[Cells]) -> Vec<Vec<usize>> {
        if self.is_exhausted() {
            return vec![vec![0; groups.len()]];
        }
        trees(groups.len(), |one, other| {
            let requests = self.found(difference(&groups[one], &groups[other]));
            requests.map_or(MAX_PRODUCTS, |requests| requests.len())
        })
    }

    /// The requests of one tree, unless they are more than `most`.
    fn along(
        &mut self,
        tree: &[usize],
        groups: &[Cells],
        slices: &[Cells],
        axis: usize,
        most: usize,
    ) -> Option<Vec<Product>> {
        let mut products = Vec::new();
        for group in 1..groups.len() {
            let below = |slice: &Cells| {
                let own = groups.iter().position(|known| known == slice).unwrap_or_default();
                is_below(own, group, tree)
            };
            let block: Vec<bool> = slices.iter().map(below).collect();
            let cover = self.cover(axis, block)?;
            let rest = self.found(difference(&groups[group], &groups[tree[group]]))?;
            if products.len() + cover.len() * rest.len() > most.min(MAX_PRODUCTS) {
                return None;
            }
            for (weight, factor) in cover.iter() {
                products.extend(times(*weight, std::slice::from_ref(factor), &rest));
            }
        }
        Some(products)
    }

    fn cover(&mut self, axis: usize, block: Vec<bool>) -> Option<Rc<Vec<(i32, Factor)>>> {
        self.steps += block.len() * block.len();
        let classes = &self.axes[axis];
        self.covers.entry((axis, block)).or_insert_with_key(|(_, block)| classes.cover(block).map(Rc::new)).clone()
    }
}

/// The products, each with `factors` added and its weight multiplied.
fn times(weight: i32, factors: &[Factor], products: &[Product]) -> impl Iterator<Item = Product> {
    products.iter().map(move |product| Product {
        weight: weight * product.weight,
        factors: factors.iter().chain(&product.factors).cloned().collect(),
    })
}

/// The shorter list, or of two as long the one that subtracts less.
fn fewer(one: Option<Vec<Product>>, other: Option<Vec<Product>>) -> Option<Vec<Product>> {
    let cost = |products: &Vec<Product>| (products.len(), products.iter().filter(|product| product.weight < 0).count());
    one.into_iter().chain(other).min_by_key(cost)
}

fn difference(one: &Cells, other: &Cells) -> Cells {
    let numbers = one.numbers.iter().zip(&other.numbers).map(|(one, other)| one - other);
    Cells { axes: one.axes.clone(), numbers: numbers.collect() }
}

/// Returns whether the way from `node` to the root passes `above`.
fn is_below(mut node: usize, above: usize, tree: &[usize]) -> bool {
    while node != above && node != 0 {
        node = tree[node];
    }
    node == above
}

fn common_factor(a: i32, b: i32) -> i32 {
    if b == 0 { a.abs() } else { common_factor(b, a % b) }
}
