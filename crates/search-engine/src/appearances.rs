//! The search appearances of a site: their names, and which of them occur together.
//!
//! One visit can have several search appearances, or none. The search engine has no list of all names, but it lists the names that a
//! site had in a window.

use std::collections::{BTreeMap, BTreeSet};

use api::models::FilterCondition;

use super::matching;

/// The most names that are told apart.
const MAX_NAMES: usize = 63;

/// Names of search appearances.
pub type Names = BTreeSet<String>;

/// The search appearances of one window.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WindowAppearances {
    /// Every name.
    pub names: Names,
    /// For some sets of names, the impressions that have the whole set.
    pub together: BTreeMap<Names, f64>,
}

/// The search appearances that a question can meet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Appearances(pub Vec<WindowAppearances>);

impl Appearances {
    /// Names of which nothing else is known. The list must be complete, except for names that no condition selects.
    pub fn named(names: impl IntoIterator<Item = String>) -> Self {
        Self(vec![WindowAppearances { names: names.into_iter().collect(), together: BTreeMap::new() }])
    }

    /// The names that a condition requires one of or, if it is `not_contains`, excludes. Case is ignored.
    #[must_use]
    pub fn selected(&self, condition: &FilterCondition) -> Names {
        self.0.iter().flat_map(|window| window.selected(condition)).collect()
    }

    /// Returns the sets of `names` that a visit can have, as bits, the smaller first. Returns `None` if there are more than `most`.
    #[must_use]
    pub fn sets(&self, names: &[String], most: usize) -> Option<Vec<u64>> {
        if names.len() > MAX_NAMES {
            return None;
        }
        let mut sets = BTreeSet::from([0]);
        for window in &self.0 {
            sets.extend(window.sets(names, most)?);
        }
        let mut sets: Vec<u64> = sets.into_iter().collect();
        sets.sort_by_key(|set| set.count_ones());
        (sets.len() <= most).then_some(sets)
    }
}

impl WindowAppearances {
    /// The names that a condition selects in this window.
    #[must_use]
    pub fn selected(&self, condition: &FilterCondition) -> Names {
        let holds = matching::names(condition);
        self.names.iter().filter(|name| holds(name)).cloned().collect()
    }

    /// The sets of `names` that a visit in this window can have, or `None` if there are more than `most`.
    fn sets(&self, names: &[String], most: usize) -> Option<BTreeSet<u64>> {
        let (mut sets, mut pending) = (BTreeSet::from([0]), vec![0]);
        while let Some(set) = pending.pop() {
            for larger in (0..names.len()).filter_map(|index| self.completed(set | 1 << index, names)) {
                if sets.insert(larger) {
                    pending.push(larger);
                }
            }
            if sets.len() > most {
                return None;
            }
        }
        Some(sets)
    }

    /// Returns the sets of `size` of the names of which it is not known whether a visit can have them.
    #[must_use]
    pub fn unknown(&self, names: &Names, size: usize) -> BTreeSet<Names> {
        let listed: Vec<String> = names.iter().cloned().collect();
        let smaller: BTreeSet<Names> = match size {
            1 => [Names::new()].into(),
            _ => self.together.keys().filter(|set| set.len() + 1 == size && set.is_subset(names)).cloned().collect(),
        };
        let grown = smaller.iter().flat_map(|set| {
            names.iter().filter(|name| !set.contains(*name)).map(move |name| set | &Names::from([name.clone()]))
        });
        let bits = |set: &Names| {
            let held = listed.iter().enumerate().filter(|(_, name)| set.contains(*name));
            held.fold(0, |bits, (index, _)| bits | 1 << index)
        };
        let follows = |set: &Names| {
            self.together.keys().any(|own| {
                own.is_subset(set) && set.iter().all(|name| own.contains(name) || self.is_always_with(own, name))
            })
        };
        grown.filter(|set| !follows(set) && self.completed(bits(set), &listed).is_some()).collect()
    }

