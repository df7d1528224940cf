//! A budget of bytes for many holders, such as people and networks. A holder who uses up a share delays nobody else.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A budget of bytes. Clones share it.
#[derive(Debug, Clone)]
pub struct ByteBudget<K> {
    max_bytes: u64,
    max_of_one: u64,
    used: Arc<Mutex<Used<K>>>,
}

#[derive(Debug)]
struct Used<K> {
    bytes: u64,
    by_holder: HashMap<K, u64>,
}

/// Bytes of a budget that are in use until this is dropped.
#[derive(Debug)]
pub struct Taken<K: Eq + Hash> {
    budget: ByteBudget<K>,
    holders: Vec<K>,
    bytes: u64,
}

impl<K: Eq + Hash + Clone> ByteBudget<K> {
    /// Gives out at most `max_bytes` at a time, and at most `max_of_one` of them to one holder.
    #[must_use]
    pub fn new(max_bytes: u64, max_of_one: u64) -> Self {
        let used = Used { bytes: 0, by_holder: HashMap::new() };
        Self { max_bytes, max_of_one, used: Arc::new(Mutex::new(used)) }
    }

    /// Takes `bytes` for all `holders` at once, or returns `None` if there is no room. A holder that uses none of its share may exceed it
    /// once, so that no size is refused for ever.
    #[must_use]
    pub fn take(&self, holders: Vec<K>, bytes: u64) -> Option<Taken<K>> {
        let mut used = self.used();
        let fits = |own: u64, max: u64| own == 0 || own + bytes <= max;
        let of = |holder: &K| used.by_holder.get(holder).copied().unwrap_or_default();
        if !fits(used.bytes, self.max_bytes) || !holders.iter().all(|holder| fits(of(holder), self.max_of_one)) {
            return None;
        }
        used.bytes += bytes;
        for holder in &holders {
            *used.by_holder.entry(holder.clone()).or_default() += bytes;
        }
        Some(Taken { budget: self.clone(), holders, bytes })
    }
}

impl<K> ByteBudget<K> {
    fn used(&self) -> MutexGuard<'_, Used<K>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Drop for Taken<K> {
    fn drop(&mut self) {
        let mut used = self.budget.used();
        used.bytes -= self.bytes;
        for holder in &self.holders {
            if let Some(own) = used.by_holder.get_mut(holder) {
                *own -= self.bytes;
            }
        }
        used.by_holder.retain(|_, bytes| *bytes > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_has_a_share_and_all_together_the_budget() {
        let budget = ByteBudget::new(100, 40);
        let held = ["a", "b"].map(|holder| budget.take(vec![holder, "network"], 20));
        assert!(held.iter().all(Option::is_some));
        assert!(budget.take(vec!["c", "network"], 1).is_none(), "the network has its share");
        let others = [budget.take(vec!["c"], 40), budget.take(vec!["d"], 20)];
        assert!(others.iter().all(Option::is_some));
        assert!(budget.take(vec!["e"], 1).is_none(), "all is taken");
        drop(held);
        assert!(budget.take(vec!["c", "network"], 1).is_none(), "c has its share");
        assert!(budget.take(vec!["e", "network"], 40).is_some());
    }

    #[test]
    fn a_large_size_fits_alone() {
        let budget = ByteBudget::new(100, 40);
        let large = budget.take(vec!["a"], 500);
        assert!(large.is_some() && budget.take(vec!["a"], 1).is_none() && budget.take(vec!["b"], 1).is_none());
        drop(large);
        assert!(budget.take(vec!["a"], 40).is_some());
    }
}
