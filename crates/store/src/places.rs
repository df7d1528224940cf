//! A small number of permits for each holder, such as a person or an address. A holder who uses them all delays nobody else.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::Semaphore;

/// The permits of all holders. Holders without any in use are not stored.
#[derive(Debug)]
pub struct Places<K> {
    most: usize,
    by_holder: Mutex<HashMap<K, Weak<Semaphore>>>,
}

impl<K: Eq + Hash> Places<K> {
    /// Gives `most` permits to each holder.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, by_holder: Mutex::default() }
    }

    /// The permits of one holder.
    #[must_use]
    pub fn of(&self, holder: K) -> Arc<Semaphore> {
        let mut by_holder = self.by_holder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = by_holder.get(&holder).and_then(Weak::upgrade) {
            return own;
        }
        by_holder.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.most));
        by_holder.insert(holder, Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_holder_has_places_of_their_own() {
        let places = Places::new(1);
        let (one, other) = ("one", "other");
        let held = places.of(one).try_acquire_owned().unwrap();
        assert!(places.of(one).try_acquire().is_err());
        assert!(places.of(other).try_acquire().is_ok());
        drop(held);
        assert!(places.of(one).try_acquire().is_ok());
        assert_eq!(places.by_holder.lock().unwrap().len(), 1);
    }
}
