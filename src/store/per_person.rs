//! Places that each person has a few of: whoever uses up their own keeps nobody else waiting.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::Semaphore;
use uuid::Uuid;

/// The places of all people. Nothing is kept of people who hold none.
#[derive(Debug)]
pub struct PerPerson {
    most: usize,
    by_person: Mutex<HashMap<Uuid, Weak<Semaphore>>>,
}

impl PerPerson {
    /// `most` places for each person.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, by_person: Mutex::default() }
    }

    /// The places of one person.
    #[must_use]
    pub fn of(&self, person: Uuid) -> Arc<Semaphore> {
        let mut by_person = self.by_person.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = by_person.get(&person).and_then(Weak::upgrade) {
            return own;
        }
        by_person.retain(|_, own| own.strong_count() > 0);
        let own = Arc::new(Semaphore::new(self.most));
        by_person.insert(person, Arc::downgrade(&own));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_person_has_places_of_their_own_and_nothing_is_kept_of_the_others() {
        let places = PerPerson::new(1);
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let held = places.of(one).try_acquire_owned().unwrap();
        assert!(places.of(one).try_acquire().is_err());
        assert!(places.of(other).try_acquire().is_ok());
        drop(held);
        assert!(places.of(one).try_acquire().is_ok());
        assert_eq!(places.by_person.lock().unwrap().len(), 1);
    }
}
