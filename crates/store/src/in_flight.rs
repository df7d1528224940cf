//! Limits the requests in flight of each caller. Counted in the process.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Requests in flight. Callers without any are not stored.
#[derive(Debug, Clone)]
pub struct InFlight {
    max: u32,
    counts: Arc<Mutex<HashMap<Arc<str>, u32>>>,
}

/// A request in flight, until it is dropped.
#[derive(Debug)]
pub struct Place {
    key: Arc<str>,
    counts: Arc<Mutex<HashMap<Arc<str>, u32>>>,
}

impl InFlight {
    /// Allows at most `max` per caller. 0 means no limit.
    #[must_use]
    pub fn new(max: u32) -> Self {
        let max = if max == 0 { u32::MAX } else { max };
        Self { max, counts: Arc::default() }
    }

    /// Returns a place for one more request of `key`, or `None` at the limit.
    #[must_use]
    pub fn enter(&self, key: &str) -> Option<Place> {
        let key: Arc<str> = key.into();
        let mut counts = lock(&self.counts);
        let count = counts.entry(key.clone()).or_default();
        if *count >= self.max {
            return None;
        }
        *count += 1;
        drop(counts);
        Some(Place { key, counts: self.counts.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = lock(&self.counts);
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

fn lock(counts: &Mutex<HashMap<Arc<str>, u32>>) -> MutexGuard<'_, HashMap<Arc<str>, u32>> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_is_left() {
        let in_flight = InFlight::new(2);
        let places = [in_flight.enter("a"), in_flight.enter("a")];
        assert!(places.iter().all(Option::is_some) && in_flight.enter("a").is_none());
        assert!(in_flight.enter("b").is_some());
        drop(places);
        assert!(lock(&in_flight.counts).is_empty(), "callers without requests under way are forgotten");
        assert!(in_flight.enter("a").is_some());
    }

    #[test]
    fn zero_switches_the_bound_off() {
        let in_flight = InFlight::new(0);
        let places: Vec<_> = (0..1_000).map(|_| in_flight.enter("a")).collect();
        assert!(places.iter().all(Option::is_some));
    }
}
