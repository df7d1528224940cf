//! Sets of values of a dimension that divides the traffic: every visit has one country and one device.

use std::collections::BTreeSet;

use api::models::{FilterCondition, FilterOperator as Operator};

use crate::{
    matching,
    wire::{Dimension, Filter, FilterOperator},
};

/// The most values that take one `equals` request each. More values take one request that excludes all others.
const FEW: usize = 3;

/// The selected values, as indices of the table of names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Values {
    /// Only these values.
    Only(BTreeSet<usize>),
    /// All values except these, including values that are not known here.
    AllBut(BTreeSet<usize>),
}

impl Values {
    /// Every value.
    pub fn all() -> Self {
        Self::AllBut(BTreeSet::new())
    }

    /// The values that a condition selects.
    pub fn selected(condition: &FilterCondition, names: &[&str]) -> Self {
        let holds = matching::names(condition);
        let matching = (0..names.len()).filter(|index| holds(names[*index])).collect();
        if condition.operator == Operator::NotContains { Self::AllBut(matching) } else { Self::Only(matching) }
    }

    /// The values of both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Only(a), Self::Only(b)) => Self::Only(a & b),
            (Self::Only(a), Self::AllBut(b)) | (Self::AllBut(b), Self::Only(a)) => Self::Only(a - b),
            (Self::AllBut(a), Self::AllBut(b)) => Self::AllBut(a | b),
        }
    }

    /// The values of either set.
    pub fn union(&self, other: &Self) -> Self {
        self.complement().intersection(&other.complement()).complement()
    }

    /// The values that are not in the set.
    pub fn complement(&self) -> Self {
        match self {
            Self::Only(values) => Self::AllBut(values.clone()),
            Self::AllBut(values) => Self::Only(values.clone()),
        }
    }

    /// Returns whether no value is in the set.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Only(values) if values.is_empty())
    }

    /// Returns whether every value of `other` is in the set.
    pub fn covers(&self, other: &Self) -> bool {
        self.union(other) == *self
    }

    /// Filters whose results add up to these values, at most `room` lists of them if that is at least 1. A few values take one
    /// request each. Otherwise one request excludes all others, which is exact because the tables of known values are complete.
    pub fn requests(&self, dimension: Dimension, names: &[&str], room: usize) -> Vec<Vec<Filter>> {
        let filter = |operator, index: usize| Filter { dimension, operator, expression: names[index].to_owned() };
        let without = |excluded: &mut dyn Iterator<Item = usize>| {
            vec![excluded.map(|index| filter(FilterOperator::NotEquals, index)).collect::<Vec<_>>()]
        };
        match self {
            Self::AllBut(excluded) => without(&mut excluded.iter().copied()),
            Self::Only(values) if values.len() <= room.clamp(1, FEW) && 2 * values.len() <= names.len() => {
                values.iter().map(|index| vec![filter(FilterOperator::Equals, *index)]).collect()
            }
            Self::Only(values) => without(&mut (0..names.len()).filter(|index| !values.contains(index))),
        }
    }
}
