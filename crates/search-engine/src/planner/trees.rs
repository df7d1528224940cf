//! Trees over groups, as the parent of each group. Group 0 is the root, and its own parent.

/// The most groups for which every tree is tried.
const FEW: usize = 5;

/// The most groups for which trees other than the flat one are tried.
const MANY: usize = 16;

/// Returns trees over `groups` groups: all of them if the groups are few. Otherwise the one without levels, the ones with one group above
/// all others, and the one whose edges are shortest in sum.
pub fn trees(groups: usize, length: impl FnMut(usize, usize) -> usize) -> Vec<Vec<usize>> {
    let flat = vec![0; groups];
    if groups <= FEW {
        return all(groups);
    }
    if groups > MANY {
        return vec![flat];
    }
    let under = (1..groups).map(|above| {
        let parent = |group| if group == 0 || group == above { 0 } else { above };
        (0..groups).map(parent).collect()
    });
    std::iter::once(flat).chain(under).chain([shortest(groups, length)]).collect()
}

/// Every tree.
fn all(groups: usize) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![vec![0]];
    for _ in 1..groups {
        found = found.iter().flat_map(|tree| (0..groups).map(|parent| [tree.as_slice(), &[parent]].concat())).collect();
    }
    found.retain(|tree| (1..groups).all(|group| leads_to_root(group, tree)));
    found
}

fn leads_to_root(group: usize, tree: &[usize]) -> bool {
    let mut node = group;
    for _ in 0..tree.len() {
        node = tree[node];
    }
    node == 0
}

/// The tree with the shortest sum of edges, grown from the root (Prim).
fn shortest(groups: usize, mut length: impl FnMut(usize, usize) -> usize) -> Vec<usize> {
    let mut nearest: Vec<(usize, usize)> =
        (0..groups).map(|group| (if group == 0 { 0 } else { length(group, 0) }, 0)).collect();
    let mut waiting: Vec<usize> = (1..groups).collect();
    while let Some(next) = waiting.iter().copied().min_by_key(|group| nearest[*group].0) {
        waiting.retain(|group| *group != next);
        for group in &waiting {
            let own = length(*group, next);
            if own < nearest[*group].0 {
                nearest[*group] = (own, next);
            }
        }
    }
    nearest.into_iter().map(|(_, parent)| parent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tree_over_few_groups_is_there_once() {
        for (groups, count) in [(1, 1), (2, 1), (3, 3), (4, 16), (5, 125)] {
            let trees = all(groups);
            let distinct: std::collections::BTreeSet<_> = trees.iter().collect();
            assert_eq!((trees.len(), distinct.len()), (count, count), "{groups} groups");
        }
    }

    #[test]
    fn the_shortest_tree_follows_the_shortest_edges() {
        let length = |a: usize, b: usize| a.abs_diff(b) * if a.min(b) == 0 { 10 } else { 1 };
        assert_eq!(shortest(6, length), [0, 0, 1, 2, 3, 4]);
    }
}