    /// The set with all names that visits with the set are known to have, or `None` if no visit is known to have it.
    fn completed(&self, mut set: u64, names: &[String]) -> Option<u64> {
        loop {
            let own: Names = held(set, names).cloned().collect();
            if !own.is_subset(&self.names) {
                return None;
            }
            let mut completed = set;
            for (known, impressions) in self.together.iter().filter(|(known, _)| known.is_subset(&own)) {
                if *impressions <= 0.0 {
                    return None;
                }
                let follow = names.iter().enumerate().filter(|(_, name)| self.is_always_with(known, name));
                completed = follow.fold(completed, |completed, (index, _)| completed | 1 << index);
            }
            if completed == set {
                return Some(set);
            }
            set = completed;
        }
    }

    /// Returns whether every visit that has the set is known to have the name, too.
    fn is_always_with(&self, set: &Names, name: &str) -> bool {
        let with = self.together.get(&(set | &Names::from([name.to_owned()])));
        with.is_some() && with == self.together.get(set)
    }
}

/// The names whose bits are set.
pub fn held(set: u64, names: &[String]) -> impl Iterator<Item = &String> {
    names.iter().enumerate().filter(move |(index, _)| set & (1 << index) != 0).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Names {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The sets of at most `size` names, as some visits show them, each with its names.
    fn window(visits: &[&[&str]], size: usize) -> WindowAppearances {
        let visits: Vec<Names> = visits.iter().map(|visit| names(visit)).collect();
        let all: Names = visits.iter().flatten().cloned().collect();
        let mut window = WindowAppearances { names: all.clone(), together: BTreeMap::new() };
        for size in 1..=size {
            for set in window.unknown(&all, size) {
                let count = visits.iter().filter(|visit| set.is_subset(visit)).count();
                window.together.insert(set, count as f64);
            }
        }
        window
    }

    fn sets(windows: Vec<WindowAppearances>) -> Vec<String> {
        let names = ["A", "B", "C"].map(str::to_owned);
        let sets = Appearances(windows).sets(&names, 100).unwrap();
        sets.into_iter().map(|set| held(set, &names).cloned().collect()).collect()
    }

    #[test]
    fn the_more_is_known_the_fewer_sets_are_possible() {
        let visits: &[&[&str]] = &[&["A"], &["B"], &["C"], &["A", "B"], &["A", "C"], &["B", "C"]];
        assert_eq!(sets(vec![window(visits, 0)]).len(), 8, "names alone exclude nothing");
        assert_eq!(sets(vec![window(visits, 2)]).len(), 8, "every two come together");
        assert_eq!(sets(vec![window(visits, 3)]), ["", "A", "B", "C", "AB", "AC", "BC"], "but not all three");
    }

    #[test]
    fn names_that_come_apart_or_only_together_make_fewer_sets() {
        assert_eq!(sets(vec![window(&[&["A"], &["B"], &["C"]], 2)]), ["", "A", "B", "C"]);
        assert_eq!(sets(vec![window(&[&["A", "B", "C"], &["B", "C"], &["C"]], 2)]), ["", "C", "BC", "ABC"]);
        let both = vec![window(&[&["A"], &["B"]], 2), window(&[&["A", "B"], &["C"]], 2)];
        assert_eq!(sets(both), ["", "A", "B", "C", "AB"], "a set can come from either window");
        let alike = vec![window(&[&["A"], &["B"]], 2), window(&[&["A"], &["B"], &["A", "B"]], 2)];
        assert_eq!(sets(alike), ["", "A", "B", "AB"], "a set of one window can grow in the other");
    }

    #[test]
    fn only_sets_that_can_occur_are_unknown() {
        let visits: &[&[&str]] = &[&["A", "B"], &["A"], &["B"], &["C", "D"], &["D"]];
        assert_eq!(window(visits, 0).unknown(&names(&["A", "C"]), 1), [names(&["A"]), names(&["C"])].into());
        assert_eq!(window(visits, 1).unknown(&names(&["A", "B"]), 2), [names(&["A", "B"])].into());
        assert!(window(visits, 2).unknown(&names(&["A", "B", "C", "D"]), 3).is_empty(), "no two pairs share a name");
    }
}
