//! A number of permits for each holder, such as a person or an address. A holder who uses them all delays nobody else.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of all holders. Clones share them. Holders without any in use are dropped before the map grows.
#[derive(Debug, Clone)]
pub struct Places<K> {
    most: usize,
    by_holder: Arc<Mutex<HashMap<K, Weak<Semaphore>>>>,
}

impl<K: Eq + Hash> Places<K> {
    /// Gives `most` permits to each holder. 0 means no limit.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let most = if most == 0 { Semaphore::MAX_PERMITS } else { most };
        Self { most, by_holder: Arc::default() }
    }

    /// The permits of one holder.
    #[must_use]
    pub fn of(&self, holder: K) -> Arc<Semaphore> {
        let mut by_holder = self.by_holder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = by_holder.get(&holder).and_then(Weak::upgrade) {
            return own;
        }
        if by_holder.len() == by_holder.capacity() {
            by_holder.retain(|_, own| own.strong_count() > 0);
        }
        let own = Arc::new(Semaphore::new(self.most));
        by_holder.insert(holder, Arc::downgrade(&own));
        own
    }

    /// Takes a permit of one holder. Returns `None` if all are in use.
    #[must_use]
    pub fn take(&self, holder: K) -> Option<OwnedSemaphorePermit> {
        self.of(holder).try_acquire_owned().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_holder_has_places_of_their_own() {
        let places = Places::new(2);
        let held = [places.take("one"), places.take("one")];
        assert!(held.iter().all(Option::is_some) && places.take("one").is_none());
        assert!(places.take("other").is_some());
        drop(held);
        assert!(places.take("one").is_some());
    }

    #[test]
    fn few_holders_without_a_place_are_stored() {
        let places = Places::new(1);
        let held = places.take(0);
        for holder in 1..1_000 {
            assert!(places.take(holder).is_some());
        }
        assert!(places.by_holder.lock().unwrap().len() < 10);
        assert!(held.is_some() && places.take(0).is_none(), "who has a place is stored");
    }

    #[test]
    fn zero_means_no_limit() {
        let places = Places::new(0);
        let held: Vec<_> = (0..1_000).map(|_| places.take("a")).collect();
        assert!(held.iter().all(Option::is_some));
    }
}
